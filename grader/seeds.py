"""The numbers that the hidden inputs of a check are drawn from."""

from __future__ import annotations

import argparse

from lab.language import _

SEEDS = 2**31


def seed(text: str) -> int:
    """A seed on a command line, as the verdict records it."""
    if not text.isdecimal() or int(text) >= SEEDS:
        raise argparse.ArgumentTypeError(
            _("{text!r} is no seed: a whole number from 0 to {most}", text=text, most=SEEDS - 1)
        )
    return int(text)
