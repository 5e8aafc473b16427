"""What 0.2.0 imported, extracted and injected is known again after the upgrade: repeated, it adds nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from events.envelope import decode, derived_id
from events.redis.log import RedisEventLog
from events.redis.wire import Wire
from projections.redis.create import known_identity
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.release_0_2_0 import Release, unpacked
from tests.servers import RedisServer, wheel_server

pytestmark = pytest.mark.xdist_group("release-0.2.0")
"""One process unpacks it, once."""
FROM = f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%dT%H}:00:00Z"
"""Yesterday: what is older is forgotten by now, and in no prompt."""
Chat = dict[str, Any]


def chat(*texts: str, **more: Any) -> Chat:
    """A conversation of messages by turns of a user and an assistant, without ids or times."""
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]} | more


ENGLISH = chat("I live in Lisbon.", "Noted.", "I love jazz.", "Nice.", "My sister Anna is a doctor.")
CHINESE = chat("我住在杭州。", "好的。", "我对花生过敏。", "记住了。", "我喜欢喝龙井茶。")
CALLED = chat("I play the cello.", "Lovely.", id="Music lessons, 音乐课")
NAMED = chat("I am learning Norwegian.", "Heia!", id="c-1")
CHATS = [ENGLISH, CHINESE, ENGLISH, CALLED, NAMED]
"""The third opens as the first does."""
KILLED = """
import os
import consumers.redis_lifecycle as lifecycle
from events.redis_log import RedisEventLog
from ops.main import main
lifecycle.REQUEST = 1
append, left = RedisEventLog.append, [2]
def killed(self, *events, **options):
    if not left[0]:
        os._exit(0)
    left[0] -= 1
    return append(self, *events, **options)
RedisEventLog.append = killed
main(["extract", "ada"])
raise SystemExit("it was not killed")
"""
"""An extraction by 0.2.0 that is killed after what two turns led to, before the mark that they are read."""
ASKS = "Which music do I love?"


@pytest.fixture(scope="module")
def release() -> Iterator[Release]:
    """0.2.0."""
    with unpacked() as found:
        yield found


class Store:
    """One Redis, by 0.2.0 and then by this release."""

    def __init__(self, release: Release, cli: Cli, server: RedisServer, folder: Path) -> None:
        self._release, self._cli, self._server, self._folder = release, cli, server, folder
        self._environment = {"ENGRAMLOG_REDIS_URL": server.url, "ENGRAMLOG_PARTITIONS": "2"}

    def _file(self, chats: list[Chat]) -> str:
        path = self._folder / "chats.jsonl"
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in chats), "utf-8")
        return str(path)

    def before(self, chats: list[Chat], *more: list[str]) -> list[Any]:
        """0.2.0 imports the chats and does more; gives what it answered."""
        words = ["chat-import", self._file(chats), "--owner", "ada", "--from", FROM]
        return self._release.ask(words, *more, **self._environment)

    def killed_in_extraction(self) -> None:
        """0.2.0 reads the turns, and is killed in the middle."""
        self._release.run("-c", KILLED, **self._environment)

    def revised(self, content: str) -> str:
        """Somebody has 0.2.0 say something else in the first memory that it made of a turn; gives its id."""
        folds = ["extract", "ada", "--dry-run"]
        _, listed = self._release.ask(folds, ["list", "ada", "--mode", "review"], **self._environment)
        made = next(one["id"] for one in listed["memories"] if one["id"].startswith("m-"))
        path = self._folder / "revised.jsonl"
        revision = event(1, "ada", "MemoryRevised", memory_id=made, content=content)
        path.write_bytes(lines([revision | {"occurred_at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}Z"}]))
        self._release.ask(["append", str(path)], **self._environment)
        return str(made)

    def upgrade(self) -> None:
        """Bring the store over."""
        assert self._cli.json("upgrade", "--yes")["done"]

    def imports(self, chats: list[Chat], owner: str = "ada") -> tuple[int, int]:
        """This release imports the chats; how many events were new, and how many were known."""
        told = self._cli.json("chat-import", self._file(chats), "--owner", owner, "--from", FROM)
        assert told["conflicts"] == []
        return told["appended"], told["already_appended"]

    def extracts(self) -> list[Any]:
        """What this release's extraction decides."""
        found: list[Any] = self._cli.json("extract", "ada")["decisions"]
        return found

    def events(self) -> list[Any]:
        """All that is in the log."""
        with self._server.client() as client:
            wire = Wire(client)
            identity = known_identity(wire)
            wire.close()
            log = RedisEventLog(client, identity.tags)
            found = [decode(one.kind, one.body) for n in range(log.partitions) for one in log.read(n, 0, 10_000)]
            log.close()
        return found


@pytest.fixture
def store(
    release: Release,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Iterator[Store]:
    """On a server of its own: an upgrade looks who else is connected, and a shared one has connections of other tests."""
    server = RedisServer(wheel_server())
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", server.url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path))
    try:
        yield Store(release, Cli(monkeypatch, capsys), server, tmp_path)
    finally:
        server.stop()


def events_of(chats: list[Chat]) -> int:
    """A turn and a memory for every message."""
    return 2 * sum(len(one["messages"]) for one in chats)


def sessions(events: list[Any]) -> dict[str, int]:
    """How many turns each session has."""
    turns = [one for one in events if one.type == "TurnRecorded"]
    return {one.session_id: sum(each.session_id == one.session_id for each in turns) for one in turns}


def test_a_chat_that_0_2_0_imported_and_read_adds_nothing_when_both_are_repeated(store: Store) -> None:
    imported, extracted, injected = store.before(CHATS, ["extract", "ada"], ["context", "ada", ASKS])
    assert (imported["appended"], injected["recorded"]["status"]) == (events_of(CHATS), "appended")
    assert extracted["counts"]["add"] >= 5
    store.upgrade()
    head = len(store.events())
    assert store.imports(CHATS) == (0, events_of(CHATS))
    assert store.extracts() == []
    told = store._cli.json("context", "ada", ASKS, "--no-whole", "--trace")  # the block that 0.2.0 made
    assert (told["injected"], told["recorded"]["status"]) == (injected["injected"], "already")
    assert len(store.events()) == head


def test_an_extraction_that_was_killed_under_0_2_0_goes_on_and_makes_nothing_a_second_time(store: Store) -> None:
    store.before([ENGLISH, CHINESE])
    store.killed_in_extraction()
    revised = store.revised("Room 42 in Rotterdam")
    store.upgrade()
    before = typed(store.events())
    assert (len(before), revised in before) == (2, True)
    store.extracts()
    after = typed(store.events())
    assert {name: after[name] for name in before} == before
    assert len(set(after.values())) == len(after) >= 5
    assert {UUID(name.removeprefix("m-")).version for name in after.keys() - before.keys()} == {8}
    assert store.extracts() == []


def typed(events: list[Any]) -> dict[str, tuple[str, ...]]:
    """The memories that the judge made, by id: of which turns, and what they said at first."""
    made = [one.data for one in events if one.type == "MemoryCreated" and one.data.source == "judge"]
    return {one.memory_id: (*one.source_turns, one.content) for one in made}


def test_a_chat_that_has_grown_since_adds_only_what_is_new_in_the_session_that_it_has(store: Store) -> None:
    store.before(CHATS)
    store.upgrade()
    before = sessions(store.events())
    new = [{"role": "assistant", "content": "Oh."}, {"role": "user", "content": "我喜欢爬山。 I like hiking."}]
    grown = [{**one, "messages": one["messages"] + new} for one in CHATS]
    beside = chat("I have a dog called Rex.", "Woof.")
    assert store.imports([*grown, beside]) == (4 * len(grown) + 4, events_of(CHATS))
    assert store.imports([*grown, beside]) == (0, events_of(grown) + 4)
    after = sessions(store.events())
    assert {name: after[name] for name in before} == {name: turns + 2 for name, turns in before.items()}
    assert len(after) == len(before) + 1


def test_what_is_imported_for_another_owner_or_after_the_upgrade_confirms_no_guess(store: Store) -> None:
    store.before([ENGLISH])
    store.upgrade()
    old = {one.event_id for one in store.events()}
    assert old >= {derived_id("import turn", "ada", guess) for guess in guesses(ENGLISH)[2:]}
    assert store.imports([ENGLISH], "lin") == (events_of([ENGLISH]), 0)
    assert store.imports([ENGLISH, CHINESE]) == (events_of([CHINESE]), events_of([ENGLISH]))
    new = [one for one in store.events() if one.event_id not in old and one.type == "MemoryCreated"]
    shown = {part for one in new for part in (one.event_id, one.session_id, one.data.source_turns[0])}
    for guess in (*guesses(ENGLISH), *guesses(CHINESE)):
        assert shown.isdisjoint({guess, *(derived_id("import turn", owner, guess) for owner in ("ada", "lin"))})


def guesses(texts: Chat) -> list[str]:
    """The ids by which 0.2.0 confirmed what somebody guessed of a conversation: its session, then its first turn."""
    first = texts["messages"][0]
    opening = derived_id("chat opening", FROM, first["role"], first["content"])
    session = derived_id("chat opening", opening, "0")
    return [opening, session, derived_id("chat turn", session, "0", FROM, first["role"], first["content"])]
