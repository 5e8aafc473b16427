"""The book of access, followed in a log: complete when it is asked, shared by who asks at once; none where the log is silent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event as Flag
from threading import Thread
from typing import Any

import pytest

from engramlog_server.api.services.keys import AT_ONCE, MOST_STALE, AccessFollower
from engramlog_server.events.catalogue import Grant, GrantsSet, KeyIssued, KeyRevoked
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.log import ready
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import ACCESS, access_id
from engramlog_server.events.validation import make_event
from engramlog_server.projections.access.caller import AccessBook
from engramlog_server.projections.access.keys import make_key
from tests.patience import PATIENCE

NOW = 1_800_000_000_000_000
READS = (Grant(verbs=("read",), owners=("alice",)),)


class SilentLog(InMemoryEventLog):
    """A log that answers nothing while a test says so."""

    silent = False
    asked = 0
    held: Flag | None = None
    reached = Flag()

    def seqs_of(self, owner: str, event_ids: Any) -> dict[str, int]:
        self.asked += 1
        if self.held is not None:
            self.reached.set()
            assert self.held.wait(PATIENCE)
        if self.silent:
            raise StoreUnavailable("Redis does not answer")
        return super().seqs_of(owner, event_ids)


class Clock:
    """Seconds that pass when a test says so."""

    now = 5.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def log() -> SilentLog:
    return SilentLog(lambda: NOW, 4)


def say(log: InMemoryEventLog, *said: Any) -> None:
    events = [
        make_event(
            data, owner=ACCESS, occurred_at=from_micros(NOW), actor="operator", now=NOW, event_id=access_id(data.number)
        )
        for data in said
    ]
    assert all(one.written for one in log.append([ready(event) for event in events]))


def grants(number: int) -> GrantsSet:
    return GrantsSet(number=number, principal=f"p{number}", grants=READS)


def test_a_book_holds_all_that_was_said_before_it_was_asked(log: SilentLog) -> None:
    follower = AccessFollower(log)
    assert follower.book() == AccessBook()
    key = make_key(os.urandom)
    say(log, KeyIssued(number=1, key_id=key.key_id, principal="p", public=key.public, digest=key.digest))
    assert list(follower.book().keys) == [key.key_id]
    say(log, grants(2), KeyRevoked(number=3, key_id=key.key_id))
    assert follower.book().keys[key.key_id].state(NOW) == "revoked"
    assert follower.book().number == 3
    assert [one.data.number for one in follower.said()] == [1, 2, 3]


def test_more_than_one_piece_is_read_to_its_end(log: SilentLog) -> None:
    say(log, *(grants(number) for number in range(1, AT_ONCE + 1)))
    early = AccessFollower(log)
    assert early.book().number == AT_ONCE
    say(log, *(grants(number) for number in range(AT_ONCE + 1, 2 * AT_ONCE + 40)))
    assert early.book().number == 2 * AT_ONCE + 39
    assert AccessFollower(log).book() == early.book()


def test_without_news_a_look_asks_once(log: SilentLog) -> None:
    follower = AccessFollower(log)
    follower.book()
    before = log.asked
    follower.book()
    assert log.asked == before + 1


def test_a_silent_log_admits_nobody_after_a_second(log: SilentLog) -> None:
    clock = Clock()
    follower = AccessFollower(log, clock)
    say(log, grants(1))
    assert follower.book().number == 1
    log.silent = True
    clock.now += MOST_STALE / 2
    assert follower.book().number == 1
    clock.now += MOST_STALE / 2
    with pytest.raises(StoreUnavailable, match="nobody with a key is admitted"):
        follower.book()
    log.silent = False
    assert follower.book().number == 1


def test_a_log_that_was_silent_from_the_first_admits_nobody(log: SilentLog) -> None:
    log.silent = True
    with pytest.raises(StoreUnavailable):
        AccessFollower(log).book()


@contextmanager
def holding(log: SilentLog) -> Iterator[Flag]:
    """The log answers no look until it is let go."""
    held = log.held = Flag()
    log.reached.clear()
    try:
        yield held
    finally:
        log.held = None
        held.set()


def test_who_asks_while_a_look_is_in_hand_gets_one_that_begins_later(log: SilentLog) -> None:
    follower, told = AccessFollower(log), dict[str, int]()
    with holding(log) as held:
        first = Thread(target=lambda: told.update(first=follower.book().number))
        first.start()
        assert log.reached.wait(PATIENCE)
        say(log, grants(1))
        later = [Thread(target=lambda name=f"l{n}": told.update({name: follower.book().number})) for n in range(8)]
        for one in later:
            one.start()
        log.held = None
        held.set()
    for one in (first, *later):
        one.join(PATIENCE)
    assert {told[f"l{n}"] for n in range(8)} == {1}
    assert log.asked < 2 + 2 * len(later), "looks are shared"


def test_an_unforeseen_failure_is_told_to_all_and_the_next_look_is_a_new_one(log: SilentLog) -> None:
    follower = AccessFollower(log)
    follower.book()

    def broken(*_told: Any) -> dict[str, int]:
        raise RuntimeError("no such thing")

    log.seqs_of = broken  # type: ignore[method-assign]
    with pytest.raises(RuntimeError):
        follower.book()
    del log.seqs_of
    assert follower.book() == AccessBook()


def test_a_log_that_was_rolled_back_is_read_anew(log: SilentLog) -> None:
    follower = AccessFollower(log)
    say(log, grants(1), grants(2))
    assert follower.book().number == 2
    other = SilentLog(lambda: NOW, 4)
    say(other, grants(1))
    follower._log = other
    assert follower.book().number == 1
    assert [one.data.number for one in follower.said()] == [1]
    say(other, KeyRevoked(number=2, key_id="aaaaaaaa"))
    assert follower.book().number == 2
    follower._log = SilentLog(lambda: NOW, 4)
    assert follower.book() == AccessBook()
