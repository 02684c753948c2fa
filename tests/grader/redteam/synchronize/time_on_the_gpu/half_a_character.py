"""An error named and told with characters that can't be written."""


def time_on_the_gpu(work):
    raise type("\ud800", (Exception,), {})("\udfff\x00")
