"""Every face answers of a sealed store what it answers of an open one that holds the same events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from engramlog_server.events.redis.server import StoreClock, connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.keys.master import keys_of, make_key_file, master_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.projections.redis.create import known_identity
from tests.faces import FACES
from tests.given.faces import ENGLISH, OWNER, World, tell_all, untold_world
from tests.integration.encryption.laid_open import lay_open
from tests.rows import each_row

OF_THE_PROCESS = "tells bytes, times and rates of the process and its Redis"
WHEN_ASKED = "counts by when it was recorded, and what was asked before is recorded when it was asked"
NOT_THE_SAME = {
    **dict.fromkeys(
        (f"http GET {path} (1)" for path in ("/metrics", "/v1/capacity", "/v1/stats", "/v1/status")), OF_THE_PROCESS
    ),
    **dict.fromkeys(("http GET /v1/owners/{owner}/times (1)", "cli events (1)"), WHEN_ASKED),
}
"""Faces that differ from one asking to the next, with the reason: of these it is looked that they answer."""


class Answers(NamedTuple):
    """What every face said of each of the two."""

    sealed: dict[str, str]
    opened: dict[str, str]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """The story is told to a sealed store; an open one has the same log, folded anew. Both are asked at the same instant."""
    folder = tmp_path_factory.mktemp("same")
    key = folder / "key"
    make_key_file(key)
    with pytest.MonkeyPatch.context() as patch:
        with untold_world(folder / "sealed", ENGLISH, sealed_by=str(key)) as made:
            assert made.keys()[b"engramlog:store"].count(b"sealed") == 1
            tell_all(made)
            made.store.flushed()
            _lay_open(made, folder / "open", key)
            now = made.app.log.now()
            patch.setattr(StoreClock, "now", lambda _self: now)
            sealed = _asked(made)
            told = made.cursor, made.position, made.before
        with untold_world(folder / "open", ENGLISH, sealed_by="none") as made:
            made.cursor, made.position, made.before = told
            made.app.embeddings.embed(OWNER)
            yield Answers(sealed, _asked(made))


def _lay_open(made: World, folder: Path, key: Path) -> None:
    settings = Settings(data=folder, partitions=2, sealed_by="none")
    with open_the_store(settings) as other:
        source = connect(
            made.url,
            master=master_of(Settings(sealed_by=str(key))),
            keys=keys_of(Settings(data=folder.parent / "sealed")),
        )
        known_identity(open_wire(source))
        lay_open(source, other.client, other.identity.tags)
        source.close()


def _asked(made: World) -> dict[str, str]:
    return {name: plain(face.ask(made)) for name, face in FACES.items()}


NORMAL = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?"), "<time>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<chain>"),
)


def plain(told: str) -> str:
    """An answer without what differs from one asking to the next."""
    for pattern, name in NORMAL:
        told = pattern.sub(name, told)
    return told


@each_row("name", [name for name in FACES if name not in NOT_THE_SAME])
def test_a_face_answers_the_same(answers: Answers, name: str) -> None:
    assert answers.sealed[name] == answers.opened[name]


@each_row("name", NOT_THE_SAME)
def test_what_differs_by_itself_is_answered_of_both(answers: Answers, name: str) -> None:
    assert set(re.findall(r'"([a-z_]+)":', answers.sealed[name])) == set(
        re.findall(r'"([a-z_]+)":', answers.opened[name])
    )
