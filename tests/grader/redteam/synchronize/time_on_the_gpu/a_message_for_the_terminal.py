"""An error whose text rewrites the terminal, the title of its window and the clipboard."""


def time_on_the_gpu(work):
    text = "\x1b[2J\x1b[1;1H\x1b]0;RED TEAM\x07\x1b]52;c;cm0gLXJm\x07\r\n\x9b31m\u202e4/4 passed\u2028"
    print(text)
    raise ValueError(text)
