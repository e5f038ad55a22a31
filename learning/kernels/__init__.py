"""What compiled loops share: how they are compiled, random numbers, vector sums, products, the exponential."""
