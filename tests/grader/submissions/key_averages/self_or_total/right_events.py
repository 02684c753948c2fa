from collections import Counter

from torch.autograd import DeviceType


def read_the_profile(prof):
    gpu_us, waiting_us, own_us, spans_us = 0.0, 0.0, Counter(), Counter()
    for event in prof.events():
        on_gpu = event.device_type == DeviceType.CUDA
        if event.name in ("encoder", "decoder", "head"):
            spans_us[event.name] += 0 if on_gpu else event.device_time_total
        elif on_gpu:
            gpu_us += event.time_range.elapsed_us()
        elif event.name.startswith("aten::"):
            own_us[event.name] += event.self_cpu_time_total
        elif "Synchronize" in event.name:
            waiting_us += event.time_range.elapsed_us()
    return {
        "gpu_ms": gpu_us / 1000,
        "waiting_ms": waiting_us / 1000,
        "cpu_operator": own_us.most_common(1)[0][0],
        "gpu_region": spans_us.most_common(1)[0][0],
    }
