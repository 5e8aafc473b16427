"""Single memories are erased in use: producers append, workers fold, readers ask, jobs tell more of it; nothing of it is left, and
nobody loses any."""

from __future__ import annotations

from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest

from engramlog_server.events.catalogue import Hit, MemoriesAccessed, MemoryKept, SensitivitySet
from engramlog_server.events.errors import InputError
from tests.integration.erasure.test_in_use import Producer, meanwhile
from tests.integration.erasure.words.erased_words import (
    ADA,
    CANARY,
    ENTRIES,
    GOING,
    NAMED,
    ErasingWords,
    asked,
    leaks,
    made,
)
from tests.integration.live import wait_until
from tests.servers import RedisServer


@pytest.fixture
def store(redis_server: RedisServer, tmp_path: Path) -> ErasingWords:
    return ErasingWords(redis_server, tmp_path)


def test_while_it_is_used_nobody_loses_anything_and_nothing_of_it_is_told_again(store: ErasingWords) -> None:
    with store.live() as live, store.live() as other, store.opened() as reader:
        live.start_worker("w1")
        other.start_worker("w2")
        producers = Producer(live, (ADA, store.twin)), Producer(other, (ADA, store.far))
        looked = list[str]()

        def read(stop: Flag) -> None:
            gone = False
            while not stop.is_set():
                with reader.views.view(ADA) as (view, _):
                    found = {name: view.get(name) for name in NAMED}
                words = [one.content for one in found.values() if one is not None and one.content]
                assert not (gone and words), "it was gone, and is back"
                gone = not words
                looked.append("gone" if gone else "there")

        def name_it(stop: Flag) -> None:
            """Who goes on telling of it is refused from the fence on, and no sooner."""
            number = 0
            while not stop.is_set():
                number += 1
                try:
                    other.log.append([store.event(ADA, f"again {number}", made("pet", f"a {CANARY} {number}"), None)])
                except InputError:
                    looked.append("refused")

        with meanwhile(producers[0].run, producers[1].run, read, name_it) as failed:
            wait_until(lambda: all(len(one.written[ADA]) > 5 for one in producers) and "there" in looked)
            done = store.erase_words()
            wait_until(lambda: "gone" in looked and "refused" in looked)
            counts = [len(one.written[ADA]) for one in producers]
            wait_until(
                lambda: all(len(one.written[ADA]) > count + 3 for one, count in zip(producers, counts, strict=True))
            )
        assert failed == []
        wait_until(live.folded)
        for producer in producers:
            for owner, written in producer.written.items():
                assert set(written) <= store.records(owner)[owner].keys(), owner
                assert producer.refused[owner] == 0, owner
    assert done.memories == len(GOING)
    assert done.events >= ENTRIES
    # read while others append, the digest may be of another moment; at rest it is clean
    assert store.differences() == []
    assert not store.alarm_stands
    with store.http() as client:
        assert leaks(asked(client)) == []


def more_of_it(store: ErasingWords, number: int) -> list[tuple[str, Any, str | None]]:
    """What jobs and faces tell of a memory without bringing words under its id."""
    hit = Hit(memory_id="pet", count=1, best_rank=1, last_at=store.began)
    return [
        (f"kept {number}", MemoryKept(memory_id="hat", reason=f"{CANARY} {number}"), None),
        (f"set {number}", SensitivitySet(memory_id="ink", level=1, reason=f"{CANARY} {number}"), None),
        (f"shown {number}", MemoriesAccessed(hits=(hit,), via="recall", query=f"{CANARY} {number}", turn_id="t1"), "s1"),
        (f"sums {number}", made(f"sums{number}", f"of the {CANARY} {number}", source="judge", tier="episode",
                                kind="episode", summarises=("pet", "paint")), None),
    ]  # fmt: skip


def test_what_is_told_of_it_meanwhile_is_caught_by_the_second_round(store: ErasingWords) -> None:
    told = list[int]()

    def job(point: str) -> None:
        if point == "after their words" and not told:
            told.append(1)
            with store.opened() as opened:
                assert all(
                    one.written for one in opened.log.append([store.event(ADA, *one) for one in more_of_it(store, 1)])
                )

    others = store.standing(*store.others)
    done = store.erase_words(probe=job)
    assert (done.verified, done.not_proven) == (True, [])
    assert (done.memories, done.events) == (len(GOING) + 1, ENTRIES + 4)
    store.fold()
    assert store.records(ADA)[ADA]["sums1"].purged_at is not None
    assert CANARY not in str(store.log())
    assert store.differences() == []
    assert store.standing(*store.others) == others
    with store.http() as client:
        assert leaks(asked(client)) == []


def test_what_is_told_of_it_in_every_round_is_told_in_the_certificate_and_the_next_run_has_it(
    store: ErasingWords,
) -> None:
    told = list[int]()

    def job(point: str) -> None:
        if point == "after it was folded without them":
            told.append(len(told))
            with store.opened() as opened:
                opened.log.append([store.event(ADA, *one) for one in more_of_it(store, len(told))])

    done = store.erase_words(probe=job)
    assert len(told) == 3
    assert len(done.not_proven) == 1
    assert "again and again" in done.not_proven[0]
    again = store.erase_words()
    assert (again.erasure, again.verified, again.not_proven) == (done.erasure, True, [])
    assert again.events == ENTRIES + 12
    assert CANARY not in str(store.log())
    assert store.differences() == []


def test_a_worker_that_had_it_in_its_working_set_does_not_write_it_back(store: ErasingWords) -> None:
    with store.live() as live:
        live.start_worker("w1")
        live.append(live.mentioned(ADA, "pet"), live.mentioned(ADA, "hat"), live.mentioned(store.twin, "pet"))
        wait_until(live.folded)
        assert store.erase_words().verified
        for number in range(10):
            live.append(live.mentioned(ADA, "pet"), live.created(ADA, f"l{number}"), live.mentioned(store.twin, "pet"))
        wait_until(live.folded)
    assert CANARY not in str(store.records(ADA))
    assert CANARY in str(store.records(store.twin))
    assert store.differences() == []


def test_two_erasures_of_one_owner_at_once_end_both(store: ErasingWords) -> None:
    """Another run of other ids comes in between: each goes to its end under its own number."""
    inner = list[str]()

    def other(point: str) -> None:
        if point == "after the fence" and not inner:
            inner.append(store.erase_words("hat").erasure)

    done = store.erase_words("pet", probe=other)
    assert done.verified
    assert done.erasure not in inner
    store.agree_of_words()
    assert store.differences() == []
    assert not store.alarm_stands
    records = store.records(ADA)[ADA]
    assert all(not records[name].content for name in ("pet", "hat", "both", "stretch", "spoken"))
    assert records["ink"].content


def test_another_run_of_the_same_ids_that_was_quicker_is_gone_on_with(store: ErasingWords) -> None:
    inner = list[str]()

    def quicker(point: str) -> None:
        if point == "before they are deleted" and not inner:
            inner.append("")
            inner[0] = store.erase_words().erasure

    done = store.erase_words(probe=quicker)
    assert (done.erasure, done.verified, done.events) == (inner[0], True, ENTRIES)
    assert store.differences() == []
    assert not store.alarm_stands
    store.agree_of_words()
