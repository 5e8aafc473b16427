"""Commands that join processes, prove what is stored, or show what it does."""
