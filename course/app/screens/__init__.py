"""The app's screens, each with its style beside it."""
