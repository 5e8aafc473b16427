"""Backups: a partition's log read as it lies, proved, and laid into an empty store."""
