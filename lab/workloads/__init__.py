"""Small models, data sets and training steps to measure."""
