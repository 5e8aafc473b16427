"""Embedders: text in, vectors out, on this machine or at an endpoint."""
