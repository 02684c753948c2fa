import re


def read_the_profile(prof):
    averages = prof.key_averages()
    table = averages.table(sort_by="self_cpu_time_total", row_limit=-1, max_name_column_width=60)
    lines = [line.split() for line in table.splitlines() if line.strip()]
    value, unit = re.search(r"Self CUDA time total: ([0-9.]+)(us|ms|s)", table).groups()
    spent = {"us": 1e-3, "ms": 1.0, "s": 1e3}
    regions = {row.key: row.device_time_total for row in averages if row.cpu_time_total and "::" not in row.key}
    return {
        "gpu_ms": float(value) * spent[unit],
        "waiting_ms": next(row.cpu_time_total for row in averages if row.key == "aten::item") / 1e3,
        "cpu_operator": next(line[0] for line in lines if line[0].startswith("aten::") and line[0] != "aten::item"),
        "gpu_region": max(("encoder", "decoder", "head"), key=regions.get),
    }
