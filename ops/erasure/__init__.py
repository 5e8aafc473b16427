"""Erasing owners for good: doing it, its certificate, the list by which a restored copy is fenced again, proof that it is gone."""
