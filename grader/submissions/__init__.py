"""Finds what a class handed in, however it was downloaded."""
