"""What is told of a change beside its entry: who brought it, when it was known, and why, as far as that may be told."""

from __future__ import annotations

from typing import Any

import orjson

from engramlog_server.events.catalogue import MemoryDeleted, MemoryMerged, MemoryNegated, SensitivitySet
from engramlog_server.events.envelope import Stored
from engramlog_server.projections.memory.deletion import forgotten_turns
from engramlog_server.projections.views.event_words import UNTOLD, Teller, Telling, telling
from engramlog_server.projections.views.view import WITHHELD
from tests.given.events import Told, created, deleted, entry, mentioned, purged
from tests.given.exports import view_of
from tests.rows import each_row

WHY = "she said so"
SECRET = "my password is hunter2-Xq9!"
BESIDE = (b"1735689600000000", b"job:sweep", b"3:0", b"", bytes(32))
"""Recorded on 1 January 2025, a year after the first of 2024."""


def of_format_2(told: Told, *beside: bytes) -> Stored:
    return entry(told, "ada", 1)._replace(beside=beside or BESIDE)


def reason_of(data: Any, *lived: Told, memory_id: str | None = "m") -> str | None:
    """What is told of the reason of an event, once these have happened."""
    words = telling(entry(Told(data), "ada", 99)).words
    assert words is not None
    view = view_of(lived)
    return Teller(view.get, lambda: forgotten_turns(view.columns)).told(words, memory_id)[0]


def test_of_format_2_it_is_told_when_it_was_recorded_by_whom_and_how_late() -> None:
    found = telling(of_format_2(mentioned(day=0)))
    assert (found.recorded_at, found.principal) == ("2025-01-01T00:00:00Z", "job:sweep")
    assert found.late_by == 366 * 86_400 - 8 * 3_600


def test_what_was_recorded_when_it_occurred_is_not_late() -> None:
    assert telling(of_format_2(mentioned(day=0), b"1704096000000000", b"local")).late_by is None


@each_row("beside", [(b"x", b"local"), (b"1", b"\xff"), (b"", b""), (b"1",)])
def test_of_damaged_fields_beside_nothing_is_told_and_the_rest_is(beside: tuple[bytes, ...]) -> None:
    assert telling(of_format_2(mentioned(), *beside)) == Telling(actor="user")


@each_row("body", [b"", b"{", b'{"actor":"nobody"}', b'{"owner":"ann"}', b"[" * 9_999])
def test_of_an_event_that_cannot_be_read_nothing_is_told(body: bytes) -> None:
    assert telling(Stored(1, "MemoryMentioned.1", bytes(16), "ann", body, ())) == UNTOLD


def test_words_are_not_among_what_is_told_without_them() -> None:
    found = telling(entry(Told(MemoryDeleted(memory_id="m", reason=WHY)), "ada", 1))
    assert WHY not in orjson.dumps(found.beside({})).decode()


def test_an_empty_reason_is_none() -> None:
    assert telling(entry(Told(MemoryDeleted(memory_id="m", reason=" \n")), "ada", 1)).words is None


def test_a_reason_is_told_while_its_memory_stands_and_while_it_can_be_restored() -> None:
    data = MemoryDeleted(memory_id="m", reason=WHY)
    assert reason_of(data, created()) == WHY
    assert reason_of(data, created(), deleted(day=1)) == WHY


def test_a_reason_goes_with_the_purge_of_its_memory() -> None:
    data = MemoryDeleted(memory_id="m", reason=WHY)
    assert reason_of(data, created(), deleted(day=1), purged(day=40)) is None


def test_a_reason_goes_with_the_purge_of_any_memory_that_its_event_names() -> None:
    data = MemoryMerged(sources=("m", "n"), into="o", summary="both", reason=WHY)
    lived = created(), created(of="n"), deleted(of="n", day=1), purged(of="n", day=40)
    assert reason_of(data, *lived) is None


def test_a_reason_that_looks_secret_is_withheld() -> None:
    assert reason_of(MemoryDeleted(memory_id="m", reason=SECRET), created()) == WITHHELD


def test_a_reason_about_a_secret_is_withheld_whatever_it_says() -> None:
    assert reason_of(MemoryDeleted(memory_id="m", reason=WHY), created(SECRET)) == WITHHELD


def test_why_a_secret_is_shown_or_made_less_is_told() -> None:
    data = SensitivitySet(memory_id="m", level=2, reason="out of a book")
    assert reason_of(data, created(SECRET)) == "out of a book"
    assert reason_of(SensitivitySet(memory_id="m", level=2, reason=SECRET), created(SECRET)) == WITHHELD


def test_a_negation_whose_correction_is_deleted_has_no_words_any_more() -> None:
    data = MemoryNegated(memory_id="m", replaced_by="n", reason=WHY)
    lived = created(), created(of="n")
    assert reason_of(data, *lived) == WHY
    assert reason_of(data, *lived, deleted(of="n", day=2)) is None


def test_a_negation_of_a_retracted_turn_has_no_words_any_more() -> None:
    data = MemoryNegated(memory_id="m", turn_id="t1", reason=WHY)
    lived = created(), created("I do not any more", of="t1", kind="episode", source_turns=("t1",))
    assert reason_of(data, *lived) == WHY
    assert reason_of(data, *lived, deleted(of="t1", day=2)) is None
