"""Which copies between the host and the GPU the host waits for, and so for all that was queued before."""

STAGED_BYTES = 64 * 1024


def host_waits_for(size: int, *, to_gpu: bool, pinned: bool, non_blocking: bool) -> bool:
    """Without non_blocking PyTorch waits for the stream (aten/src/ATen/native/cuda/Copy.cu).

    With it, CUDA waits all the same for pageable memory, but for small copies to the GPU, which it takes at once
    ("API synchronization behavior").
    """
    return not non_blocking or not (pinned or (to_gpu and size <= STAGED_BYTES))
