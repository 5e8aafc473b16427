"""Backups of a store: made while it is used, checked, brought into an empty store, taken over."""
