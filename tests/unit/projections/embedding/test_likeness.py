"""How near texts are in meaning: each is embedded once, and a process without the model says so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engramlog_server.events.errors import BadSetting
from engramlog_server.projections.embedding.encoders import Likeness
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion


class Lengths:
    """Embeds a text by its number of words."""

    model = "lengths"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        self.asked += texts
        turns = [len(one.split()) for one in texts]
        return [
            Embedded(np.array([np.cos(one), np.sin(one)], np.float32), np.zeros((0, 2), np.float32)) for one in turns
        ]

    def question(self, text: str) -> EmbeddedQuestion:
        raise NotImplementedError(text)


def test_each_text_is_embedded_once() -> None:
    embedder = Lengths()
    alike = Likeness(lambda: embedder, lambda vectors: vectors + np.array([2, 3], np.float32))
    first, second = alike("a b", ["a b", "a b c"]), alike("a b c", ["a b"])
    assert first is not None
    assert second is not None
    assert first.near == pytest.approx([1.0, np.cos(1)])
    assert second.near == pytest.approx([np.cos(1)])
    assert (first.reports, first.imagines) == pytest.approx((np.cos(2) + 2, np.sin(2) + 3))
    assert embedder.asked == ["a b", "a b c"]


def test_without_the_model_nothing_is_said_and_it_is_looked_for_once() -> None:
    asked: list[str] = []

    def lacking() -> Lengths:
        asked.append("")
        raise BadSetting("not installed")

    alike = Likeness(lacking)
    assert [alike("a", ["b"]), alike("c", ["d"])] == [None, None]
    assert len(asked) == 1
