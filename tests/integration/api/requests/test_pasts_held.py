"""What is held of a past that was asked about: nothing that is purged by now, nothing of the present, and no lane for long."""

from __future__ import annotations

import gc
import weakref
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engramlog_server.api.work import NeedsHeavyLane, Patience, with_patience
from engramlog_server.consumers.verify.owner import PastComparison
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.redis.builds import FIRST_BUILD
from engramlog_server.projections.redis.history import EVENTS, MomentLimits
from engramlog_server.projections.redis.store import MOMENTS
from tests.acceptance.helpers.store import Store, day, embedded_store
from tests.given.events import created, deleted, mentioned, negated, purged
from tests.rows import each_row

SOON = MomentLimits(least=1, fold=1, every=3)
LONG = 2_100


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with embedded_store(tmp_path_factory.mktemp("held") / "data", sealed_by="none") as opened:
        opened.app.views.moments.worth = 1
        yield opened


def newest(store: Store, owner: str) -> str:
    return f"{partition_of(owner, store.app.log.partitions)}:{store.app.views.changelogs.seqs(owner)[-1]}"


def light(question: Callable[[], Any]) -> bool:
    """Whether a question is answered in the light lane."""
    try:
        with with_patience(Patience(light=True)):
            question()
    except NeedsHeavyLane:
        return False
    return True


def long_story(store: Store, monkeypatch: pytest.MonkeyPatch) -> str:
    """More events than a light question may fold."""
    monkeypatch.setattr(store.app.views.moments, "limits", MomentLimits(least=1, fold=1, every=100))
    owner = store.owner()
    for first in range(0, LONG, 300):
        store.tell(
            owner, *(created(f"tea {number}", f"m{number}", day=number / 100) for number in range(first, first + 300))
        )
    return owner


def test_a_past_that_was_held_shows_no_secret_that_was_purged_since(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("the vault is at dock nine", "a", day=1, sensitivity=3), deleted("a", day=2))
    place = newest(store, owner)
    assert "dock nine" in store.reader.get(owner, "a", reveal=True, trace=False, known=place)["memory"]
    store.tell(owner, purged("a", day=90, due=80))
    assert store.reader.get(owner, "a", reveal=True, trace=False, known=place)["memory"] == ""


def test_what_a_purged_memory_corrected_is_told_of_no_past_nor_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.app.views.moments, "limits", SOON)
    owner, words = store.owner(), "dock nine"
    store.tell(owner, created("I moor at dock one", "old", day=1))
    store.tell(owner, negated("old", day=2, replaced_by="new", correction=words, reason=words))
    before = newest(store, owner)
    store.tell(
        owner, created(words, "new", day=2, corrects="old"), *(created(f"tea {n}", f"m{n}", day=n) for n in range(9))
    )
    after = newest(store, owner)
    store.tell(owner, deleted("new", day=3), purged("new", day=90, due=80))
    for times in ({"known": before}, {"known": after}, {"as_of": day(5)}, {"as_of": day(91)}):
        assert words not in str(store.reader.get(owner, "old", reveal=True, trace=False, **times))
    key, redis = store.app.views.changelogs.keys(owner, FIRST_BUILD).moments(owner), store.app.views._wires._client
    parts = [zlib.decompress(raw[4:]) for name, raw in redis.hgetall(key).items() if name != MOMENTS.encode()]
    assert parts
    assert words.encode() not in b"".join(parts)


def test_the_change_log_of_a_past_at_hand_is_folded_among_heavy_questions(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = long_story(store, monkeypatch)
    late = {"as_of": day(LONG / 100)}
    store.reader.list(owner, **late)
    assert light(lambda: store.reader.list(owner, **late))
    assert not light(lambda: store.reader.history(owner, limit=3, **late))


def test_the_times_of_many_events_are_read_among_heavy_questions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = long_story(store, monkeypatch)
    store.reader.list(owner)
    monkeypatch.setattr("engramlog_server.api.work.LIGHT_STEPS", LONG // 5)
    assert not light(lambda: store.reader.list(owner, as_of=day(0)))
    store.reader.list(owner, as_of=day(0))
    assert light(lambda: store.reader.list(owner, as_of=day(0.1)))


def test_a_past_of_which_most_reads_otherwise_today_is_made_among_heavy_questions(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = long_story(store, monkeypatch)
    for first in range(0, LONG, 300):
        store.tell(owner, *(mentioned(f"m{number}", day=99) for number in range(first, first + 300)))
    store.reader.list(owner, as_of=day(50))
    store.reader._pasts._kept.clear()
    monkeypatch.setattr("engramlog_server.api.work.LIGHT_STEPS", LONG // 5)
    assert not light(lambda: store.reader.list(owner, as_of=day(50)))


def test_a_past_holds_neither_the_present_nor_whom_it_told_how_far_it_came(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.app.views.moments, "limits", SOON)
    owner, told = store.owner(), list[int]()
    store.tell(owner, *(created(f"tea {number}", f"m{number}", day=number) for number in range(9)))
    store.reader.list(owner, as_of=day(5), on_progress=lambda done, _total: told.append(done))
    before = len(told)
    with store.app.views.view(owner) as (view, _):
        present = weakref.ref(view)
    del view
    store.app.views.forget(owner)
    gc.collect()
    assert present() is None
    assert store.reader.history(owner, as_of=day(5))["changes"]
    assert len(told) == before


def findings(store: Store, owner: str) -> list[str]:
    tag = store.app.views.changelogs.keys(owner, FIRST_BUILD).tag
    client = store.app.views._wires._client
    return [
        one["what"] for one in verify_partition(client, partition_of(owner, store.app.log.partitions), tag).differences
    ]


@each_row("ends", [(), (purged("m1", day=90, due=80),)])
def test_what_is_told_and_kept_while_an_owner_is_verified_is_no_difference(
    store: Store, monkeypatch: pytest.MonkeyPatch, ends: tuple[Any, ...]
) -> None:
    monkeypatch.setattr(store.app.views.moments, "limits", SOON)
    owner, compare = store.owner(), PastComparison.compare
    store.tell(
        owner, *(created(f"tea {number}", f"m{number}", day=number) for number in range(9)), deleted("m1", day=9)
    )
    store.reader.list(owner, known=newest(store, owner))

    def meanwhile(self: PastComparison) -> None:
        if self._owner == owner:
            store.tell(owner, *ends, *(created(f"more {number}", f"n{number}", day=91) for number in range(9)))
            store.reader.list(owner, known=newest(store, owner))
        compare(self)

    monkeypatch.setattr(PastComparison, "compare", meanwhile)
    assert findings(store, owner) == []
    monkeypatch.undo()
    assert findings(store, owner) == []


def test_parts_that_changed_places_begin_no_past(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(store.app.views.moments, "limits", SOON)
    owner = store.owner()
    store.tell(owner, *(created(f"tea {number}", f"m{number}", day=number) for number in range(9)))
    place = newest(store, owner)
    expected = store.reader.list(owner, known=place)
    key, redis = store.app.views.changelogs.keys(owner, FIRST_BUILD).moments(owner), store.app.views._wires._client
    one, other = sorted(name for name in redis.hkeys(key) if name != MOMENTS.encode())[-2:]
    redis.hset(key, mapping={one: redis.hget(key, other), other: redis.hget(key, one)})
    store.reader._pasts._kept.clear()
    assert store.reader.list(owner, known=place) == expected
    assert "cannot be read" in caplog.text


def test_a_block_of_events_that_somebody_went_on_with_is_read_as_far_as_the_head_tells(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(store.app.views.moments, "limits", SOON)
    owner = store.owner()
    store.tell(owner, *(created(f"tea {number}", f"m{number}", day=number) for number in range(9)))
    store.reader.list(owner, as_of=day(5))
    key, redis = store.app.views.changelogs.keys(owner, FIRST_BUILD).index(owner), store.app.views._wires._client
    head = redis.hget(key, EVENTS)
    store.tell(owner, created("more tea", "n", day=10))
    store.reader.list(owner, as_of=day(6))
    assert head is not None
    assert redis.hget(key, EVENTS) != head
    redis.hset(key, EVENTS, head)
    store.reader._pasts._kept.clear()
    store.app.views.moments._held.clear()
    assert store.reader.list(owner, as_of=day(6))["total"] == 7
    assert caplog.text == ""


def test_what_many_moments_have_in_common_is_folded_once_by_a_verification(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.app.views.moments, "limits", SOON)
    owner, many, ends = store.owner(), 60, range(6)
    store.tell(owner, *(created(f"tea {number}", f"m{number}", day=1) for number in range(many)))
    store.reader.list(owner, known=newest(store, owner))
    store.tell(owner, *(mentioned("m1", day=day_) for day_ in (9, 8, 7, 6, 5, 4) for _ in range(3)))
    for number in ends:
        store.reader.list(owner, as_of=day(number + 4.5))
    read, really = list[int](), PastComparison._read

    def counted(self: PastComparison, seqs: Any) -> Any:
        if self._owner == owner:
            read.append(len(seqs))
        return really(self, seqs)

    monkeypatch.setattr(PastComparison, "_read", counted)
    assert findings(store, owner) == []
    assert sum(read) < 4 * many
