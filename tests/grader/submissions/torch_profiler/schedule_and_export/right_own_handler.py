from pathlib import Path

from torch.profiler import ProfilerActivity, profile, schedule


def trace_three_steps(train, folder):
    Path(folder).mkdir(exist_ok=True)

    def save(prof):
        prof.export_chrome_trace(f"{folder}/step_{prof.step_num}.json.gz")

    prof = profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(skip_first=1, wait=1, warmup=1, active=3, repeat=1),
        on_trace_ready=save,
        record_shapes=True,
    )
    prof.start()
    for batch in train.batches():
        train.step(batch)
        prof.step()
    prof.stop()
