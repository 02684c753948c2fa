"""One call into C that takes a thousand years and hears nothing meanwhile."""

import re


def time_on_the_gpu(work):
    return float(bool(re.match("(a+)+$", "a" * 60 + "b")))
