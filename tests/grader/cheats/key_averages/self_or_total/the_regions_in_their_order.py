def read_the_profile(prof):
    rows = prof.key_averages()
    kernels = [row for row in rows if row.key.startswith("aten::")]
    regions = [event.name for event in prof.events() if event.name in ("encoder", "decoder", "head")]
    return {
        "gpu_ms": sum(row.self_device_time_total for row in kernels) / 1000,
        "waiting_ms": sum(row.self_device_time_total for row in kernels) / 1000,
        "cpu_operator": max(kernels, key=lambda row: row.count).key,
        "gpu_region": regions[1],
    }
