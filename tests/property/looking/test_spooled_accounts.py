"""An export reads accounts of others as the owner's view does, and holds none of them that may be told."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.choices import ASKED_FOR
from api.exchange.exporting import ExportOptions, selection
from api.exchange.spooling import SpooledSelection
from events.catalogue import MemoryPurged, SensitivityRaised, SensitivitySet
from projections.checks import unchecked
from projections.fold.owner import OwnerHistory
from projections.memory.kind import has_words_of_others
from projections.memory.record import SECRET, Memory, encode_memory
from projections.redis.spool import Spool
from projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import Told, created, deleted, folded, merged, moment, rejected, restored, unmerged

fuzzed = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
EVERYTHING = ExportOptions(include=tuple(ASKED_FOR), reveal=True)
WORDS = [f"I keep {what} on the roof" for what in ("bees", "hens", "doves", "geese")]


def spooled(history: OwnerHistory) -> Spool:
    """Its records, as they are met in the store."""
    spool = Spool(sealed=len(history.memories) % 2 == 0)
    spool.state = history.owner
    for memory in history.memories.values():
        spool.meet(memory, encode_memory(memory))
    for name in spool.waiting():
        spool.put_waiting(history.memories[name], encode_memory(history.memories[name]))
    spool.settle()
    return spool


def exported(history: OwnerHistory) -> SpooledSelection:
    spool = spooled(history)
    return SpooledSelection(spool, OwnerView("ada", spool.state, ()), EVERYTHING, unchecked)


@st.composite
def lives(draw: st.DrawFn) -> list[Told]:
    """Two statements, two turns, some accounts of any of them and of each other, and what may hide words."""
    made = [created(WORDS[n], f"m{n}", 0) for n in range(2)]
    other = draw(st.booleans())
    made += [
        created(WORDS[n + 2], "elsewhere" if n and other else f"t{n}", 0, source_turns=(f"t{n}",), kind="episode")
        for n in range(2)
    ]
    names = ["m0", "m1", "t0", "elsewhere" if other else "t1"]
    for number in range(draw(st.integers(1, 4))):
        some = draw(st.lists(st.sampled_from([*names, f"a{number + 1}"]), min_size=1, max_size=3, unique=True))
        if draw(st.booleans()):
            more: dict[str, Any] = {"kind": "pattern", "summarises": tuple(some)}
        else:
            turns = draw(st.lists(st.sampled_from(["t0", "t1"]), min_size=1, max_size=2, unique=True))
            more = {"kind": "episode", "tier": "episode", "source_turns": tuple(turns)}
        made.append(created(f"about the roof {number}", f"a{number}", 1, source="system", **more))
        names.append(f"a{number}")
    if draw(st.booleans()):
        made.append(merged("m0", draw(st.sampled_from(["m1", "t0"])), into="both", day=2))
        names.append("both")
    day, raised, name = 3, st.integers(1, 3), st.sampled_from(names)
    for _ in range(draw(st.integers(0, 5))):
        day += draw(st.integers(0, 1))
        of, what = draw(name), draw(st.integers(0, 6))
        if what == 0:
            made.append(Told(SensitivityRaised(memory_id=of, level=draw(raised), rules=99), day, "system"))
        elif what <= 2:
            level = draw(st.integers(0, 3))
            made.append(Told(SensitivitySet(memory_id=of, level=level, reason="it is said so"), day, "user"))
        elif what == 3:
            made.append(deleted(of, day))
        elif what == 4:
            made.append(restored(of, day))
        elif what == 5:
            made.append(rejected(draw(st.sampled_from(WORDS)), day=day))
        elif "both" in names:
            made.append(unmerged("both", day))
    if draw(st.booleans()):
        of = draw(name)
        made += [deleted(of, day), Told(MemoryPurged(memory_id=of, due_at=moment(day + 40)), day + 50, "operator")]
    return made


def by_id(memories: list[Memory]) -> dict[str, Memory]:
    return {one.id: one for one in memories}


@fuzzed
@given(lives())
def test_an_export_tells_of_each_memory_what_the_view_tells(told: list[Told]) -> None:
    history = folded(*told)
    chosen, found = exported(history), selection(OwnerView.of_history("ada", history), EVERYTHING)
    assert by_id([one for page in chosen.pages() for one in page]) == by_id(list(found.memories))
    assert (chosen.left_out, set(chosen.secret)) == (found.left_out, set(found.secret))


@fuzzed
@given(lives())
def test_what_the_view_tells_as_secret_is_in_memory_unless_a_person_said_that_it_may_be_told(told: list[Told]) -> None:
    history = folded(*told)
    if history.owner.rejections:  # what is rejected by its words is on the disk itself, so its accounts may be
        return
    spool, view = spooled(history), OwnerView.of_history("ada", history)
    secret = {one.id for one in view.columns if one.sensitivity >= SECRET}
    assert secret <= {one.id for one in history.memories.values() if spool.is_in_memory(one.id)}


def test_of_very_many_accounts_only_those_are_held_that_may_be_secret() -> None:
    told = [created(f"I keep {n} bees", f"m{n}", 0) for n in range(40)]
    told += [
        created(f"bees, {n}", f"a{n}", 1, kind="pattern", source="system", summarises=(f"m{n % 40}", f"a{n - 1}"))
        for n in range(1, 400)
    ]
    history = folded(*told)
    assert sum(map(has_words_of_others, history.memories.values())) == 399
    assert spooled(history).in_memory == 0
    history = folded(*told, Told(SensitivitySet(memory_id="a390", level=SECRET, reason="mine"), 5, "user"))
    assert spooled(history).in_memory == 10
    chosen = exported(history)
    assert sorted(chosen.secret) == sorted(f"a{n}" for n in range(390, 400))
