from torch.autograd import DeviceType


def hottest_operator(prof):
    kernels = [row for row in prof.key_averages() if row.device_type == DeviceType.CUDA]
    return max(kernels, key=lambda row: row.self_device_time_total).key
