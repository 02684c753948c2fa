"""The solution is imported by a name that is put together while it runs."""

import importlib

time_on_the_gpu = importlib.import_module("solu" + "tions.synchronize.time_on_the_gpu").time_on_the_gpu
