"""Planted faults: what the tests notice."""
