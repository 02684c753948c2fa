"""The reference answer to each exercise, at the same relative path as its starter."""
