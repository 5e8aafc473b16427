"""Erasing an owner: what is to be gone, known before; and the proof that it is, which asks nobody who took it away."""
