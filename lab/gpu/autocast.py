"""torch.autocast("cuda") on the simulated GPU: which ops round, which stay in fp32.

C++ believes that the tensors are on the CPU, so the CPU's autocast does the work. Its lists differ from CUDA's
(aten/src/ATen/autocast_mode.h): what CUDA computes in fp32 and the CPU doesn't is added here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from lab.gpu.costs import HALF
from lab.gpu.device import memory

# AT_FORALL_FP32 and AT_FORALL_FP32_SET_OPT_DTYPE of autocast_mode.h.
# fmt: off
FP32 = (
    "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt",
    "sinh", "tan", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "softplus", "layer_norm",
    "native_layer_norm", "group_norm", "frobenius_norm.dim", "nuclear_norm", "nuclear_norm.dim",
    "cosine_similarity", "poisson_nll_loss", "cosine_embedding_loss", "nll_loss", "nll_loss2d",
    "hinge_embedding_loss", "kl_div", "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss",
    "margin_ranking_loss", "multilabel_margin_loss", "soft_margin_loss", "triplet_margin_loss",
    "multi_margin_loss", "binary_cross_entropy_with_logits", "dist", "pdist", "cdist", "renorm", "logsumexp",
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d",
    "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d", "prod", "prod.dim_int", "softmax.int",
    "log_softmax.int", "cumprod", "cumsum", "linalg_vector_norm", "sum", "sum.dim_IntList", "norm.Scalar",
    "norm.ScalarOpt_dim",
)
# fmt: on
library = torch.library.Library("aten", "IMPL")


def install() -> None:
    """Let autocast("cuda") switch the CPU's autocast with it, with CUDA's list of fp32 ops."""
    switch_both()
    for name in FP32:
        qualified = f"aten::{name}"
        if not torch._C._dispatch_has_kernel_for_dispatch_key(qualified, "AutocastCPU"):
            packet, _, overload = name.partition(".")
            op = getattr(getattr(torch.ops.aten, packet), overload or "default")
            library.impl(name, in_fp32(op), "AutocastCPU")


def in_fp32(op: Any) -> Callable[..., Any]:
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)

    def single(value: Any) -> Any:
        is_half = isinstance(value, torch.Tensor) and value.dtype in HALF and memory.holds(value)
        return value.float() if is_half else value

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(keys):
            if torch.is_autocast_enabled("cuda"):
                args, kwargs = tree_map(single, args), tree_map(single, kwargs)
            return op(*args, **kwargs)

    return kernel


def switch_both() -> None:
    autocast: Any = torch.amp.autocast_mode.autocast
    enter, leave = autocast.__enter__, autocast.__exit__

    def entering(self: Any) -> Any:
        entered = enter(self)
        if self.device == "cuda":
            self.lab_outer = (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
            torch.set_autocast_enabled("cpu", self._enabled)
            torch.set_autocast_dtype("cpu", self.fast_dtype)
        return entered

    def leaving(self: Any, *error: Any) -> Any:
        if self.device == "cuda":
            torch.set_autocast_enabled("cpu", self.lab_outer[0])
            torch.set_autocast_dtype("cpu", self.lab_outer[1])
        return leave(self, *error)

    autocast.__enter__ = entering
    autocast.__exit__ = leaving
