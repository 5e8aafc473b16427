"""Both time lines on every question that takes them, against an owner to whom nothing else ever happened.

The events that count are chosen by docs/explanation/time-lines.md and given, in order, to a second owner, its twin. What the one
answers about the past, the twin answers about the present: no kept moment, no fold of a past, no bisection and no bound is
between the two. The list is complete: a question of a service that takes the lines and is in no table here fails the test at the
end; routes, commands and verbs are asked in `faces/test_known.py`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.choices import ASKED_FOR
from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.catalogue import MemoriesAccessed, SynonymDefined
from engramlog_server.events.envelope import Stored, decode, from_micros, utc_text
from engramlog_server.events.errors import InputError, NotFound
from engramlog_server.projections.redis.history import EVENTS_WORTH, MomentLimits
from tests.acceptance.helpers.store import Store
from tests.given.client import Service
from tests.given.events import (
    Told,
    at,
    brought_back,
    created,
    deleted,
    graded,
    in_session,
    mentioned,
    negated,
    profile,
    restored,
    set_aside,
)
from tests.given.said import injected, said
from tests.integration.api.auditing.test_lines_of_every_question import (
    IDS,
    QUERY,
    SLOW,
    Log,
    asked_of,
    days,
    events,
    happened,
    ids,
    told,
)
from tests.rows import each_row

EAGER_MOMENTS = MomentLimits(least=1, fold=1, every=2, before=6, behind=1)
"""Owners of few events keep moments too, so that a question begins at what another one left."""
LATER = "2100-01-01T00:00:00Z"
TURNS = ("t1", "t2", "t3")
turns = st.sampled_from(TURNS)
sessions = st.sampled_from(["s1", "s2"])
more = st.one_of(
    st.builds(lambda turn, day: said(turn, f"I like coffee, said in {turn}", day=day, session="s1"), turns, days),
    st.builds(
        lambda turn, day: said(f"r-{turn}", "Noted", "assistant", day=day, session="s1", reply_to=turn), turns, days
    ),
    st.builds(lambda one, turn, day: injected(one, turn_id=turn, day=day), ids, turns, days),
    st.builds(
        lambda word, synonym, similarity, day: Told(
            SynonymDefined(keyword=word, synonym=synonym, similarity=similarity), day
        ),
        st.sampled_from(["coffee", "kiln"]),
        st.sampled_from(["茶", "mocha", "Paris"]),
        st.sampled_from([0.0, 0.6, 0.9]),
        days,
    ),
    st.builds(lambda one, day: Told(created("Ada likes water", one).data, day, "assistant"), ids, days),
    st.builds(lambda one, day: Told(negated(one).data, day, "assistant"), ids, days),
    st.builds(graded, ids, day=days, grade=st.integers(0, 5)),
    st.builds(in_session, events, sessions),
)
aside = st.one_of(
    st.builds(set_aside, sessions, day=days),
    st.builds(brought_back, sessions, day=days),
    st.builds(deleted, ids, day=days),
    st.builds(restored, ids, day=days),
)
"""What is judged today too, by questions that show what was said."""


# --- the questions


class Asking(NamedTuple):
    """One of the two, and when it is asked about."""

    store: Store
    owner: str
    lines: dict[str, Any]
    """The two lines; none of the twin, of whom all that is there counts."""
    at: dict[str, Any]
    """The same, with the instant of the weights."""
    now: str
    """The instant of the weights where none is told."""


Question = Callable[[Asking], Any]


def of_each(ask: Callable[[Asking, str], Any], names: tuple[str, ...] = IDS) -> Question:
    """The same question about each of these; that one is not there is an answer too."""

    def asked(one: Asking) -> Any:
        answers = {}
        for name in names:
            try:
                answers[name] = ask(one, name)
            except NotFound:
                answers[name] = None
        return answers

    return asked


def pages(one: Asking, **asked: Any) -> list[Any]:
    """A search in pages of two."""
    found, cursor = [], None
    while True:
        page = one.store.reader.search(one.owner, QUERY, limit=2, cursor=cursor, trace=False, **asked, **one.at)
        found += page["results"]
        cursor = page.get("next")
        if cursor is None:
            return [*found, page["total"]]


def exported(one: Asking, **options: Any) -> Any:
    found = one.store.app.records.export(one.owner, ExportOptions(include=ASKED_FOR, **options), **one.lines)
    told = [orjson.loads(line) for line in b"".join(found.pieces()).splitlines()]
    if found.everything is not None:
        assert told[0].pop("instant") == one.now or not one.lines
        told[-1].pop("sha256")
    return told, found.left_out


def logged(one: Asking) -> Any:
    found, cursor = [], None
    while True:
        page = one.store.app.events.events(one.owner, limit=5, cursor=cursor, **one.lines)
        found += page["events"]
        cursor = page["next"]
        if cursor is None:
            return found


def replayed(one: Asking, **struck: Any) -> Any:
    """A refusal is an answer too: what is to be struck must have been there."""
    try:
        answer = one.store.replayer.replay(one.owner, queries=[QUERY], mode="debug", limit=20, **struck, **one.at)
    except InputError as refusal:
        return refusal.context["field"]
    found = one.store.reader.search(one.owner, QUERY, mode="debug", limit=20, trace=False, **one.at)["results"]
    assert answer["questions"][0]["before"] == [each["id"] for each in found]
    assert struck or answer["questions"][0]["after"] == answer["questions"][0]["before"]
    return answer


def first_two(one: Asking) -> Any:
    shown = [each["id"] for each in one.store.reader.list(one.owner, mode="debug", **one.at)["memories"]][:2]
    if len(shown) < 2:
        return None
    ask = one.store.app.reader.why
    return ask(one.owner, shown[0], above=shown[1], query=QUERY, mode="debug", **one.at)["above"]


HELD: dict[str, Question] = {
    "reader.search": lambda one: [pages(one, mode=mode) for mode in ("normal", "review", "debug")],
    "reader.list": lambda one: [one.store.reader.list(one.owner, mode=m, **one.at) for m in ("normal", "debug")],
    "reader.get": of_each(lambda one, name: one.store.reader.get(one.owner, name, trace=False, **one.at)),
    "reader.why": lambda one: [
        of_each(lambda each, name: each.store.reader.why(each.owner, name, **each.at))(one),
        first_two(one),
    ],
    "reader.provenance": of_each(lambda one, name: one.store.reader.provenance(one.owner, name, **one.lines)),
    "reader.history": lambda one: [
        one.store.reader.history(one.owner, **one.lines)["changes"],
        of_each(lambda each, name: each.store.reader.history(each.owner, name, **each.lines)["changes"])(one),
        one.store.reader.history(one.owner, law="ebbinghaus", **one.lines)["changes"],
    ],
    "knower.assess": lambda one: one.store.app.knower.assess(one.owner, "coffee", **one.at),
    "knower.map": lambda one: one.store.app.knower.map(one.owner, "coffee", mode="review", **one.at),
    "knower.associations": of_each(
        lambda one, name: one.store.app.knower.associations(one.owner, name, depth=2, **one.at)
    ),
    "time_lines.times": lambda one: [
        one.store.app.time_lines.times(one.owner, groups=True, **one.lines),
        one.store.app.time_lines.times(one.owner, buckets=7, since=utc_text(from_micros(at(5))), **one.lines),
    ],
    "facts.facts": lambda one: one.store.app.facts.facts(one.owner, **one.lines),
    "synonyms.synonyms": lambda one: one.store.app.synonyms.synonyms(one.owner, of="coffee", **one.lines),
    "sources.asides": lambda one: one.store.app.sources.asides(one.owner, **one.lines),
    "living.health": lambda one: one.store.app.living.health(one.owner, **one.at),
    "living.fading": lambda one: one.store.app.living.fading(one.owner, **one.at),
    "living.review": lambda one: one.store.app.living.review(one.owner, min_importance=0, limit=100, **one.at),
    "living.profile": lambda one: one.store.app.living.profile(one.owner, **one.lines),
    "owner_heads.heads": lambda one: one.store.app.owner_heads.heads(one.owner, **one.lines),
    "inbox.page": lambda one: one.store.app.inbox.page(one.owner, **one.lines),
    "counter.counts": lambda one: [
        one.store.app.counter.counts(one.owner, mode=mode, words="coffee", **one.at) for mode in ("normal", "debug")
    ],
    "operator.stats": lambda one: one.store.operator.stats(one.owner, **one.at),
    "comparer.compare": lambda one: one.store.app.comparer.compare(one.owner, limit=100, **one.at),
    "comparer.curves": of_each(
        lambda one, name: one.store.app.comparer.curves(
            one.owner, name, until=max(one.now, utc_text(from_micros(at(60)))), points=9, **one.lines
        )
    ),
    "replayer.replay": lambda one: [replayed(one), replayed(one, without_sessions=["s2"])],
    "records.export": exported,
}
JUDGED_TODAY: dict[str, Question] = {
    "events.events": logged,
    "named_sources.sources": lambda one: one.store.app.named_sources.sources(one.owner, limit=1_000, **one.lines),
    "contexts.context": lambda one: one.store.app.contexts.context(
        one.owner, QUERY, session="s1", trace=False, **(one.lines or {"as_of": one.now})
    ),
    "answers.uses": of_each(lambda one, name: one.store.app.answers.uses(one.owner, name, **one.lines)),
    "answers.answers": lambda one: one.store.app.answers.answers(one.owner, **one.lines),
    "answers.answer": of_each(lambda one, turn: one.store.app.answers.answer(one.owner, turn, **one.lines), TURNS),
    "records.export": lambda one: [exported(one), exported(one, everything=True)],
}
"""These tell no word that was deleted or set aside since: they are asked where nothing was."""
ELSEWHERE = {
    "keys.access": "has one line: what is said of access happens as it is recorded",
    "differ.diff": "has two moments: `test_lines_of_every_question` holds it to the definition",
    "events.partition_events": "is everybody's: `test_the_events_of_a_partition_are_a_list_that_is_filtered`",
    "reader.history_pages": "walks the pages of `reader.history`",
    "reader.looked_at": "is what `reader.get` asks",
    "reader.snapshot": "is what all questions are asked of",
    "reader.glance": "is of the present alone",
    "reader.question_of": "tells no memory: it is the question of `reader.search`, and of the others that compare by meaning",
    "revealer.get": "is `reader.looked_at`, and records each look: it would be told of itself",
    "reader.stands_out": "compares meanings, which this store does not",
    "revealer.export": "is `records.export`, and records each look",
}

# --- the same answer


def name_of(one: Stored) -> str:
    return decode(one.kind, one.body).event_id


APART = frozenset(
    {
        "as_of",
        "known",
        "known_by",
        "at",
        "after",
        "position",
        "partition",
        "behind",
        "head",
        "chain",
        "quarantined",
        "principal",
    }
    | {"next", "follow", "cursor", "looked", "looked_to", "moments", "recorded", "recorded_at", "late_by"}
    | {"first_recorded", "last_recorded", "hint", "on_other_line"}
    | {"bytes", "content_hash"}
)
"""What tells which owner, which question and which log it is of, at any depth; positions of events are kept under other names."""

AS_TODAY = frozenset({"status", "trust_today", "since"})
"""Of a memory that an answer was made with: how it stands today, whatever time is asked about."""


def plain(answer: Any, names: dict[str, str], *, within: str = "") -> Any:
    """An answer with events called by their number, so that the two can be laid beside each other."""
    if isinstance(answer, dict):
        keeps_position = within in ("changes", "events", "differences", "struck", "stays")
        return {
            name: plain(value, names, within=name)
            for name, value in answer.items()
            if not (within == "injected_memories" and name in AS_TODAY)
            and (
                name not in APART or (name == "position" and keeps_position) or (name == "at" and "as_of" not in answer)
            )
        }
    if isinstance(answer, list | tuple):
        return [plain(one, names, within=within) for one in answer]
    if isinstance(answer, str):
        return names.get(answer) or re.sub(r"owner-\d+", "owner", answer)
    return answer


def unlike(one: Any, other: Any, where: str = "") -> list[str]:
    """Where two answers differ."""
    if type(one) is type(other) and isinstance(one, dict) and one.keys() == other.keys():
        return [found for name in one for found in unlike(one[name], other[name], f"{where}.{name}")]
    if type(one) is type(other) and isinstance(one, list) and len(one) == len(other):
        return [
            found
            for number, pair in enumerate(zip(one, other, strict=True))
            for found in unlike(*pair, f"{where}[{number}]")
        ]
    return [] if one == other else [f"{where}: {one!r} != {other!r}"]


def names_of(partition: int, entries: list[Stored]) -> dict[str, str]:
    return {
        called: f"event {number}"
        for number, one in enumerate(entries)
        for called in (name_of(one), f"{partition}:{one.seq}")
    }


def twin_of(store: Store, log: Log, kept: list[Stored]) -> Log:
    owner = store.owner()
    if kept:
        store.tell(owner, *(log.story[one.seq] for one in kept))
    entries = store.app.log.read_at(partition_of(store, owner), store.app.views.changelogs.seqs(owner))
    return Log(owner, list(entries), b"", log.zone, {}, None)


def partition_of(store: Store, owner: str) -> int:
    return store.reader.partition_of(owner)


def handed_out_more(log: Log, kept: list[Stored]) -> bool:
    """Whether a block that counts was made when an event was recorded that does not count: it is made again as it was, of both."""
    places = {one.seq for one in kept}
    blocks = [seq for seq in places if isinstance(log.story[seq].data, MemoriesAccessed)]
    return any(one.seq < max(blocks, default=0) and one.seq not in places for one in log.entries)


def agree(
    store: Store, log: Log, kept: list[Stored], now: int, lines: dict[str, Any], instant_text: str | None
) -> None:
    """Whether both answer alike whatever is asked."""
    twin = twin_of(store, log, kept)
    weighed = instant_text or utc_text(from_micros(now))
    past = Asking(store, log.owner, lines, lines | {"at": instant_text}, utc_text(from_micros(now)))
    alone = Asking(store, twin.owner, {}, {"at": weighed}, past.now)
    mine = names_of(partition_of(store, log.owner), kept)
    its = names_of(partition_of(store, twin.owner), twin.entries)
    beside = {type(one.data).__name__ for one in log.story.values()} & {"MemoryDeleted", "SourceSetAside"}
    asked = dict(HELD if beside else HELD | JUDGED_TODAY)
    if handed_out_more(log, kept):
        asked.pop("answers.answer", None)
    for name, ask in asked.items():
        assert not unlike(plain(ask(past), mine), plain(ask(alone), its), name)


@SLOW
@given(data=st.data())
def test_what_is_asked_of_the_past_is_what_an_owner_answers_to_whom_nothing_else_happened(
    store: Store, data: st.DataObject
) -> None:
    log = told(store, data, st.one_of(events, more, data.draw(st.sampled_from([more, aside]))))
    store.app.views.moments.limits = data.draw(st.sampled_from([MomentLimits(), EAGER_MOMENTS]))
    store.app.views.moments.worth = data.draw(st.sampled_from([1, EVENTS_WORTH]))
    for _ in range(3):
        asked = asked_of(data, log)
        if asked.times == {"as_of": None, "known": None}:
            continue
        newest = max((happened(one) for one in asked.kept), default=0)
        now = newest if asked.now is None else asked.now
        instant_text = data.draw(st.none() | st.sampled_from([at(20), at(200)]))
        agree(
            store,
            log,
            asked.kept,
            now,
            asked.times,
            None if instant_text is None else utc_text(from_micros(instant_text)),
        )


def test_a_turn_set_aside_since_is_withheld_from_the_log_and_from_an_export_of_everything(store: Store) -> None:
    owner = store.owner()
    place = store.tell(owner, created("I like coffee", "a", day=1), said("t1", "I like coffee, said in t1", day=2))
    past = Asking(store, owner, {"as_of": place}, {"as_of": place}, utc_text(from_micros(at(2))))
    shown, memories = turn_withheld(past), exported(past)
    store.tell(owner, set_aside("s1", day=20))
    assert (shown, turn_withheld(past)) == ((None, None), ("set_aside", "set_aside"))
    assert exported(past) == memories
    store.tell(owner, brought_back("s1", day=30))
    assert turn_withheld(past) == (None, None)


def test_a_block_is_made_again_of_all_that_was_recorded_then_whatever_time_is_asked_about(store: Store) -> None:
    owner = store.owner()
    told = (created("Ada likes water", "c", day=27), said("t2", "I like coffee, said in t2", day=34, session="s1"))
    store.tell(owner, *told, injected("c", turn_id="t1", day=16))
    day = utc_text(from_micros(at(28)))
    (then,), (later,) = (store.app.answers.answer(owner, "t1", **lines)["injected"] for lines in ({}, {"as_of": day}))
    assert "I like coffee, said in t2" in then["block"]["text"]
    assert later == then


def turn_withheld(one: Asking) -> tuple[str | None, str | None]:
    """Why the text of the only turn is withheld, in the log and in an export of everything."""
    (event,) = [found for found in logged(one) if found["type"] == "TurnRecorded"]
    (line,) = [found for found in exported(one, everything=True)[0] if found.get("part") == "turn"]
    return event["withheld"], line.get("withheld")


# --- pages, partitions


@SLOW
@given(data=st.data())
def test_the_events_of_a_partition_are_a_list_that_is_filtered(store: Store, data: st.DataObject) -> None:
    log = told(store, data, st.one_of(events, more))
    first = utc_text(from_micros(min(one.recorded or 0 for one in log.entries)))
    asked = asked_of(data, log._replace(zone="UTC"))  # a partition is of many owners, and has no clocks of its own
    found, cursor = [], None
    while True:
        page = store.app.events.partition_events(
            partition_of(store, log.owner), cursor=cursor, recorded_since=first, **asked.times
        )
        found += [int(one["position"].partition(":")[2]) for one in page["events"] if one["owner"] == log.owner]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == [one.seq for one in asked.kept]


@each_row("at_told", [None, LATER])
def test_pages_of_a_position_as_it_was_known_are_of_what_was_known(store: Store, at_told: str | None) -> None:
    owner = store.owner()
    known = store.tell(owner, *(created(f"coffee number {n}", f"m{n}", day=n) for n in range(4)))
    (last,) = store.app.log.read_at(*place_of(known))
    place = store.tell(owner, *(created(f"coffee coffee {n}", f"n{n}", day=n) for n in range(4)))
    times = {"as_of": place, "known": utc_text(from_micros(last.recorded or 0)), "at": at_told}
    whole = store.reader.search(owner, QUERY, mode="debug", limit=50, trace=False, **times)
    assert (whole["position"], whole["total"]) == (known, 4)
    found = pages(Asking(store, owner, {}, times, ""), mode="debug")
    assert [one["id"] for one in found[:-1]] == [one["id"] for one in whole["results"]]


def place_of(position: str) -> tuple[int, list[int]]:
    partition, _, seq = position.partition(":")
    return int(partition), [int(seq)]


# --- the list is complete


def takes_lines(method: Any) -> bool:
    told = str(inspect.signature(method))
    return bool(re.search(r"Unpack\[(TimesAsked|LineTerms|EventsAsked|ReplayAsked)\]|\bas_of:|\bknown:", told))


def test_every_service_that_takes_the_lines_is_held_to_them(store: Store) -> None:
    found = {
        f"{name}.{method}"
        for name in type(store.app).services()
        for method, value in inspect.getmembers(getattr(store.app, name), inspect.ismethod)
        if not method.startswith("_") and takes_lines(value)
    }
    assert found == {*HELD, *JUDGED_TODAY, *ELSEWHERE}


# --- after a rebuild


def test_a_rebuild_changes_no_answer_about_the_past(running: Service) -> None:
    store, http = Store(running.http.application), running.http
    owner = store.owner()
    batches = [
        [
            in_session(created("I like coffee", "coffee", day=1), "s1"),
            said("t1", "What do I like?", day=1.5, session="s1"),
            injected("coffee", turn_id="t1", day=1.6),
            created("I live in Paris", "paris", day=20),
            Told(SynonymDefined(keyword="coffee", synonym="mocha", similarity=0.9), 2),
        ],
        [
            in_session(created("I drink tea, not coffee", "tea", day=3, keywords=("tea",)), "s2"),
            *(mentioned("paris", day=21), mentioned("coffee", day=18), graded("tea", day=4), set_aside("s3", day=5)),
        ],
        [
            negated("coffee", 11, resolution="latest_wins"),
            Told(SynonymDefined(keyword="coffee", synonym="mocha", similarity=0.0), 11),
            said("r1", "Coffee", "assistant", day=1.7, session="s1", reply_to="t1"),
            *(created("I live in Rome", "rome", day=11), injected("tea", turn_id="t1", day=11)),
            profile("ebbinghaus", day=11),
        ],
    ]
    ends = [store.tell(owner, *batch) for batch in batches]
    recorded = [utc_text(from_micros(store.app.log.read_at(*place_of(end))[0].recorded or 0)) for end in ends]
    day = utc_text(from_micros(at(12)))
    asked: list[tuple[dict[str, Any], str]] = [
        ({"as_of": day}, day),
        ({"known": recorded[1]}, recorded[1]),
        ({"as_of": day, "known": ends[1]}, day),
        *(({"as_of": ends[n], "known": recorded[3 - n]}, utc_text(from_micros(at(21)))) for n in (2, 1)),
    ]

    def answers() -> list[Any]:
        store.reader.pasts._kept.clear()  # a new process keeps none
        store.app.views.moments._held.clear()
        return [
            plain(ask(Asking(store, owner, times, times | {"at": None}, now)), {})
            for times, now in asked
            for ask in (HELD | JUDGED_TODAY).values()
        ]

    http.application.views.moments.limits = EAGER_MOMENTS
    http.application.views.moments.worth = 1
    before = answers()
    rebuild_partition(http.store.client, http.store.identity.tags[partition_of(store, owner)], holder="rebuild")
    assert not unlike(before, answers())
