"""What gives a question its sense beside an owner's vectors: a port, filled by whoever keeps vectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NotRequired, Protocol, TypedDict

from engramlog_server.projections.embedding.meaning import EmbeddedQuestion, KnownVectors, Sense
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.views.view import OwnerView


class MeaningCompared(TypedDict):
    """How much could be compared by meaning."""

    model: NotRequired[str | None]
    embedded: NotRequired[int | None]
    of: NotRequired[int | None]
    failed: NotRequired[str | None]


ViewHeld = Callable[[], AbstractContextManager[OwnerView]]
"""Gives an owner's view, held for the length of the block."""


@dataclass(slots=True)
class MeantQuestion:
    """A question of one call, as far as it is compared by meaning."""

    text: str
    compares: bool = True
    """False: it is to go by words."""
    alone: bool = False
    """Whether meaning alone is asked for: then what keeps it from being compared is raised."""
    past: bool = False
    """Whether it is about a past, where another embedder may have counted than today."""
    hidden: str | None = None
    """Why no embedder may see it."""
    embedded: dict[str, EmbeddedQuestion | str] = field(default_factory=dict)
    """Its vectors, by the name of the embedder that was asked; a text where it gave none: why."""
    told: MeaningCompared | None = None
    """What is to be told of it where there is no sense: why not, or that nothing has vectors yet."""


class Senses(Protocol):
    """A question's vectors, and beside them an owner's."""

    alike: Alike
    """How near texts are to each other."""

    def ask(self, owner: str, question: MeantQuestion, parameter: Callable[[], str], view: ViewHeld) -> None:
        """Ask for a question's vectors before any view is held, so that none waits for them, where it is known of whom.

        `parameter` tells the owner's parameter `embedder`, as it is now; `view` gives the owner's view where only that tells what
        counts, and the model is to be loaded.
        """

    def unused(self, parameter: str) -> str:
        """Why this process will not use what an owner's parameter names; empty where it will, or it names none."""

    def sense(self, view: OwnerView, owner: str, question: MeantQuestion) -> Sense | None:
        """The sense of a question under the model that counts for the view; None where there is nothing to compare it with.

        Raises EmbedderFailed or BadSetting where meaning alone was asked for. The caller holds the view's lock.
        """

    def stands_out(self, view: OwnerView, owner: str, text: str) -> float | None:
        """How far a text stands above idle ones (`projections.embedding.idle`); None if nothing is compared.

        The caller holds the view's lock.
        """

    def known_vectors(self, view: OwnerView, owner: str) -> KnownVectors | None:
        """The whole vectors that a view's rows have; None where none are kept. The caller holds the view's lock."""
