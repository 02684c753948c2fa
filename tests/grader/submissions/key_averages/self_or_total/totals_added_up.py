REGIONS = ("encoder", "decoder", "head")


def read_the_profile(prof):
    rows = prof.key_averages()
    operators = [row for row in rows if row.key.startswith("aten::")]
    regions = [row for row in rows if row.key in REGIONS]
    waits = [row for row in rows if row.key.endswith("Synchronize")]
    return {
        "gpu_ms": sum(row.device_time_total for row in operators) / 1000,
        "waiting_ms": sum(row.self_cpu_time_total for row in waits) / 1000,
        "cpu_operator": max(operators, key=lambda row: row.self_cpu_time_total).key,
        "gpu_region": max(regions, key=lambda row: row.device_time_total).key,
    }
