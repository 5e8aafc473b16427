"""Who spoke to an owner, as the service tells it: what `events` counts, on both lines, in pages; each name one that is struck."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.checks import HIDDEN
from engramlog_server.api.work import Patience, with_patience
from engramlog_server.events.catalogue import Ground
from engramlog_server.events.errors import DeadlineExceeded, InputError
from engramlog_server.projections.reports.strikes import BY
from tests.acceptance.helpers.store import Store, day
from tests.given.events import Told, brought_back, created, deleted, in_session, mentioned, purged, set_aside
from tests.given.said import said
from tests.rows import each_row

MODEL = "qwen3:8b"


def tell(store: Store, owner: str, *events: Told, model: str | None = None) -> str:
    """The same as the store's, perhaps decided by a model."""
    receipts = store.writer.append_all([store.prepared(owner, one)._replace(model=model) for one in events])
    store.writer.settle(receipts)
    assert receipts[-1].position is not None
    return receipts[-1].position


def listed(store: Store, owner: str, **asked: Any) -> dict[str, Any]:
    return dict(store.app.named_sources.sources(owner, **asked))


def rows(store: Store, owner: str, **asked: Any) -> dict[tuple[str, str], dict[str, Any]]:
    return {(one["by"], one["name"]): one for one in listed(store, owner, limit=1_000, **asked)["sources"]}


def fresh(store: Store, hours: float = 0) -> float:
    """A day that nothing recorded now is late for."""
    return store.yesterday + 1 - hours / 24


@pytest.fixture(scope="module")
def ada(store: Store) -> str:
    """Two sessions, a judge, a model, something that rests on a page, and what came late."""
    owner = store.owner()
    plan = (Ground(uri="file:///plan.md", digest="sha256:00000001"),)
    tell(
        store,
        owner,
        in_session(said("t1", "I drink tea", day=1), "s1"),
        in_session(created("I drink tea", "tea", 1), "s1"),
        in_session(created("the plan", "plan", 2, grounds=plan), "会话二"),
    )
    drawn = in_session(created("drinks green tea", "green", fresh(store), "judge", source="judge"), "s1")
    tell(store, owner, drawn, model=MODEL)
    tell(store, owner, mentioned("tea", 3, "assistant"))
    return owner


def test_each_name_is_told_with_what_it_did(store: Store, ada: str) -> None:
    found = rows(store, ada)
    assert {key: (one["events"], one["memories"], one["late"]) for key, one in found.items()} == {
        ("session", "s1"): (3, 2, 2),
        ("session", "会话二"): (1, 1, 1),
        ("principal", "local"): (4, 2, 4),
        ("principal", f"local model:{MODEL}"): (1, 1, 0),
        ("actor", "user"): (3, 2, 3),
        ("actor", "judge"): (1, 1, 0),
        ("actor", "assistant"): (1, 0, 1),
        ("model", MODEL): (1, 1, 0),
        ("source", "user"): (2, 2, 2),
        ("source", "judge"): (1, 1, 0),
        ("source", "file:///plan.md"): (1, 1, 1),
    }
    one = found["session", "会话二"]
    assert (one["first_happened"], one["last_happened"]) == (day(2), day(2))
    assert one["first_recorded"] == one["last_recorded"] > day(2)
    assert (one["set_aside"], one["partly_aside"], one["masked"]) == (None, 0, False)


def test_every_name_that_is_told_is_one_that_a_replay_strikes(store: Store, ada: str) -> None:
    for (by, name), one in rows(store, ada).items():
        answer = store.replayer.replay(ada, alone=True, **{f"without_{by}s": [name]})
        assert answer["struck_because"] == {"named": one["events"]}


# --- the same as `events` counts


def test_nothing_that_was_not_known_is_told(store: Store) -> None:
    owner = store.owner()
    first = tell(store, owner, in_session(created("tea", "tea", 5), "s1"))
    later = tell(store, owner, in_session(created("rain", "rain", 2), "s2"))
    assert ("session", "s2") not in rows(store, owner, known=first)
    assert {name for by, name in rows(store, owner, as_of=day(3)) if by == "session"} == {"s2"}
    assert rows(store, owner, as_of=day(3), known=first) == {}
    answer = listed(store, owner, known=later, as_of=day(9))
    assert (answer["known"], answer["as_of"], answer["hint"]) == (later, day(9), None)


# --- set aside


def test_what_is_set_aside_today_is_told_of_every_past(store: Store) -> None:
    owner = store.owner()
    tell(store, owner, in_session(created("tea", "tea", 1), "s1"), in_session(created("rain", "rain", 1), "s2"))
    tell(store, owner, in_session(created("snow", "snow", 1), "s3"), model=MODEL)
    place = tell(store, owner, set_aside("s1", 2, reason="it was not Ann"), set_aside("s2", 3), brought_back("s2", 4))
    tell(store, owner, set_aside("s2", 5, actor="user"), set_aside(None, 5, principal=f"local model:{MODEL}"))
    for asked in ({}, {"as_of": day(1.5)}, {"known": place}):
        found = rows(store, owner, **asked)
        aside = found["session", "s1"]["set_aside"]
        assert (aside["since"], aside["reason"]) == (day(2), "it was not Ann")
        assert store.app.sources.asides(owner)["sources"][-1]["set_aside_at"] == aside["set_aside_at"]
        assert (found["session", "s2"]["set_aside"], found["session", "s2"]["partly_aside"]) == (None, 1)
        assert found["principal", f"local model:{MODEL}"]["set_aside"]["since"] == day(5)
        assert (found["model", MODEL]["set_aside"], found["model", MODEL]["partly_aside"]) == (None, 1)
        assert (found["session", "s3"]["set_aside"], found["session", "s3"]["partly_aside"]) == (None, 0)


def test_a_reason_that_holds_a_secret_is_withheld_here_too(store: Store) -> None:
    owner = store.owner()
    tell(store, owner, in_session(created("tea"), "s1"), set_aside("s1", 2, reason="the password is hunter2-Xq9!"))
    assert "hunter2" not in str(listed(store, owner))


# --- pages, filters, and what nobody may see


def test_a_name_that_looks_like_a_secret_is_masked_and_cannot_be_guessed_by_its_parts(store: Store) -> None:
    owner, secret = store.owner(), "sk-abcdefghijklmnopqrstuvwxyz123456"
    tell(store, owner, in_session(created("tea"), secret), in_session(created("rain", "rain"), "[bold]"[1:5]))
    assert secret not in str(listed(store, owner))
    [one] = [one for one in listed(store, owner, by=["session"])["sources"] if one["masked"]]
    assert (one["name"], one["events"]) == (HIDDEN, 1)
    assert rows(store, owner, by=["session"], search="sk-abc") == {}


@each_row("gone", [[deleted("plan", 9)], [deleted("plan", 9), purged("plan", 60)]], ids=["deleted", "purged"])
def test_a_uri_is_told_only_where_events_tells_it(store: Store, gone: list[Told]) -> None:
    owner = store.owner()
    page = (Ground(uri="file:///private.md", digest="sha256:00000001"),)
    tell(store, owner, created("the plan", "plan", 2, grounds=page), created("tea", "tea", 2))
    assert ("source", "file:///private.md") in rows(store, owner)
    store.tell(owner, *gone)
    for asked in ({}, {"as_of": day(3)}):
        answer = listed(store, owner, **asked)
        assert ("private" in str(answer), answer["withheld"]) == (False, 1)
    assert "private" not in str(store.app.events.events(owner))
    tell(store, owner, created("another", "other", 3, grounds=page))
    assert rows(store, owner)["source", "file:///private.md"]["events"] == 1


def test_a_uri_of_a_secret_is_not_told(store: Store) -> None:
    owner = store.owner()
    page = (Ground(uri="file:///private.md", digest="sha256:00000001"),)
    tell(store, owner, created("the password is hunter2-Xq9!", "door", 2, sensitivity=3, grounds=page))
    answer = listed(store, owner)
    assert ("private" in str(answer), answer["withheld"]) == (False, 1)


@each_row(
    ("asked", "told"),
    [
        ({"by": ["speaker"]}, "^by: got 'speaker'; allowed: " + ", ".join(BY)),
        ({"search": "x" * 401}, "^search: .*at most 400"),
        ({"limit": 1_001}, "^limit: .*1 to 1000"),
        ({"limit": 0}, "^limit: "),
        ({"since": "yesterday"}, "^since: got 'yesterday'"),
        ({"since": "2024-02-02", "until": "2024-02-01"}, "^until: .*not before since"),
        ({"recorded_since": "2024-02-02", "recorded_until": "2024-02-01"}, "^recorded_until: .*not before recorded_since"),
        ({"as_of": "3:x"}, "^as_of: "),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_by_name(store: Store, ada: str, asked: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        listed(store, ada, **asked)


class _Over(Patience):
    """Lets the owner be loaded, and not its events read."""

    def check(self, done: int, total: int) -> None:
        if total:
            raise DeadlineExceeded("stopped by the test", done=done, total=total)


def test_a_deadline_ends_it_while_it_reads(store: Store, ada: str) -> None:
    with with_patience(_Over()), pytest.raises(DeadlineExceeded):
        listed(store, ada)
