"""What `engramlog embed` tells of how far it is."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.cli import app
from engramlog_server.api.services.jobs import Embeddings, Progress

TEXTS = {"ada": 3, "bob": 0, "cy": 2}


class Run:
    """What became of an owner."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def as_dict(self) -> dict[str, Any]:
        """As a job tells it."""
        told = {"embedded": TEXTS[self.owner], "dropped": 0, "already": 0, "left": 0}
        return {"owner": self.owner, "model": "mine", "chosen": "mine", "failed": [], **told}


class Job:
    """Embeds text by text."""

    def carry_out(self, owner: str, *, on_progress: Progress) -> Run:
        """Tell each."""
        for done in range(1, TEXTS[owner] + 1):
            on_progress(done, TEXTS[owner])
        return Run(owner)


class Log:
    """A log of one partition in which nothing is."""

    partitions = 1

    def head(self, _partition: int) -> int:
        """Nothing."""
        return 0


def test_texts_are_counted_from_the_first_on_and_owners_to_come_as_one_each() -> None:
    log: Any = Log()
    told: list[tuple[int, int]] = []
    embeddings = Embeddings(Job(), None, lambda: list(TEXTS), log, lambda _until: None)  # type: ignore[arg-type]
    answer = embeddings.embed_all(on_progress=lambda done, total: told.append((done, total)))
    assert answer["embedded"] == 5
    assert told == [(0, 3), (1, 5), (2, 5), (3, 5), (3, 5), (3, 4), (4, 5), (5, 5)]


def test_where_nobody_looks_on_a_line_tells_now_and_then_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "LINE_SECONDS", 0.0)
    with app.progress("texts", as_json=False, long=64) as advance:
        advance(1, 64)
        advance(1, 1_065)
    with app.progress("texts", as_json=True, long=64) as advance:
        advance(2, 1_065)
    assert capsys.readouterr().err == "texts: 1 of 1,065\n"
