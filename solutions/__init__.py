"""The reference answer to each exercise, at the same relative path as its starter."""

WITHHELD = "WITHHELD"
"""The file in place of the solutions in a copy of the course for students, which says who has them."""
