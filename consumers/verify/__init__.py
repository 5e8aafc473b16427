"""Verification: everything stored, compared with the log folded again."""
