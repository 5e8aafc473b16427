"""What gives a question its sense beside an owner's vectors: a port, filled by whoever keeps vectors."""

from __future__ import annotations

from typing import Protocol

from projections.embedding.meaning import EmbeddedQuestion, KnownVectors, Sense
from projections.views.view import OwnerView


class Senses(Protocol):
    """A question's vectors, and beside them an owner's."""

    def question(self, text: str) -> EmbeddedQuestion:
        """A question's vectors, asked for before any view is held: none waits for them. Raises EmbedderFailed."""

    def sense(self, view: OwnerView, owner: str, question: EmbeddedQuestion) -> Sense | None:
        """The sense of a question; None where there is nothing to compare it with. The caller holds the view's lock."""

    def known_vectors(self, view: OwnerView, owner: str) -> KnownVectors | None:
        """The whole vectors that a view's rows have; None where none are kept. The caller holds the view's lock."""
