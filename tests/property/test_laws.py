"""What holds under every law, for every history, at every instant and with any parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.parameters import DEFAULTS, NAMES, Parameters, changed
from engramlog_server.events.vocabulary import Via
from engramlog_server.projections.fold.owner import OwnerHistory, fold_owner
from engramlog_server.projections.laws import LAWS, Law
from engramlog_server.projections.laws.law import FOREVER, effective_importance, fallen_at
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import DAY, HOUR, Memory
from tests.examples import examples
from tests.given.events import Told, accessed, at, created, folded, parameters, profile, stored
from tests.given.histories import days, histories, words
from tests.given.law_cases import extreme, instants, lives, parameter_values, sensible, stories

QUICK = settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
ROOM = 1 + 1e-12
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))


def memories_of(told: Sequence[Told], base: Parameters = DEFAULTS) -> list[Memory]:
    return list(folded(*told, base=base).memories.values())


def columns_of(memories: Sequence[Memory]) -> Columns:
    columns = Columns()
    columns.put_all(memories)
    return columns


def stamps(memory: Memory) -> list[int]:
    """Every time stamp that a law reads."""
    upkeep, schedule = memory.upkeep, memory.schedule
    found = [
        memory.created_at, memory.updated_at, memory.last_activated_at, memory.last_reinforced_at, *memory.mentions,
    ]  # fmt: skip
    found += [memory.last_accessed_at, memory.negated_at, upkeep and upkeep.set_at, schedule and schedule.graded_at]
    return [stamp for stamp in found if stamp is not None]


# --- readings ------------------------------------------------------------------------------------------------------


@each_law
@QUICK
@given(told=stories, asked=sensible, now=instants)
def test_a_reading_tells_each_factor_that_its_law_names_and_no_other(
    law: Law, told: list[Told], asked: Parameters, now: int
) -> None:
    for memory in memories_of(told):
        reading = law.read(memory, now, asked)
        assert set(reading.factors) == set(law.factors)
        assert all(isfinite(value) for value in [*reading.factors.values(), reading.weight, reading.unclipped])


@each_law
@QUICK
@given(told=stories, asked=sensible, now=instants)
def test_weights_are_never_negative_and_those_of_shares_never_above_one(
    law: Law, told: list[Told], asked: Parameters, now: int
) -> None:
    for memory in memories_of(told):
        reading = law.read(memory, now, asked)
        most = {"ebbinghaus": 1.0, "consolidating": 1.0, "tiered": memory.importance}.get(law.name, float("inf"))
        assert 0 <= reading.unclipped <= most
        assert reading.weight >= 0


def on_a_rounding_boundary(memory: Memory, law: Law, now: int, asked: Parameters) -> bool:
    """Whether the retention lies so near a half percent that the last bit of `exp` decides on the strength."""
    return law.name == "ebbinghaus" and abs(law.read(memory, now, asked).factors["retention"] * 100 % 1 - 0.5) < 1e-10


@each_law
@QUICK
@given(told=stories, asked=sensible, times=st.lists(instants, min_size=1, max_size=4))
def test_weights_of_many_are_the_readings_of_each(
    law: Law, told: list[Told], asked: Parameters, times: list[int]
) -> None:
    memories = memories_of(told)
    columns = columns_of(memories)
    for now in times:
        sure = [row for row, memory in enumerate(memories) if not on_a_rounding_boundary(memory, law, now, asked)]
        each = [law.read(memories[row], now, asked).unclipped for row in sure]
        # Below 1e-300 floats have no twelve digits.
        np.testing.assert_allclose(law.weights(columns, now, asked)[sure], each, rtol=1e-12, atol=1e-300)


@each_law
@QUICK
@given(told=stories, asked=sensible, one=st.integers(0, 4_000 * DAY), other=st.integers(0, 4_000 * DAY))
def test_no_weight_rises_while_nothing_happens_unless_a_negation_wears_off(
    law: Law, told: list[Told], asked: Parameters, one: int, other: int
) -> None:
    for memory in memories_of(told):
        if law.name == "weighted" and memory.negated_at is not None and memory.resolution != "weight_balance":
            continue
        newest = max(stamps(memory))
        early, late = (law.read(memory, newest + wait, asked).unclipped for wait in sorted((one, other)))
        assert late <= early * ROOM


@each_law
@QUICK
@given(told=stories, asked=sensible, one=st.integers(1, 400 * DAY), other=st.integers(1, 400 * DAY))
def test_before_a_memory_began_no_time_has_passed(
    law: Law, told: list[Told], asked: Parameters, one: int, other: int
) -> None:
    for memory in memories_of(told):
        oldest = min(stamps(memory))
        first, early, earlier = (law.read(memory, oldest - wait, asked) for wait in (0, one, other))
        assert early == earlier
        assert [early.factors.get(name, 0) for name in ("hours", "days", "steps")] == [0, 0, 0]
        assert first == early or memory.mentions  # a mention at that very instant is within its window


# --- ends ----------------------------------------------------------------------------------------------------------

MICROS = 2
"""How much later than the first instant under a limit an end may be told: the ebbinghaus law rounds up and adds one."""


@QUICK
@given(told=stories, asked=sensible)
def test_the_ebbinghaus_law_archives_and_deletes_when_the_strength_is_first_under_its_limit(
    told: list[Told], asked: Parameters
) -> None:
    law = LAWS["ebbinghaus"]
    memories = memories_of(told)
    limits = (asked.archive_strength, asked.delete_strength)
    for limit, ends in zip(limits, law.ends(columns_of(memories), asked), strict=True):
        for memory, end in zip(memories, map(int, ends), strict=True):
            if end >= FOREVER // 2:
                assert limit == 0 or law.read(memory, at(36_500), asked).factors["strength"] >= limit
                continue
            found = law.read(memory, end, asked).factors
            # The last bits of a float tell instants apart up to a part in 1e13 of the time that has passed.
            before = end - MICROS - int(found["hours"] * HOUR * 1e-13)
            assert found["strength"] < limit
            assert before < memory.last_reinforced_at or law.read(memory, before, asked).factors["strength"] >= limit


@QUICK
@given(told=stories, asked=sensible)
def test_the_tiered_law_deletes_an_episode_when_nothing_is_first_left_of_it(
    told: list[Told], asked: Parameters
) -> None:
    law = LAWS["tiered"]
    memories = memories_of(told)
    archived, deleted_at = law.ends(columns_of(memories), asked)
    assert set(archived.tolist()) <= {FOREVER}
    for memory, end in zip(memories, map(int, deleted_at), strict=True):
        assert (end == FOREVER) == (memory.tier != "episode")
        if end != FOREVER:
            before = law.read(memory, end - 1, asked)
            by_steps = before.factors["importance"] * before.factors["factor"] ** before.factors["steps"]
            assert law.read(memory, end, asked).unclipped == 0
            assert before.unclipped == pytest.approx(by_steps, rel=1e-12)


@pytest.mark.parametrize("name", ["weighted", "consolidating"])
@QUICK
@given(told=stories, asked=sensible)
def test_the_other_laws_end_nothing_by_themselves(name: str, told: list[Told], asked: Parameters) -> None:
    assert {*np.concatenate(LAWS[name].ends(columns_of(memories_of(told)), asked)).tolist()} <= {FOREVER}


@QUICK
@given(told=stories, asked=sensible, least=st.floats(1e-9, 10) | st.sampled_from([0.0, 0.2, 0.5, 0.36, 0.7225]))
def test_when_an_importance_falls_is_when_its_reading_is_first_under(
    told: list[Told], asked: Parameters, least: float
) -> None:
    asked = changed(asked, {"fact_decay": min(asked.fact_decay, 0.99), "episode_decay": min(asked.episode_decay, 0.99)})
    memories = memories_of(told)
    with np.errstate(over="ignore"):
        found = fallen_at(columns_of(memories), np.full(len(memories), least), asked)
    for memory, fallen in zip(memories, map(int, found), strict=True):
        if fallen == FOREVER:
            assert effective_importance(memory, at(400_000), asked) >= least or memory.tier in ("core", "system")
            continue
        assert effective_importance(memory, fallen, asked) < least
        assert memory.importance < least or effective_importance(memory, fallen - 1, asked) >= least


# --- histories -----------------------------------------------------------------------------------------------------


@QUICK
@given(told=stories, data=st.data())
def test_a_profile_chosen_and_taken_back_leaves_no_trace_but_its_events(told: list[Told], data: st.DataObject) -> None:
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(told))] * 2)))
    there, back = (profile(data.draw(st.sampled_from(list(LAWS)))) for _ in range(2))
    log = stored([*told[:first], there, *told[first:last], back, *told[last:]])
    without = [one for one in log if one.seq not in (first + 1, last + 2)]
    now = data.draw(instants)
    assert facts(fold_owner(log), now) == facts(fold_owner(without), now)


def facts(history: OwnerHistory, now: int) -> tuple[dict[str, Memory], list[list[float]]]:
    """The records, and their weights under every law."""
    columns = columns_of(list(history.memories.values()))
    return history.memories, [law.weights(columns, now, DEFAULTS).tolist() for law in LAWS.values()]


def without_places(history: OwnerHistory) -> list[Memory]:
    """Records without the places in the log that they remember."""
    return [
        msgspec.structs.replace(
            memory,
            created_seq=0,
            changed_seq=0,
            negations=tuple(msgspec.structs.replace(one, position=0) for one in memory.negations),
        )
        for _, memory in sorted(history.memories.items())
    ]


@QUICK
@given(lives("a"), lives("b"), st.randoms(use_true_random=False))
def test_what_happens_to_two_memories_that_have_nothing_in_common_may_happen_in_any_order(
    a: list[Told], b: list[Told], chance: object
) -> None:
    which = [0] * len(a) + [1] * len(b)
    chance.shuffle(which)  # type: ignore[attr-defined]
    queues = [list(a), list(b)]
    mixed = [queues[n].pop(0) for n in which]
    assert without_places(folded(*mixed)) == without_places(folded(*a, *b))


@QUICK
@given(
    st.lists(
        st.builds(accessed, day=days, count=st.integers(1, 9), last_day=st.none() | days, via=words(Via)), max_size=8
    ),
    st.randoms(use_true_random=False),
)
def test_accesses_count_and_move_the_clocks_the_same_in_any_order(told: list[Told], chance: object) -> None:
    back = list(told)
    chance.shuffle(back)  # type: ignore[attr-defined]
    there, again = (folded(created(), *order).memories["m"] for order in (told, back))
    counters = [(m.access_count, m.last_accessed_at, m.reinforce_count, m.last_reinforced_at) for m in (there, again)]
    assert counters[0] == counters[1]
    assert there.stability == pytest.approx(again.stability, rel=1e-12)


# --- parameters at their bounds ------------------------------------------------------------------------------------


@QUICK
@given(told=stories, asked=extreme, times=st.lists(instants, min_size=1, max_size=3))
def test_no_law_raises_or_gives_nan_whatever_parameters_are_allowed(
    told: list[Told], asked: Parameters, times: list[int]
) -> None:
    memories = memories_of(told, asked)
    columns = columns_of(memories)
    with np.errstate(over="ignore"):  # what grows beyond all floats leaves nothing of a weight
        for law in LAWS.values():
            for now in times:
                assert not any(np.isnan(law.read(memory, now, asked).unclipped) for memory in memories)
                assert not np.isnan(law.weights(columns, now, asked)).any()
            for ends in law.ends(columns, asked):
                assert (ends > at(-40_000)).all()
        assert (fallen_at(columns, np.full(len(columns), 0.5), asked) > at(-40_000)).all()


@QUICK
@given(told=histories, changes=st.lists(st.tuples(days, st.sampled_from(NAMES), st.data()), max_size=4), now=instants)
def test_every_law_reads_every_history_in_which_the_owner_changes_parameters(
    told: list[Told], changes: list[tuple[float, str, st.DataObject]], now: int
) -> None:
    between = [parameters(day, **{name: data.draw(parameter_values(name, 0.01))}) for day, name, data in changes]
    history = folded(*told, *between, *told[4:])
    assert all(
        np.isfinite(law.weights(columns_of(list(history.memories.values())), now, DEFAULTS)).all()
        for law in LAWS.values()
    )
