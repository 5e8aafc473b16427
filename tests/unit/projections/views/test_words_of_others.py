"""Whatever becomes of memories and accounts of them, a view that goes on reads as one that is made anew."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import MemoryUnmerged, SensitivitySet
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import Told, created, deleted, folded, merged, purged, readmitted, rejected, restored
from tests.given.views import anew, moved
from tests.rows import each_row

NAMES = ("m0", "m1", "m2", "m3", "m4", "m5")
ACCOUNTS = ("a0", "a1", "a2")
MERGES = ("j0", "j1")
ANY = st.sampled_from((*NAMES, *ACCOUNTS, *MERGES))
DAYS = st.integers(10, 16)


def account(name: str, of: tuple[str, ...], kind: str) -> Told:
    tells: dict[str, Any] = {"source_turns": of, "tier": "episode"} if kind == "episode" else {"summarises": of}
    return created(f"about {', '.join(of)}", name, 9, kind=kind, source="system", **tells)


def plain(name: str, as_turn: str) -> Told:
    turn = {"": (), "own": (name,), "other": (f"t{name[1]}",)}[as_turn]
    kind: dict[str, Any] = {"kind": "episode", "source_turns": turn} if turn else {}
    return created(f"I keep {name} on the roof", name, 1, **kind)


def level(name: str, to: int, day: float) -> Told:
    return Told(SensitivitySet(memory_id=name, level=to, reason="so"), day, "user")


TURNS = st.sampled_from((*NAMES, "t0", "t1", "t2"))
CHANGES = st.one_of(
    st.builds(plain, st.sampled_from(NAMES), st.sampled_from(("", "own", "other"))),
    st.builds(
        account,
        st.sampled_from(ACCOUNTS),
        st.lists(ANY | TURNS, min_size=2, max_size=3, unique=True).map(tuple),
        st.sampled_from(("pattern", "suggestion", "question", "episode")),
    ),
    st.builds(
        lambda of, into, day: merged(*of, into=into, day=day),
        st.lists(st.sampled_from((*NAMES, *ACCOUNTS)), min_size=2, max_size=3, unique=True),
        st.sampled_from(MERGES),
        DAYS,
    ),
    st.builds(lambda into, day: Told(MemoryUnmerged(into=into), day, "operator"), st.sampled_from(MERGES), DAYS),
    st.builds(level, ANY, st.integers(0, 3), DAYS),
    st.builds(deleted, ANY, DAYS),
    st.builds(restored, ANY, DAYS),
    st.builds(purged, ANY, st.integers(50, 60)),
    st.builds(lambda name, day: rejected(f"I keep {name} on the roof", day=day), st.sampled_from(NAMES), DAYS),
    st.builds(lambda name, day: readmitted(f"I keep {name} on the roof", day=day), st.sampled_from(NAMES), DAYS),
)


def same(one: OwnerView, other: OwnerView) -> None:
    assert [(memory.id, memory.sensitivity) for memory in one.columns] == [
        (memory.id, memory.sensitivity) for memory in other.columns
    ]
    assert one.columns.sensitivity.tolist() == other.columns.sensitivity.tolist()
    assert list(map(one.as_folded, one.columns)) == list(map(other.as_folded, other.columns))


@settings(max_examples=examples(60), deadline=None)
@given(
    st.sets(st.sampled_from(NAMES), max_size=3),
    st.lists(CHANGES, min_size=3, max_size=14),
    st.integers(1, 3),
)
def test_a_view_that_follows_step_by_step_reads_as_one_made_anew(
    turns: set[str], changes: list[Told], step: int
) -> None:
    told = [plain(name, "own" if name in turns else "") for name in NAMES[:4]]
    view, before = anew(folded(*told)), folded(*told)
    for first in range(0, len(changes), step):
        told += changes[first : first + step]
        now = folded(*told)
        view, before = moved(view, before, now), now
        same(view, anew(now))


@each_row("rejects", [False, True])
@each_row("hides", [deleted("m0", 12), level("m0", 3, 12)])
def test_an_owner_s_first_account_reads_as_a_turn_of_it_that_has_another_id(rejects: bool, hides: Told) -> None:
    told = [plain("m0", "other"), plain("m1", ""), hides, *[rejected("I keep m1 on the roof", day=12)] * rejects]
    before, now = folded(*told), folded(*told, account("a0", ("t0", "t1"), "episode"))
    view = moved(anew(before), before, now)
    assert {one.id: one.sensitivity for one in view.columns}["a0"] == 3
    same(view, anew(now))
    last = folded(*told, account("a0", ("t0", "t1"), "episode"), account("a1", ("t0",), "episode"))
    same(moved(view, now, last), anew(last))
