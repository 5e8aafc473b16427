"""Figures of all owners of a store, for people."""
