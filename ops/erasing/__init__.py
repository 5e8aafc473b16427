"""Erasing owners for good: what it would do, doing it, its certificate, and the list by which a restored copy is fenced again."""
