"""Grading many submissions: what was handed in, what came of it, and what that is worth."""
