"""The starter file of each exercise, the one that a learner edits."""
