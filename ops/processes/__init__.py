"""The life of a process: what it says at its start, and that it ends when it is told to."""
