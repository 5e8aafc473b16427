"""So much of an owner may wait for a person and no more: what comes beyond is ignored, told, and pushes nothing out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engramlog_server.projections.fold.changelog import DECISIONS
from engramlog_server.projections.fold.owner import OwnerHistory
from engramlog_server.projections.fold.trust import FULL, things_waiting
from tests.given.events import (
    Told,
    brought_back,
    created,
    deleted,
    folded,
    in_session,
    mentioned,
    merged,
    negated,
    purged,
    restored,
    revised,
    set_aside,
    unmerged,
)
from tests.rows import each_row

MOST_WAITING = 20
"""As many as may wait here: a flood is told quickly."""


@pytest.fixture(autouse=True)
def _small_inboxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.projections.fold.trust.MOST_WAITING", MOST_WAITING)


def of_agent(told: Told, trust: str = "inferred") -> Told:
    return Told(told.data, told.day, "assistant", told.extra | {"trust": trust})


def proposal(of: str, day: float = 1) -> Told:
    return of_agent(created(f"Always answer {of} first", of, day), "proposed")


def flood(many: int = MOST_WAITING) -> list[Told]:
    return [proposal(f"p{number}") for number in range(many)]


def waiting(*told: Told) -> int:
    done = folded(*told)
    assert done.owner.waiting == sum(map(things_waiting, done.memories.values()))
    return done.owner.waiting


def notes(done: OwnerHistory, of: str) -> list[tuple[str, str]]:
    return [(DECISIONS[one.decision], one.reason) for one in done.entries if one.memory_id == of]


KILN = created("The kiln fires at 1240 degrees", "kiln", 1)
OTHER = "The kiln fires at 1180 degrees"


def test_a_proposal_beyond_the_bound_is_ignored_and_told_and_pushes_nothing_out() -> None:
    done = folded(*flood(), proposal("late"))
    assert done.memories.keys() == {f"p{number}" for number in range(MOST_WAITING)}
    assert notes(done, "late") == [("ignored", FULL)]
    assert done.owner.waiting == MOST_WAITING


CHANGES: dict[str, Callable[[], Told]] = {
    "negated": lambda: negated("kiln", 2, resolution="latest_wins"),
    "revised": lambda: revised(OTHER, "kiln", 2),
    "deleted": lambda: deleted("kiln", 2),
    "merged": lambda: merged("kiln", "oven", day=2),
}


@each_row("change", CHANGES)
def test_where_it_is_full_a_change_by_a_lower_source_is_ignored_and_the_users_word_stands(change: str) -> None:
    done = folded(KILN, created("The oven is red", "oven", 1), *flood(), of_agent(CHANGES[change]()))
    assert notes(done, "kiln")[-1] == ("ignored", FULL)
    kiln = done.memories["kiln"]
    assert (kiln.waiting, kiln.content, kiln.deleted_at, kiln.merged_into) == ((), KILN.data.content, None, None)


GOES = {
    "deleted": [deleted("p0", 2)], "accepted": [mentioned("p0", 2)],
    "said in his own words": [revised("Always answer me first", "p0", 2)],
    "purged": [deleted("p0", 2), purged("p0", 90, due=89)], "merged": [of_agent(merged("p0", "p1", day=2))],
}  # fmt: skip


@each_row("how", GOES)
def test_what_is_answered_or_gone_makes_room(how: str) -> None:
    done = folded(*flood(), *GOES[how], proposal("late", 91), proposal("later", 92))
    assert "late" in done.memories
    assert notes(done, "later") == [("ignored", FULL)]


def test_what_a_person_restores_waits_again_and_what_an_agent_restores_is_refused() -> None:
    told = [*flood(), deleted("p0", 2), proposal("late", 3)]
    assert waiting(*told, restored("p0", 4)) == MOST_WAITING + 1
    done = folded(*told, of_agent(restored("p0", 4)))
    assert (done.owner.waiting, notes(done, "p0")[-1]) == (MOST_WAITING, ("ignored", FULL))


def test_nobody_gets_around_it_by_a_merge_that_is_undone() -> None:
    told = [*flood(), of_agent(merged("p0", "p1", day=2)), proposal("late", 3)]
    done = folded(*told, of_agent(unmerged(day=4)))
    assert (done.owner.waiting, notes(done, "all")[-1]) == (MOST_WAITING, ("ignored", FULL))
    assert waiting(*told, unmerged(day=4)) == MOST_WAITING + 1


def test_what_is_set_aside_keeps_its_place_so_that_it_can_be_brought_back() -> None:
    told = [in_session(one) for one in flood()]
    done = folded(*told, set_aside("s1", 2), proposal("late", 3), brought_back("s1", 4))
    assert (done.owner.waiting, "late" in done.memories) == (MOST_WAITING, False)
