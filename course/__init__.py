"""The course: lessons, the learner's progress, the terminal app and the command line."""
