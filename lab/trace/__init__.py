"""What did the GPU wait for? Reads any PyTorch trace and says so, or says why it can't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.trace.compare import Comparison, compare
from lab.trace.errors import TraceUnreadable
from lab.trace.ranks import Ranks, compare_ranks
from lab.trace.verdict import Diagnosis

if TYPE_CHECKING:
    from lab.trace.diagnosis import diagnose

__all__ = ["Comparison", "Diagnosis", "Ranks", "TraceUnreadable", "compare", "compare_ranks", "diagnose"]


def __getattr__(name: str) -> Any:
    """`diagnose` is imported when it is first asked for: who only wants the words of a verdict needs no numpy."""
    if name != "diagnose":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lab.trace.diagnosis import diagnose

    return diagnose
