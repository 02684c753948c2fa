"""Thousands of recordings are noted, so that whoever compares each with each other never comes to an end."""

import importlib


def trace_three_steps(train, folder):
    record = importlib.import_module("la" + "b.observe").record
    for _ in range(4_000):
        record("profiler_start", scheduled=True, activities=["CPU", "CUDA"])
        record("workload", phase="begin")
        record("profiler_stop")
