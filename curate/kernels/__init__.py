"""Hot loops in numba: arrays in, arrays out."""
