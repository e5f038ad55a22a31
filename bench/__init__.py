"""Benchmarks: each is a ratio to a floor that is measured in the same run."""
