"""The one simulated GPU of this process: its card, clock, timeline and memory."""

from __future__ import annotations

from lab.gpu.allocator import CachingAllocator
from lab.gpu.card import SIMULATED
from lab.gpu.clock import Clock
from lab.gpu.residency import Residency
from lab.gpu.timeline import Timeline

card = SIMULATED
clock = Clock()
timeline = Timeline(card, clock)
memory = Residency(CachingAllocator(card.memory_bytes, card.name))
