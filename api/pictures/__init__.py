"""Memories as pictures: maps and curves, as files and on a terminal."""
