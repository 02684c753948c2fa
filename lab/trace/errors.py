"""What the trace reader raises."""

from __future__ import annotations


class TraceUnreadable(Exception):
    """The file can't be read as a PyTorch trace; the message says why and what to do."""
