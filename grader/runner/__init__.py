"""Runs learner code in a process of its own and brings back plain data."""
