"""The definition of the two time lines, held against every question over random late events.

The oracle is the plainest there is: it keeps events by the definition's own words, folds them from nothing, and reads the records
at the instant that the definition names. It has no kept moment, no past, no bisection and no parsing of ours: of the program it
uses `fold_owner`, and the readings of one view (list, search, why) that have tests of their own.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from engramlog_server.api.choices import ASKED_FOR
from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.events.envelope import Stored, decode, from_micros, micros, utc_text
from engramlog_server.events.errors import InputError, NotFound
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.fold.owner import OwnerHistory, fold_owner
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.reports.comparison import Side
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.acceptance.helpers.store import Store
from tests.examples import examples
from tests.given.events import (
    Told,
    accessed,
    asserted,
    at,
    created,
    in_conflict,
    linked,
    mentioned,
    merged,
    negated,
    parameters,
    profile,
    reinforced,
    revised,
    unmerged,
)
from tests.given.sides import side_standings

SLOW = settings(
    phases=[Phase.explicit, Phase.generate],  # to shrink a story that a store is told takes minutes
    deadline=None,
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
IDS = ("a", "b", "c", "d")
QUERY = "coffee 茶"
FAR_AHEAD = at(40_000)
ZONES = ("UTC", "Pacific/Kiritimati", "America/Los_Angeles", "Asia/Shanghai")


# --- what was told


ids = st.sampled_from(IDS)
days = st.integers(1, 40) | st.sampled_from([0.5, 10.25, 10.5, 33.999])
events = st.one_of(
    st.builds(
        created,
        st.sampled_from(["I like coffee", "我喜欢茶", "coffee and tea at the kiln", "I live in Paris"]),
        of=ids,
        day=days,
        keywords=st.sampled_from([(), ("coffee",), ("茶", "tea")]),
    ),
    st.builds(mentioned, ids, day=days),
    st.builds(negated, ids, day=days, resolution=st.sampled_from(["latest_wins", "version_keep", "weight_balance"])),
    st.builds(revised, st.sampled_from(["I love coffee", "我不喝茶"]), of=ids, day=days),
    st.builds(lambda one, day: accessed(one, day=day, count=3), ids, days),
    st.builds(reinforced, ids, day=days),
    st.builds(lambda day: merged("a", "b", into="x", day=day), days),
    st.builds(lambda day: unmerged("x", day=day), days),
    st.builds(linked, ids, ids, day=days),
    st.builds(in_conflict, st.just("a"), st.sampled_from(["b", "c"]), day=days),
    st.builds(asserted, ids, day=days),
    st.builds(profile, st.sampled_from(sorted(LAWS)), day=days),
)


class Log(NamedTuple):
    """An owner as the log holds it."""

    owner: str
    entries: list[Stored]
    secret: bytes
    zone: str
    """The one told last: the owner's clocks."""
    story: dict[int, Told]
    """What was told, by seq."""
    before: int | None
    """When the entry was recorded that stands before the first, somebody else's; None where nothing does."""

    def folded(self, kept: list[Stored]) -> OwnerHistory:
        places = {one.seq for one in self.entries}
        return fold_owner(kept, held=lambda position: int(position.split(":")[1]) in places, secret=self.secret)


def told(store: Store, data: st.DataObject, of: st.SearchStrategy[Told] = events) -> Log:
    owner, zone = store.owner(), data.draw(st.sampled_from(ZONES))
    story = [created("I like coffee", "a", day=data.draw(days)), *data.draw(st.lists(of, min_size=3, max_size=14))]
    story.insert(data.draw(st.integers(0, len(story))), parameters(0, time_zone=zone))
    whole = list(story)
    while story:  # what is told at once is recorded at one instant
        many = data.draw(st.integers(1, 6))
        store.tell(owner, *story[:many])
        del story[:many]
    partition = partition_of(owner, store.app.log.partitions)
    seqs = store.app.views.changelogs.seqs(owner)
    entries = store.app.log.read_at(partition, seqs)
    return Log(
        owner,
        list(entries),
        store.app.log.secrets_of([owner]).get(owner, b""),
        zone,
        dict(zip(seqs, whole, strict=True)),
        store.app.log.read_at(partition, [seqs[0] - 1])[0].recorded if seqs[0] > 1 else None,
    )


# --- the definition


class Asked(NamedTuple):
    """What is asked of time, and what that means."""

    times: dict[str, Any]
    kept: list[Stored]
    now: int | None
    """None: the newest `occurred_at` among what counts."""


def happened(one: Stored) -> int:
    return micros(decode(one.kind, one.body).occurred_at)


def recorded(one: Stored) -> int:
    return int(one.beside[0])


def end_of(day: date, zone: str) -> int:
    """The last microsecond of a day by the clocks of a zone."""
    after = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(zone))
    return micros(after.astimezone(UTC)) - 1


def place(data: st.DataObject, log: Log, of: Any) -> tuple[str | None, int | None, int | None]:
    """A moment as it is asked for, and what it means: an instant, or a seq."""
    moments = sorted({of(one) for one in log.entries})
    kind = data.draw(st.sampled_from(["none", "instant", "edge", "day", "position"]))
    if kind == "none":
        return None, None, None
    if kind == "position":
        seqs = [one.seq for one in log.entries]
        seq = data.draw(st.sampled_from([seqs[0] - 1, *seqs]))
        return f"{partition_of(log.owner, 16)}:{seq}", None, seq
    if kind == "edge":
        instant = data.draw(st.sampled_from([moments[0] - 1, moments[-1] + 3_600_000_000, FAR_AHEAD]))
        return utc_text(from_micros(instant)), instant, None
    near = data.draw(st.sampled_from(moments)) + data.draw(st.sampled_from([-1, 0, 1]))
    if kind == "instant":
        return utc_text(from_micros(near)), near, None
    day = from_micros(near).astimezone(ZoneInfo(log.zone)).date() + timedelta(days=data.draw(st.sampled_from([-1, 0])))
    return day.isoformat(), end_of(day, log.zone), None


def asked_of(data: st.DataObject, log: Log) -> Asked:
    return meant(log, place(data, log, happened), place(data, log, recorded))


Place = tuple[str | None, int | None, int | None]


def meant(log: Log, as_of_place: Place, known_place: Place) -> Asked:
    """What a question with these two places in time is answered from, in the words of docs/explanation/time-lines.md."""
    (as_of, by, upto), (known, known_by, known_upto) = as_of_place, known_place
    kept = [
        one
        for one in log.entries
        if (by is None or happened(one) <= by)
        and (upto is None or one.seq <= upto)
        and (known_by is None or recorded(one) <= known_by)
        and (known_upto is None or one.seq <= known_upto)
    ]
    now: int | None = by  # `as_of` alone or with `known`: weights at it; at a position: at the newest among what counts
    if as_of is None and known is not None:
        now = (
            known_by
            if known_upto is None
            else {one.seq: recorded(one) for one in log.entries}.get(known_upto, log.before)
        )
    return Asked({"as_of": as_of, "known": known}, kept, now)


def weight_of(memory: Memory, view: OwnerView, now: int) -> float:
    return round(view.law.read(memory, now, view.parameters).weight, 6)


@SLOW
@given(data=st.data())
def test_every_question_answers_from_what_the_definition_keeps_at_the_instant_that_it_names(
    store: Store, data: st.DataObject
) -> None:
    log = told(store, data)
    for _ in range(3):
        asked = asked_of(data, log)
        if asked.times == {"as_of": None, "known": None}:
            continue
        history = log.folded(asked.kept)
        newest = max((happened(one) for one in asked.kept), default=0)
        now = newest if asked.now is None else asked.now
        at_told = data.draw(st.none() | st.sampled_from([at(20), at(200), at(-1)]))
        weighed_at = now if at_told is None else at_told
        times = asked.times | {"at": None if at_told is None else utc_text(from_micros(at_told))}
        view = OwnerView(log.owner, history.owner, history.memories.values())
        check_memories(store, log.owner, view, weighed_at, times)
        check_owner(store, log, view, history, asked.kept, weighed_at, times)
        check_prompt(store, log, asked.kept, now, asked.times)


def check_memories(store: Store, owner: str, view: OwnerView, now: int, times: dict[str, Any]) -> None:
    """list, search, get and why: the same memories with the same weights in the same order."""
    for mode in ("normal", "review", "debug"):
        expected = listing(ViewQuery(view, now, mode), 100, 0)  # type: ignore[arg-type]
        found = store.reader.list(owner, mode=mode, limit=100, **times)
        assert found["memories"] == expected["memories"]
        assert (found["total"], found["withheld"]) == (expected["total"], expected["withheld"])
        for ranking in ("conversation", "published"):
            hits = search(ViewQuery(view, now, mode), QUERY, 50, SearchRequest(ranking))  # type: ignore[arg-type]
            answer = store.reader.search(owner, QUERY, mode=mode, limit=50, ranking=ranking, trace=False, **times)
            assert answer["results"] == hits["results"]
            assert (answer["total"], answer["withheld"]) == (hits["total"], hits["withheld"])
    by_activation = sorted(view.columns, key=lambda one: -one.last_activated_at)
    everything = store.reader.list(owner, mode="debug", limit=100, **times)["memories"]
    assert [one["last_activated_at"] for one in everything] == [
        utc_text(from_micros(one.last_activated_at)) for one in by_activation
    ]
    for memory in view.columns:
        told = store.reader.get(owner, memory.id, trace=False, **times)
        assert (told["content"], told["weight"]) == (memory.content, weight_of(memory, view, now))
        assert (told["version"], told["access_count"], told["is_negated"]) == (
            memory.version,
            memory.access_count,
            memory.is_negated,
        )
        assert store.reader.why(owner, memory.id, **times)["weight"] == told["weight"]
    for name in set(IDS) - {memory.id for memory in view.columns}:
        with pytest.raises(NotFound):
            store.reader.get(owner, name, trace=False, **times)


def check_owner(
    store: Store, log: Log, view: OwnerView, history: OwnerHistory, kept: list[Stored], now: int, times: dict[str, Any]
) -> None:
    """stats, history, facts, export and compare."""
    owner, lines = log.owner, {name: times[name] for name in ("as_of", "known")}
    counts = store.operator.stats(owner, **times)
    weights = [view.law.read(one, now, view.parameters).unclipped for one in view.columns]
    assert (counts["events"], counts["memories"]) == (len(kept), len(history.memories))
    assert counts["profile"] == history.owner.profile
    if weights:
        assert counts["mean_weight"] == pytest.approx(sum(weights) / len(weights), abs=1e-5)

    changes = store.reader.history(owner, **lines)["changes"]
    assert [(int(one["position"].split(":")[1]), one["memory"] or "") for one in changes] == [
        (entry.seq, entry.memory_id) for entry in history.entries
    ]
    assert [one["new_weight"] for one in changes] == [entry.new_weight for entry in history.entries]

    facts = store.app.facts.facts(owner, **lines)["facts"]
    assert [(one["subject"], one["object"], one["backing"]) for one in facts] == [
        (one.subject, one.object, list(one.backing)) for one in view.graph.triples
    ]

    exported = store.app.records.export(owner, ExportOptions(include=ASKED_FOR), **lines)
    assert {line["memory_id"]: line["content"] for line in exported.records()} == {
        one.id: one.content for one in view.columns
    }

    compared = store.app.comparer.compare(owner, limit=100, **times)
    assert compared["instant"] == utc_text(from_micros(now))
    for line in compared["memories"]:
        memory = view.get(line["id"])
        assert memory is not None
        for name, standing in line["laws"].items():
            reading = LAWS[name].read(memory, now, view.parameters)
            assert standing["weight"] == pytest.approx(reading.unclipped, abs=1e-5)


def check_prompt(store: Store, log: Log, kept: list[Stored], now: int, lines: dict[str, Any]) -> None:
    """What stands in a prompt is what stands there of an owner to whom nothing else ever happened, asked of that instant."""
    if not kept:
        return
    twin = store.owner()
    store.tell(twin, *(log.story[one.seq] for one in kept))
    block = store.app.contexts.context(log.owner, QUERY, trace=False, **lines)
    alone = store.app.contexts.context(twin, QUERY, trace=False, as_of=utc_text(from_micros(now)))
    assert (block["block"], block["injected"], block["left_out"]) == (
        alone["block"],
        alone["injected"],
        alone["left_out"],
    )


@SLOW
@given(data=st.data())
def test_a_diff_tells_the_two_answers_that_the_definition_gives_and_the_events_of_one_alone(
    store: Store, data: st.DataObject
) -> None:
    log, line = told(store, data), data.draw(st.sampled_from(["known", "happened"]))
    of = recorded if line == "known" else happened
    held = place(data, log, happened if line == "known" else recorded)
    places = [place(data, log, of) for _ in range(2)]
    if places[0][0] is None or places[1][0] is None:
        return
    order: dict[bool, Any] = {True: lambda one: meant(log, held, one), False: lambda one: meant(log, one, held)}
    first, second = (order[line == "known"](one) for one in places)
    other = {"as_of" if line == "known" else "known": held[0]}
    ask = {"since": places[0][0], "until": places[1][0], "line": line, "everything": True, "limit": 1_000, **other}
    mode = data.draw(st.sampled_from(["normal", "review", "debug"]))
    one_of_each = (places[0][1] is None) != (places[1][1] is None)
    if not one_of_each and (places[0][1] or places[0][2] or 0) > (places[1][1] or places[1][2] or 0):
        with pytest.raises(InputError, match=r"^since: "):
            store.app.differ.diff(log.owner, mode=mode, **ask)
        return
    try:
        answer = store.app.differ.diff(log.owner, mode=mode, **ask)
    except InputError as error:
        assert one_of_each, error
        return
    sides = [side_of(log, one) for one in (first, second)]
    here, there = (side_standings(one, mode) for one in sides)  # type: ignore[arg-type]
    found = {one["id"]: one for one in answer["memories"]}
    assert {name for name in {*here, *there} if here.get(name) != there.get(name)} <= set(found)
    for name, one in found.items():
        assert (one["before"], one["after"]) == (here.get(name), there.get(name))
    alone = {one.seq for one in first.kept} ^ {one.seq for one in second.kept}
    causes = [int(cause["position"].split(":")[1]) for one in found.values() for cause in one["causes"]]
    assert set(causes) <= alone
    for name, one in found.items():
        about = [cause for cause in one["causes"] if cause["memory"] == name]
        assert not about or one["cause"] in ("events", "access")
        if one["cause"] == "time":
            assert sides[0].view.get(name) == sides[1].view.get(name)
    assert (answer["before"]["events"], answer["after"]["events"]) == (len(first.kept), len(second.kept))


def side_of(log: Log, asked: Asked) -> Side:
    history = log.folded(asked.kept)
    newest = max((happened(one) for one in asked.kept), default=0)
    return Side(
        OwnerView(log.owner, history.owner, history.memories.values()), newest if asked.now is None else asked.now
    )
