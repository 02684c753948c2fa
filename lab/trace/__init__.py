"""What did the GPU wait for? Reads any PyTorch trace and says so, or says why it can't."""

from lab.trace.diagnose import diagnose
from lab.trace.errors import TraceUnreadable
from lab.trace.verdict import Diagnosis

__all__ = ["Diagnosis", "TraceUnreadable", "diagnose"]
