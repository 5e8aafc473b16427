"""A scripted embeddings endpoint on loopback: what it answers is told beforehand, what it was asked is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.doubles.scripted import Asked, Reply, Scripted, serving

__all__ = ["Asked", "Endpoint", "Reply", "endpoint", "vectors"]


def vectors(*rows: Sequence[Any]) -> dict[str, Any]:
    """An answer with these vectors, well-formed."""
    return {"object": "list", "data": [{"index": at, "embedding": list(row)} for at, row in enumerate(rows)]}


class Endpoint(Scripted):
    """The replies are given in turn, the last one for ever; without any, each text's vector is (its length, 1, 0)."""

    @property
    def inputs(self) -> list[str]:
        """Every text that came, in order."""
        return [text for asked in self.asked for text in asked.inputs]

    def usual(self, asked: Asked) -> Reply:
        return Reply(body=vectors(*([len(text), 1, 0] for text in asked.inputs)))


def endpoint() -> AbstractContextManager[Endpoint]:
    """A running endpoint on a free port."""
    return serving(Endpoint())
