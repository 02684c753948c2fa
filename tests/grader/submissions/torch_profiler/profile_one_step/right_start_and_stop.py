from torch.profiler import ProfilerActivity, profile


def profile_one_step(step):
    step()
    step().item()
    prof = profile(activities={ProfilerActivity.CUDA, ProfilerActivity.CPU}, record_shapes=True)
    prof.start()
    step()
    prof.stop()
    return prof
