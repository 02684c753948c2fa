"""The environment, the locale and the time zone of whoever comes after are changed."""

import locale
import os
import time

for name in list(os.environ):
    del os.environ[name]
os.environ.update(
    TZ="XXX+12", LC_ALL="tr_TR.UTF-8", LD_PRELOAD="/dev/shm/evil.so", PYTHONSTARTUP="evil.py", PYTHONPATH="."
)
time.tzset()
try:
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
except locale.Error:
    pass
for name in ("evil.py", "sitecustomize.py", "usercustomize.py", "torch.py", "msgspec.py", "conftest.py"):
    with open(name, "w") as file:
        file.write("import os\nos._exit(0)\n")


def time_on_the_gpu(work):
    work()
    return 0.1
