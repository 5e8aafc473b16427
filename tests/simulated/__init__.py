"""Small runs of real servers and workers that the simulation is held against."""
