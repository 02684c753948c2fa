"""What did the GPU wait for? Reads any PyTorch trace and says so, or says why it can't."""

from lab.trace.compare import Comparison, compare
from lab.trace.diagnose import diagnose
from lab.trace.errors import TraceUnreadable
from lab.trace.ranks import Ranks, compare_ranks
from lab.trace.verdict import Diagnosis

__all__ = ["Comparison", "Diagnosis", "Ranks", "TraceUnreadable", "compare", "compare_ranks", "diagnose"]
