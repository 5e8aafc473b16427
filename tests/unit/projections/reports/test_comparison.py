"""The same history under every law: ranks and their spread, and one memory's states and weights over time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engramlog_server.events.envelope import micros, utc_text
from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.modes import visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.past.life import RecordTouch, State, life_of
from engramlog_server.projections.reports.comparison import compare_laws, curves, mean_ranks
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    folded,
    linked,
    mentioned,
    moment,
    negated,
    parameters,
    reinforced,
    stored,
)
from tests.given.histories import IDS, MERGES, histories
from tests.rows import each_row


def compared(*told: Told, day: float, limit: int = 50, offset: int = 0) -> dict[str, Any]:
    """These events under every law on a day."""
    return compare_laws(OwnerView.of_history("ada", folded(*told)), at(day), limit, offset)


def life(*told: Told, of: str = "m") -> list[RecordTouch]:
    """What touched a memory in these events."""
    return life_of(stored(told), of)


def drawn(*told: Told, until: float, since: float = 0, points: int = 5, of: str = "m") -> dict[str, Any]:
    """A memory's curves between two days."""
    return curves(life(*told, of=of), at(since), at(until), points, 3)


# --- all memories at an instant


@each_row(
    ("weights", "ranks"),
    [
        ([], []), ([0.5], [1.0]), ([0.1, 0.3, 0.2], [3.0, 1.0, 2.0]), ([0.0, 1.0, 0.0, 0.0], [3.0, 1.0, 3.0, 3.0]),
        ([1.0, 1.0, 0.5], [1.5, 1.5, 3.0]), ([0.3, 0.1 + 0.2], [1.5, 1.5]),
    ],
)  # fmt: skip
def test_equal_weights_share_the_mean_of_their_places(weights: list[float], ranks: list[float]) -> None:
    assert mean_ranks(np.array(weights)).tolist() == ranks


def test_each_law_shows_by_its_own_threshold_and_says_why_it_withholds() -> None:
    answer = compared(created(of="name", category="identity", tier="core"), day=40)
    (name,) = answer["memories"]
    assert {law: (told["shown"], told["reason"], told["level"]) for law, told in name["laws"].items()} == {
        "weighted": (True, None, "full"),
        "ebbinghaus": (False, "under_threshold", "full"),
        "consolidating": (True, None, "full"),
        "tiered": (True, None, "full"),
    }
    assert {law: told["shown"] for law, told in answer["laws"].items()} == {
        "weighted": 1,
        "ebbinghaus": 0,
        "consolidating": 1,
        "tiered": 1,
    }
    assert answer["laws"]["ebbinghaus"]["withheld"] == [{"reason": "under_threshold", "count": 1, "shown_by": "review"}]


def test_what_laws_disagree_on_most_comes_first() -> None:
    told = [
        created(of="repeated", day=0, category="temporary"),
        created(of="recalled", day=0, category="temporary"),
        created(of="new", day=19),
        *(mentioned(of="repeated", day=day) for day in range(1, 20)),
        accessed("recalled", day=19),
    ]
    answer = compared(*told, day=20)
    found = {one["id"]: one for one in answer["memories"]}
    ranks = {name: [law["rank"] for law in one["laws"].values()] for name, one in found.items()}
    assert ranks == {"repeated": [1, 3, 3, 3], "recalled": [3, 1, 2, 1.5], "new": [2, 2, 1, 1.5]}
    assert [one["spread"] for one in answer["memories"]] == [2.0, 2.0, 1.0]


def test_two_laws_are_compared_by_what_only_one_of_them_shows_and_by_their_order() -> None:
    answer = compared(created(of="old", day=0), created(of="new", day=40), day=41)
    pairs = {tuple(pair["laws"]): (pair["shown_by_one"], pair["rank_correlation"]) for pair in answer["pairs"]}
    assert len(pairs) == 6
    assert pairs["weighted", "ebbinghaus"] == (1, 1.0)
    assert pairs["weighted", "consolidating"] == (0, 1.0)


# --- one memory over time

QUICK = settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])


def bare(memory: Memory | None) -> Memory | None:
    """A record without its edges, which no law reads, and without the event that changed it last: it may have changed an edge."""
    return None if memory is None else replace(memory, edges=(), changed_seq=0)


@QUICK
@given(histories, st.sampled_from(IDS + MERGES), st.integers(0, 82))
def test_a_memory_s_state_at_an_instant_is_what_an_as_of_folds_it_into(told: list[Told], of: str, day: int) -> None:
    kept = [one for one in life(*told, of=of) if one.at <= at(day)]
    history = fold_owner(stored(told), keep=lambda _, event: micros(event.occurred_at) <= at(day))
    assert bare(kept[-1].after.memory if kept else None) == bare(history.memories.get(of))


@QUICK
@given(histories, st.sampled_from(IDS + MERGES))
def test_touches_follow_each_other_in_time_and_each_begins_where_the_last_ended(told: list[Told], of: str) -> None:
    touches = life(*told, of=of)
    assert [one.at for one in touches] == sorted(one.at for one in touches)
    assert [one.before for one in touches[1:]] == [one.after for one in touches[:-1]]
    assert all(one.before != one.after for one in touches)


def test_accesses_and_parameters_touch_a_memory_too_and_what_only_names_it_does_not() -> None:
    touches = life(
        created(of="other"),
        created(),
        created(of="third", corrects="m", day=1),
        accessed("other", "m", day=2),
        mentioned(day=3),
        mentioned(of="other", day=4),
        reinforced(day=5),
        parameters(day=6, alpha_base=0.02),
        negated(day=7),
    )
    assert [(one.event, one.decision) for one in touches] == [
        ("MemoryCreated", "create"),
        ("MemoriesAccessed", "access"),
        ("MemoryMentioned", "reinforce"),
        ("MemoryReinforced", "reinforce"),
        ("ParametersChanged", "parameters"),
        ("MemoryNegated", "negate"),
    ]


class Counted:
    """A check that counts the evolutions it is asked at."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, done: int, total: int) -> None:
        assert done == self.count <= total
        self.count += 1


def evolutions(*told: Told) -> int:
    """How many the life of a memory takes."""
    counted = Counted()
    life_of(stored(told), "m", check=counted)
    return counted.count


def test_what_others_of_its_company_went_through_late_is_not_folded_anew() -> None:
    """Each of the hundred has its own five late mentions; a fold of all for each late event would take 250,000."""
    company = [f"x{number}" for number in range(100)]
    told = [created(day=-1), *(created(of=name, day=-1) for name in company)]
    told += [linked("m", name, day=0) for name in company]
    told += [mentioned(of=name, day=9_000 - number) for number in range(5) for name in company]
    assert evolutions(*told) < 15 * len(told)


def test_events_that_are_folded_together_end_where_the_fold_of_all_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.projections.past.life.FREE", 50)
    monkeypatch.setattr("engramlog_server.projections.past.life.PER_EVENT", 2)
    told = [created(day=-1), *(mentioned(day=9_000 - number) for number in range(100))]
    touches = life(*told)
    assert touches[-1].after.memory == fold_owner(stored(told)).memories["m"]
    assert sum(one.together for one in touches) == len(told)
    assert max(one.together for one in touches) > 1
    assert "events that happened before it and came late" in touches[-1].reason
    assert [one.before for one in touches[1:]] == [one.after for one in touches[:-1]]
    assert drawn(*told, until=1)["folded_together"] == len(told) - len(touches)


def test_a_curve_jumps_at_an_event_and_follows_the_law_between_events() -> None:
    told = (created(), mentioned(day=11))
    found = drawn(*told, until=22, points=3)
    assert found["times"] == [
        utc_text(moment(0)),
        "2024-01-12T07:59:59.999999Z",
        utc_text(moment(11)),
        utc_text(moment(22)),
    ]
    before, after = [1.3 / (1 + 0.01 * 11 / 1.3)], 1.3 * 1.5 * 1.11803
    assert found["laws"]["weighted"]["weights"] == pytest.approx([1.3, *before, after, 1.5443], abs=1e-4)
    assert found["laws"]["weighted"]["shown"] == [True] * 4
    assert found["laws"]["ebbinghaus"]["weights"][0] == 1.0


def test_every_event_tells_the_weight_before_and_after_under_each_law() -> None:
    (first, second) = drawn(created(source_turns=("t1",)), accessed("m", day=1), until=2)["events"]
    assert (first["position"], first["time"]) == ("3:1", utc_text(moment(0)))
    assert {one["before"] for one in first["weights"].values()} == {None}
    assert second["weights"]["ebbinghaus"] == {"before": 0.37, "after": 1.0}
    assert second["weights"]["weighted"]["before"] == second["weights"]["weighted"]["after"]


@QUICK
@given(histories, st.sampled_from(IDS + MERGES), st.integers(2, 40))
def test_each_point_of_a_curve_is_what_its_law_shows_at_that_instant_alone(
    told: list[Told], of: str, points: int
) -> None:
    touches = life(*told, of=of)
    found = curves(touches, at(-3), at(90), points, 3)
    for number, text in enumerate(found["times"]):
        instant = micros(datetime.fromisoformat(text))
        state = next((one.after for one in reversed(touches) if one.at <= instant), State(None, DEFAULTS))
        there = state.memory is not None and state.memory.purged_at is None
        columns = Columns()
        columns.put_all([state.memory] if there and state.memory is not None else [])
        for name, law in LAWS.items():
            seen, drawn_of = visibility(columns, law, instant, state.parameters, "normal"), found["laws"][name]
            assert drawn_of["shown"][number] == bool(seen.shown.any())
            weight = drawn_of["weights"][number]
            assert weight == (pytest.approx(float(seen.weights[0]), abs=1e-6) if there else None)


PIN = "the PIN of my card is 4821"


def test_a_secret_is_compared_and_not_shown() -> None:
    answer = compared(created(PIN), day=1)
    assert "4821" not in str(answer)
    assert {law["reason"] for law in answer["memories"][0]["laws"].values()} == {"sensitive"}
