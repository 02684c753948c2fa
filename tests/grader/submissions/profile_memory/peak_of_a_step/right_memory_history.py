import torch


def peak_of_a_step(step):
    step()
    start = torch.cuda.memory_allocated()
    torch.cuda.memory._record_memory_history(max_entries=100000)
    step()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    now = most = start
    for entry in trace:
        if entry["action"] == "alloc":
            now += entry["size"]
        elif entry["action"] == "free_completed":
            now -= entry["size"]
        most = max(most, now)
    return most
