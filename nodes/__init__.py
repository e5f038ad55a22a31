"""Processes that execute instructions: the thin shells around the machines of `protocol`."""
