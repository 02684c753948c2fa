import torch


def hottest_operator(prof):
    rows = sorted(prof.key_averages(), key=lambda row: row.self_device_time_total, reverse=True)
    return next(row.key for row in rows if row.device_type == torch.autograd.DeviceType.CPU)
