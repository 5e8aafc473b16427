"""A store of any size in virtual time: who holds which partition, how far each is behind, what servers and workers spend on it."""
