"""What to try against each bottleneck, and the card of the course that teaches it."""

from __future__ import annotations

from dataclasses import dataclass

from lab.language import N_


@dataclass(frozen=True)
class Remedy:
    """What to try, the cheapest first, and where it is taught."""

    tries: tuple[str, ...]
    card: str


REMEDIES = {
    "input": Remedy(
        (
            N_("Load in parallel: DataLoader(num_workers=2 or more, persistent_workers=True)."),
            N_("Do it once: cache decoded data, store images at their final size."),
            N_("Do less: cheaper transforms, or transforms on the GPU."),
        ),
        "diagnosis/input_bound",
    ),
    "launch": Remedy(
        (
            N_("Give each kernel more to do: larger batches, or several small operations in one."),
            N_("torch.compile, with mode='reduce-overhead' for CUDA graphs, or optimizers with fused=True."),
            N_("Keep Python out of the loop: no work on single elements."),
        ),
        "diagnosis/launch_and_sync",
    ),
    "sync": Remedy(
        (
            N_("Don't read from the GPU in every step: no .item(), .cpu(), print(loss), nonzero or boolean masks."),
            N_("Keep sums on the GPU and read them every hundred steps."),
            N_("Copy with pinned memory and non_blocking=True."),
        ),
        "synchronize/host_reads",
    ),
    "copies": Remedy(
        (
            N_(
                "DataLoader(pin_memory=True) and .to('cuda', non_blocking=True): such copies run beside "
                "the computation."
            ),
            N_("Copy less: uint8 images that are converted on the GPU, labels as integers."),
            N_("Keep on the GPU what is used again."),
        ),
        "diagnosis/input_bound",
    ),
    "communication": Remedy(
        (
            N_("Find out first whom this rank waits for: diagnose the traces of all ranks together."),
            N_("Communicate less often: accumulate gradients with no_sync()."),
            N_("Let it run beside the backward pass: larger or smaller DDP buckets, FSDP prefetching."),
        ),
        "torch_profiler/trace_file",
    ),
    "allocator": Remedy(
        (
            N_(
                "Take torch.cuda.empty_cache() out of the loop, and PYTORCH_NO_CUDA_MEMORY_CACHING out of "
                "the environment."
            ),
            N_("Use less memory, so that the cache needn't be given back: a smaller batch, checkpointing."),
            N_("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, where sizes change from step to step."),
        ),
        "profile_memory/allocated_and_reserved",
    ),
    "device_wait": Remedy(
        (
            N_("Open the trace in Perfetto and look at what the other streams and ranks do in the largest gaps."),
            N_("Look for Stream.wait_stream, Event.wait and record_stream where they aren't needed."),
        ),
        "torch_profiler/trace_file",
    ),
    "python": Remedy(
        (
            N_("Move the work out of the loop, into the DataLoader's workers, or to the GPU."),
            N_("Log, save and evaluate less often."),
        ),
        "perf_counter/parts_add_up",
    ),
    "compute": Remedy(
        (
            N_("Mixed precision: torch.autocast('cuda', torch.bfloat16)."),
            N_("torch.compile, which fuses operations on single values."),
            N_("Compute less: a smaller model or smaller inputs."),
        ),
        "diagnosis/compute_bound",
    ),
    "none": Remedy((N_("Measure the whole loop, and stop where it is fast enough."),), "diagnosis/measure_again"),
    "unknown": Remedy((), "torch_profiler/wait_warmup_active"),
}
