"""Erasing owners for good: doing it and its certificate, a list by which a restored copy is fenced again, proof that all is gone."""
