"""Memories as SVG: curves of one memory, and a map."""
