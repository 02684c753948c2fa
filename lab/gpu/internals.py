"""What the simulated GPU needs of PyTorch beyond its public interface, checked by name before anything is changed.

A PyTorch in which one of these has moved fails here and says which, not later with a wrong number.
"""

from __future__ import annotations

import importlib
from operator import attrgetter

import torch

from lab.gpu.errors import UnsupportedTorch
from lab.language import _

OLDEST = (2, 8)

NEEDED = {
    "torch.autograd.profiler": (
        "profile._parse_kineto_results",
        "profile._start_trace",
        "profile._ensure_function_events",
        "profile.export_chrome_trace",
    ),
    "torch.profiler.profiler": ("_KinetoProfile.start_trace", "_KinetoProfile.stop_trace", "supported_activities"),
    "torch.utils._python_dispatch": ("TorchDispatchMode",),
    "torch.utils._device": ("_device_constructors", "DeviceContext"),
    "torch.utils.flop_counter": ("flop_registry", "sdpa_flop_count", "sdpa_backward_flop_count"),
    "torch.overrides": ("_get_current_function_mode_stack",),
    "torch.serialization": ("register_package",),
    "torch.nn.parameter": ("UninitializedParameter._allowed_methods",),
    "torch.amp.autocast_mode": ("autocast.__enter__", "autocast.__exit__"),
    "torch.cuda": ("_lazy_init", "_initialized", "_exchange_device", "_maybe_exchange_device", "memory"),
    "torch": ("UntypedStorage._new_with_weak_ptr",),
    "torch._C": (
        "_storage_Use_Count",
        "_get_cublas_allow_tf32",
        "_profiler._RecordFunctionFast",
        "_dispatch_has_kernel_for_dispatch_key",
        "_ExcludeDispatchKeyGuard",
        "_len_torch_function_stack",
        "TensorBase.device",
    ),
    "threading": ("Thread._bootstrap_inner",),
}


def check() -> None:
    """Raise UnsupportedTorch if this torch is too old or misses something that the simulated GPU builds on."""
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        raise UnsupportedTorch(
            _(
                "The simulated GPU needs torch {oldest} or newer, this is {version}. "
                "Upgrade it: pip install --upgrade torch",
                oldest=".".join(map(str, OLDEST)),
                version=torch.__version__,
            )
        )
    missing = []
    for module, names in NEEDED.items():
        for name in names:
            try:
                attrgetter(name)(importlib.import_module(module))
            except (ImportError, AttributeError):
                missing.append(f"{module}.{name}")
    if missing:
        raise moved(_("it has no {names}", names=", ".join(missing)))


def moved(what: str) -> UnsupportedTorch:
    return UnsupportedTorch(
        _(
            "The simulated GPU doesn't work with torch {version}: {what}. Use a version that README names as tested.",
            version=torch.__version__,
            what=what,
        )
    )
