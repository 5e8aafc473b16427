"""A list shows, orders and counts what a plain reading of each row says, whatever is told of the owner and asked of the list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.projections.index.names import SOURCES
from engramlog_server.projections.language.lexicon import part_folded
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.modes import MODES, Mode
from engramlog_server.projections.memory.columns import STATUSES, TIERS
from engramlog_server.projections.memory.record import CATEGORIES, LEVELS, SECRET, Memory
from engramlog_server.projections.ranking.search_request import Filter
from engramlog_server.projections.reports.listing import (
    FLAGS,
    MOST_VALUES,
    SENSITIVITIES,
    SORTS,
    TRUSTS_TOLD,
    RowOrder,
    RowsWanted,
    facets,
    listing,
    wanted_of,
)
from engramlog_server.projections.views.query import ViewQuery, seen_at
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import (
    Told,
    at,
    brought_back,
    compressed,
    created,
    deleted,
    folded,
    in_conflict,
    in_session,
    mentioned,
    merged,
    negated,
    purged,
    rejected,
    restored,
    revised,
    set_aside,
)
from tests.given.views import anew, moved, viewed

Row = dict[str, Any]
fuzzed = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
IDS = [f"m{number}" for number in range(5)]
TEXTS = (
    "I drink coffee every morning", "我喜歡綠茶", "I am not happy with the endpoint", "Ｃｏｆｆｅｅ and tests",
    "my password is hunter2-Kiln-2024", "Refactored the tests, no rush",
)  # fmt: skip
PARTS = ("coffee", "COFFEE", "绿茶", "綠", "hunter2", "m1", "ing", "zzz", " ")
KINDS, TAGS = ("fact", "lesson", "preference"), ("Weekend", "own", "weekend", "calm", "late_night")
SESSIONS, SPEAKERS, PROJECTS = ("s1", "s2"), ("Ana", "ANA", "李雷"), ("engram", "kiln")


def _maybe(values: Sequence[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.sampled_from(values)


@st.composite
def memories(draw: st.DrawFn, of: str) -> Told:
    told = created(
        draw(st.sampled_from(TEXTS)),
        of,
        draw(st.sampled_from([0, 0.4, 3, 40])),
        source=draw(st.sampled_from(SOURCES)),
        kind=draw(st.sampled_from(KINDS)),
        category=draw(st.sampled_from(CATEGORIES)),
        tier=draw(st.sampled_from(TIERS[2:])),
        tags=tuple(draw(st.sets(st.sampled_from(TAGS), max_size=2))),
        speaker=draw(_maybe(SPEAKERS)),
        project=draw(_maybe(PROJECTS)),
        sensitivity=draw(_maybe(SENSITIVITIES)),
    )
    trust = draw(_maybe(["proposed", "imported", "inferred"]))
    told = told if trust is None else replace(told, extra={**told.extra, "trust": trust})
    return in_session(told, draw(_maybe(SESSIONS)))


ids = st.sampled_from(IDS)
days = st.sampled_from([1, 5, 41, 60])
changes = st.one_of(
    st.builds(
        lambda of, day, how: negated(of, day, resolution=how),
        ids,
        days,
        st.sampled_from(["weight_balance", "latest_wins", "version_keep"]),
    ),
    st.builds(lambda of, day: replace(negated(of, day), extra={"trust": "inferred"}), ids, days),
    st.builds(mentioned, ids, days),
    st.builds(deleted, ids, days),
    st.builds(restored, ids, days),
    st.builds(purged, ids, days),
    st.builds(compressed, st.sampled_from(LEVELS[1:]), ids, days),
    st.builds(revised, st.sampled_from(TEXTS), ids, days),
    st.builds(
        lambda some, day: merged(*some, into="all", day=day), st.sampled_from([("m0", "m1"), ("m2", "m1")]), days
    ),
    st.builds(lambda pair, day: in_conflict(pair[0], pair[1], day), st.sampled_from(list(combinations(IDS, 2))), days),
    st.builds(set_aside, st.sampled_from(SESSIONS), days),
    st.builds(brought_back, st.sampled_from(SESSIONS), days),
    st.builds(lambda text, day: rejected(text, day=day), st.sampled_from(TEXTS), days),
)


@st.composite
def owners(draw: st.DrawFn) -> list[Told]:
    """Some memories, and what happened to them."""
    told = [draw(memories(of)) for of in IDS[: draw(st.integers(1, len(IDS)))]]
    known = {one.data.memory_id for one in told if isinstance(one.data, MemoryCreated)}
    more = [one for one in draw(st.lists(changes, max_size=6)) if _names(one) <= known]
    return told + more


def _names(told: Told) -> set[str]:
    data = told.data
    found = {getattr(data, name, None) for name in ("memory_id", "a", "b")} | set(getattr(data, "sources", ()))
    return {one for one in found if isinstance(one, str)}


def some(values: Sequence[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True)


ANY: dict[str, st.SearchStrategy[Any]] = {
    "statuses": some(STATUSES),
    "levels": some(LEVELS),
    "trusts": some(TRUSTS_TOLD),
    "tiers": some(TIERS),
    "categories": some(CATEGORIES),
    "kinds": some((*KINDS, "unheard of")),
    "tags": some((*TAGS, "WORK_HOURS", "positive")),
    "sensitivities": some(SENSITIVITIES),
    "sources": some(SOURCES),
    "flags": some(FLAGS),
    "session": st.sampled_from(SESSIONS),
    "project": st.sampled_from(PROJECTS),
    "speaker": st.sampled_from([*SPEAKERS, "ana"]),
    "words": st.sampled_from(PARTS[:-1]),
    "min_weight": st.sampled_from([0, 0.3, 1.0]),
    "max_weight": st.sampled_from([1.0, 1.3, 5]),
    "trust": st.sampled_from(["imported", "inferred", "asserted"]),
    "since": st.just("2024-01-02"),
    "until": st.just("2024-01-20"),
    "updated_since": st.just("2024-01-03"),
    "updated_until": st.just("2024-02-10"),
}
"""Every filter of a list."""
OF_SEARCH = {"categories", "kinds", "tags", "session", "project", "speaker", "trust", "since", "until", "min_weight"}
asking = st.lists(st.sampled_from(sorted(ANY)), max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: ANY[name] for name in names})
)
NOW = at(70)


def told_of(view: OwnerView) -> dict[str, Row]:
    """What a list tells of each memory, whatever hides it."""
    page = listing(ViewQuery(view, NOW, "debug"), 100, 0)
    assert page["total"] == len(view)
    return {one["id"]: dict(one) for one in page["memories"]}


def holds(name: str, value: Any, row: Row, memory: Memory, view: OwnerView) -> bool:
    """Whether one filter lets a memory pass, read off what is told of it."""
    hidden = memory.sensitivity >= SECRET
    weight = view.law.read(memory, NOW, view.parameters).unclipped
    day = 86_400_000_000
    read: dict[str, Callable[[], bool]] = {
        "statuses": lambda: row["status"] in value,
        "levels": lambda: row["level"] in value,
        "trusts": lambda: row["trust"] in value,
        "tiers": lambda: row["tier"] in value,
        "categories": lambda: row["category"] in value,
        "kinds": lambda: row["kind"] in value,
        "tags": lambda: bool({one.casefold() for one in value} & {one.casefold() for one in row["context"]["tags"]}),
        "sensitivities": lambda: row["sensitivity"] in value,
        "sources": lambda: row["source"] in value,
        "flags": lambda: bool(flags_of(row) & set(value)),
        "session": lambda: not hidden and memory.session == value,
        "project": lambda: not hidden and memory.project == value,
        "speaker": lambda: row["speaker"] is not None and row["speaker"].casefold() == value.casefold(),
        "words": lambda: any(
            part_folded(value) in part_folded(text)
            for text in [
                memory.id,
                *([] if hidden else [memory.content, memory.summary or "", memory.compressed or ""]),
            ]
        ),
        "min_weight": lambda: weight >= value,
        "max_weight": lambda: weight <= value,
        "trust": lambda: memory.trust >= ["proposed", "imported", "inferred", "asserted"].index(value),
        "since": lambda: memory.created_at >= at(0) - 8 * day // 24 + day,
        "until": lambda: memory.created_at < at(0) - 8 * day // 24 + 20 * day,
        "updated_since": lambda: memory.updated_at >= at(0) - 8 * day // 24 + 2 * day,
        "updated_until": lambda: memory.updated_at < at(0) - 8 * day // 24 + 41 * day,
    }
    return read[name]()


def flags_of(row: Row) -> set[str]:
    found = {"conflicting"} if row.get("possible_conflicts") else set()
    found |= {"waiting"} if row["waiting"] or row["status"] == "proposed" else set()
    return found | ({"ground_changed"} if row.get("ground_changed") else set())


def matching(view: OwnerView, asked: dict[str, Any], but: str = "") -> list[Memory]:
    rows = told_of(view)
    return [
        memory
        for memory in view.columns
        if all(holds(name, value, rows[memory.id], memory, view) for name, value in asked.items() if name != but)
    ]


def shown_in(view: OwnerView, mode: Mode, law: str | None = None) -> set[str]:
    seen = seen_at(view, NOW, mode, None if law is None else LAWS[law])
    return {view.columns.memories[row].id for row in np.flatnonzero(seen.shown).tolist()}


@given(owners(), asking, st.sampled_from(MODES), st.sampled_from(SORTS), st.booleans())
@fuzzed
def test_a_list_has_what_every_filter_lets_pass_in_the_order_asked_for(
    told: list[Told], asked: dict[str, Any], mode: Mode, sort: str, descending: bool
) -> None:
    view = viewed(*told)
    answer = listing(ViewQuery(view, NOW, mode), 100, 0, wanted(view, asked), RowOrder(sort, descending))
    shown = shown_in(view, mode)
    expected = [one for one in matching(view, asked) if one.id in shown]
    keys: dict[str, Callable[[Memory], Any]] = {
        "activated": lambda one: one.last_activated_at,
        "created": lambda one: one.created_at,
        "updated": lambda one: one.updated_at,
        "weight": lambda one: float(seen_at(view, NOW, mode).weights[view.columns.row(one.id)]),
        "id": lambda one: one.id,
    }
    expected.sort(key=lambda one: (keys[sort](one), one.created_seq), reverse=descending)
    assert [one["id"] for one in answer["memories"]] == [one.id for one in expected]
    assert answer["total"] == len(expected)


@given(owners(), asking, st.sampled_from(MODES), st.integers(1, 3))
@fuzzed
def test_pages_hold_every_row_once(told: list[Told], asked: dict[str, Any], mode: Mode, size: int) -> None:
    view = viewed(*told)
    whole = listing(ViewQuery(view, NOW, mode), 100, 0, wanted(view, asked))
    pages = [
        listing(ViewQuery(view, NOW, mode), size, offset, wanted(view, asked))["memories"]
        for offset in range(0, whole["total"] + size, size)
    ]
    assert [one for page in pages for one in page] == whole["memories"]


FACETS: dict[str, tuple[str, Callable[[Row], set[str]]]] = {
    "by_status": ("statuses", lambda row: {row["status"]}),
    "by_level": ("levels", lambda row: {row["level"]}),
    "by_trust": ("trusts", lambda row: {row["trust"]}),
    "by_tier": ("tiers", lambda row: {row["tier"]}),
    "by_category": ("categories", lambda row: {row["category"]}),
    "by_sensitivity": ("sensitivities", lambda row: {str(row["sensitivity"])}),
    "by_source": ("sources", lambda row: {row["source"]}),
    "by_flag": ("flags", flags_of),
    "by_kind": ("kinds", lambda row: {row["kind"]}),
    "by_tag": ("tags", lambda row: {one.casefold() for one in row["context"]["tags"]}),
}
"""Facet -> its filter, and what of a row it counts."""


@given(owners(), asking, st.sampled_from(MODES))
@fuzzed
def test_each_facet_counts_what_all_other_filters_let_pass(told: list[Told], asked: dict[str, Any], mode: Mode) -> None:
    view = viewed(*told)
    answer: Row = dict(facets(ViewQuery(view, NOW, mode), wanted(view, asked)))
    rows, shown = told_of(view), shown_in(view, mode)
    for facet, (own, values) in FACETS.items():
        passing = [one for one in matching(view, asked, own) if one.id in shown]
        expected = Counter(value for one in passing for value in values(rows[one.id]))
        counted = {one["value"]: one["count"] for one in answer[facet]["counts"] if one["count"]}
        assert counted == dict(expected), facet
        assert answer[facet]["left_out"] == 0
    passing = matching(view, asked)
    assert answer["total"] == len([one for one in passing if one.id in shown])
    for law in answer["by_law"]["counts"]:
        assert law["count"] == len([one for one in passing if one.id in shown_in(view, "normal", law["value"])])


@given(owners(), asking.map(lambda asked: {name: asked[name] for name in asked if name in OF_SEARCH}))
@fuzzed
def test_a_filter_that_searches_have_too_lets_the_same_pass_but_for_secrets(
    told: list[Told], asked: dict[str, Any]
) -> None:
    view = viewed(*told)
    filters = wanted(view, asked).filters
    found = {one["id"] for one in listing(ViewQuery(view, NOW, "debug"), 100, 0, RowsWanted(filters))["memories"]}
    weights = seen_at(view, NOW, "debug").weights
    passing = Filter(view, filters, weights).passing(np.arange(len(view)))
    for row, memory in enumerate(view.columns):
        if memory.sensitivity < SECRET:
            assert (memory.id in found) == bool(passing[row])


@given(owners(), owners(), asking, st.sampled_from(MODES))
@fuzzed
def test_a_view_answers_alike_however_it_came_about(
    told: list[Told], more: list[Told], asked: dict[str, Any], mode: Mode
) -> None:
    more = [one for one in more if not isinstance(one.data, MemoryCreated) and _names(one) <= _made(told)]
    before, now = folded(*told), folded(*told, *more)
    asked_first = anew(before)
    everything(asked_first, {"words": "coffee", "tags": ["own"], "session": "s1"}, "debug")
    expected = everything(anew(now), asked, mode)
    assert everything(moved(asked_first, before, now), asked, mode) == expected


def _made(told: list[Told]) -> set[str]:
    return {one.data.memory_id for one in told if isinstance(one.data, MemoryCreated)}


def everything(view: OwnerView, asked: dict[str, Any], mode: Mode) -> tuple[Any, Any]:
    query = ViewQuery(view, NOW, mode)
    return listing(query, 100, 0, wanted(view, asked)), facets(query, wanted(view, asked))


@given(st.sets(st.text("abcdefghij", min_size=1, max_size=3), min_size=1, max_size=80))
@settings(max_examples=examples(40), deadline=None)
def test_of_an_open_list_the_values_of_the_most_memories_are_told(kinds: set[str]) -> None:
    told = [
        created("I like tea", f"{kind}-{number}", kind=kind)
        for at_, kind in enumerate(sorted(kinds))
        for number in range(1 + at_ % 3)
    ]
    view = viewed(*told)
    answer = facets(ViewQuery(view, at(1), "debug"), RowsWanted())["by_kind"]
    counts = Counter(one.kind for one in view.columns)
    expected = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    assert [(one["value"], one["count"]) for one in answer["counts"]] == expected[:MOST_VALUES]
    assert answer["left_out"] == max(len(expected) - MOST_VALUES, 0)


def wanted(view: OwnerView, asked: dict[str, Any]) -> RowsWanted:
    return wanted_of(asked, NOW, view.parameters.time_zone)
