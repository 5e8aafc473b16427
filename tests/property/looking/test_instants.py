"""What is told of many instants at once is what a view of each tells: weights, what is shown, why not, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.envelope import Stored, decode, micros
from engramlog_server.projections.fold.owner import OwnerHistory, fold_owner
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.modes import MODES, Mode
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import DAY
from engramlog_server.projections.memory.timelines import Lines
from engramlog_server.projections.past.life import EventKin
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import FOLLOWING, SearchRequest
from engramlog_server.projections.reports.instants import (
    ORDERS,
    WEIGHT,
    InstantStep,
    Moving,
    RowsAsked,
    Track,
    held_scores,
    sheet_of,
)
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery, detail, seen_at
from engramlog_server.projections.views.quoting import hidden_in
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import Told, at, created, in_session, mentioned, negated, profile, rejected, secret_of, stored
from tests.given.histories import histories
from tests.given.search_stories import TEXTS, later, others, stories

QUICK = settings(deadline=None, max_examples=examples(120), suppress_health_check=[HealthCheck.too_slow])
SECRET = secret_of("ada")
GAPS = st.lists(st.sampled_from([0, 0, 1, DAY]), min_size=80, max_size=80)
NOW = 41
BEGAN = at(100)
"""When the first was recorded; after all that happened, so that whatever came out of order came late."""


class Log(NamedTuple):
    """An owner's entries, each recorded at a time of its own, and its records today."""

    entries: list[Stored]

    def folded(self, lines: Lines) -> OwnerHistory:
        return fold_owner(self.entries, keep=lines.counts, held=lambda _: False, secret=SECRET)

    def view(self, lines: Lines) -> OwnerView:
        """As a question about these lines finds the owner, with what is hidden today."""
        today = OwnerView.of_history("ada", self.folded(Lines()))
        return OwnerView.of_history("ada", self.folded(lines), today=list(today.columns))

    def sheet(
        self,
        ids: Sequence[str],
        line: Callable[[Stored], int],
        instants: Sequence[int],
        law: str | None,
        asked: RowsAsked,
    ) -> dict[str, Track]:
        kin = EventKin()
        list(kin.look(self.entries))
        events = kin.of(ids)
        today = OwnerView.of_history("ada", self.folded(Lines()))
        moving = Moving("ada", [one.told for one in events], hidden_in(today.columns), law)
        done, steps = set[int](), list[InstantStep]()
        for instant in instants:
            new = [n for n, one in enumerate(events) if n not in done and line(one.stored) <= instant]
            done.update(new)
            steps.append(InstantStep(new, instant))
        return dict(sheet_of(moving, steps, asked).tracks)


def recorded(one: Stored) -> int:
    return one.recorded


def happened(one: Stored) -> int:
    return micros(decode(one.kind, one.body).occurred_at)


LINES: dict[str, tuple[Callable[[Stored], int], Callable[[int], Lines]]] = {
    "happened": (happened, lambda instant: Lines(happened=instant)),
    "known": (recorded, lambda instant: Lines(recorded=instant)),
}


def by_lower(told: Told) -> Told:
    """The same, told by a lower source."""
    return replace(told, extra={**told.extra, "trust": "inferred"})


def turn(of: str, text: str, day: float, session: str) -> Told:
    return in_session(created(text, of, day, kind="episode", source_turns=(of,)), session)


def drawn(text: str, of: str, day: float, turns: tuple[str, ...]) -> Told:
    return created(text, of, day, "system", source="judge", source_turns=turns)


TURNS = st.sampled_from(["t0", "t1", "t2"])
ids = st.sampled_from(["s0", "s1", "s2", "t0", "t1", "e0"])
talked = st.one_of(
    st.builds(drawn, st.sampled_from(TEXTS), st.sampled_from(["s0", "s1", "s2"]), later, st.tuples(TURNS)),
    st.builds(
        lambda turns, day: created("tea and coffee", "e0", day, "system", kind="episode", tier="episode", **turns),
        st.sampled_from([{"source_turns": ("t0", "t1"), "source": "system"}, {"summarises": ("t0", "t1")}]),
        later,
    ),
    st.builds(lambda of, day, turn: negated(of, day, resolution="latest_wins", turn_id=turn), ids, later, TURNS),
    st.builds(lambda of, day: by_lower(mentioned(of, day)), ids, later),
    st.builds(lambda of, day: by_lower(negated(of, day)), ids, later),
    st.builds(lambda text, day: rejected(text, day=day), st.sampled_from(TEXTS), later),
    others,
)


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Any history, much of which came late, under any law at first."""
    kind = draw(st.sampled_from(["any", "search", "talk"]))
    if kind == "any":
        told: list[Told] = draw(histories)
    elif kind == "search":
        told = [*draw(stories()), *draw(st.lists(others, max_size=8))]
    else:
        turns = [turn(f"t{number}", text, number, f"s{1 + number % 2}") for number, text in enumerate(TEXTS)]
        told = [*turns, *draw(st.lists(talked, min_size=2, max_size=12))]
    told = [profile(draw(st.sampled_from(sorted(LAWS)))), *told]
    if draw(st.booleans()):
        told = draw(st.permutations(told))
    entries, now = list[Stored](), BEGAN
    for one, gap in zip(stored(told[:60]), draw(GAPS), strict=False):
        now += gap
        entries.append(one._replace(beside=(b"%d" % now, b"local", b"0:0", one.beside[3], bytes(32))))
    return Log(entries)


def instants_for(draw: Any, line: str) -> list[int]:
    begin = at(0) if line == "happened" else BEGAN
    found = draw(st.lists(st.integers(-1, 420) | st.sampled_from([0.5, 10.25, 79.5]), min_size=2, max_size=6))
    return sorted(begin + round(one * DAY) for one in found)


def told_of(view: OwnerView, memory_id: str, now: int) -> float | None:
    memory = view.get(memory_id)
    if memory is None or memory.purged_at is not None:
        return None
    return detail(view, memory, now)["weight"]


def reason_of(view: OwnerView, memory_id: str, now: int, mode: Mode) -> int | None:
    row = view.columns.row(memory_id)
    reason = -1 if row is None else int(seen_at(view, now, mode).reasons[row])
    return None if reason < 0 else reason


def order_of(view: OwnerView, ids: Sequence[str], now: int, mode: Mode, order: str) -> list[str]:
    """As `list` has them, or by the weight that thresholds read; but for tombstones, of which no weight is told."""
    names = [one["id"] for one in listing(ViewQuery(view, now, mode), 1_000, 0)["memories"] if one["id"] in ids]
    names = [one for one in names if view.columns.state[cast("int", view.columns.row(one))] != Columns.PURGED]
    if order == WEIGHT:
        weights = seen_at(view, now, mode).weights
        names.sort(key=lambda one: -weights[cast("int", view.columns.row(one))])
    return names


def ranked(tracks: dict[str, Track], number: int) -> list[str]:
    places = {track.ranks[number]: name for name, track in tracks.items() if track.ranks[number] is not None}
    assert sorted(cast("Any", places)) == list(range(1, len(places) + 1))
    return [places[rank] for rank in sorted(cast("Any", places))]


@QUICK
@given(logs(), st.sampled_from(sorted(LINES)), st.sampled_from(MODES), st.sampled_from(ORDERS), st.data())
def test_every_row_at_every_instant_is_what_a_view_of_that_instant_tells(
    log: Log, line: str, mode: Mode, order: str, data: st.DataObject
) -> None:
    every = [memory.id for memory in log.view(Lines()).columns] or ["a"]
    ids = data.draw(st.lists(st.sampled_from([*every, "nobody"]), min_size=1, max_size=5, unique=True))
    instants = instants_for(data.draw, line)
    time_of, lines_of = LINES[line]
    tracks = log.sheet(ids, time_of, instants, None, RowsAsked(ids, mode, order))
    for number, instant in enumerate(instants):
        view = log.view(lines_of(instant))
        for name in ids:
            assert tracks[name].weights[number] == told_of(view, name, instant)
            assert tracks[name].withheld[number] == reason_of(view, name, instant, mode)
        assert ranked(tracks, number) == order_of(view, ids, instant, mode, order)


@QUICK
@given(logs(), st.sampled_from(sorted(LAWS)), st.data())
def test_another_law_reads_the_same_records_at_every_instant(log: Log, law: str, data: st.DataObject) -> None:
    ids = [memory.id for memory in log.view(Lines()).columns][:6] or ["a"]
    instants = instants_for(data.draw, "happened")
    tracks = log.sheet(ids, happened, instants, law, RowsAsked(ids, "review"))
    for number, instant in enumerate(instants):
        view = log.view(Lines(happened=instant))
        for name in ids:
            memory = view.get(name)
            if memory is not None and memory.purged_at is None:
                told = LAWS[law].read(memory, instant, view.parameters)
                assert tracks[name].weights[number] == round(told.weight, 6)


@QUICK
@given(logs(), st.sampled_from(FOLLOWING), st.sampled_from(MODES), st.data())
def test_at_the_place_of_a_question_ranks_and_scores_are_those_of_its_search(
    log: Log, ranking: str, mode: Mode, data: st.DataObject
) -> None:
    told = [one for one in log.entries if b'"content"' in one.body]
    contents = [getattr(decode(one.kind, one.body).data, "content", "") or "tea" for one in told] or ["tea"]
    query = data.draw(st.sampled_from([*contents, *TEXTS]))
    instant, view = at(NOW), log.view(Lines(happened=at(NOW)))
    asked, request = ViewQuery(view, instant, mode), SearchRequest(ranking, "keyword", reasons=False)
    others = [memory.id for memory in view.columns][:4]
    held = held_scores(asked, query, request, None, 3, others)
    ids = list(dict.fromkeys([*held.best, *others]))
    tracks = log.sheet(ids, happened, [at(3), instant], None, RowsAsked(ids, mode, held=held))
    found = [one for one in search(asked, query, 100, request)["results"] if one["id"] in ids]
    purged = [one["id"] for one in found if (memory := view.get(one["id"])) is None or memory.purged_at is not None]
    found = [one for one in found if one["id"] not in purged]
    assert list(held.best) == [one["id"] for one in search(asked, query, 3, request)["results"]]
    assert ranked(tracks, 1) == [one["id"] for one in found]
    assert [tracks[one["id"]].scores[1] for one in found] == [one["score"] for one in found]
