"""What compiled loops share: how they are compiled, their random numbers, their exponential."""
