"""Verification: all that is stored, against the log folded anew."""
