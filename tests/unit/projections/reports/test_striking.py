"""What is struck with what is named: against an oracle that looks at every event again and again, and as laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import MemoryCreated, MemoryMentioned, MemoryMerged, TurnRecorded
from engramlog_server.events.envelope import Stored, decode, derived_id
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.past.folding import fold_records
from engramlog_server.projections.reports.strikes import Closure, LogGraph, Strikes
from tests.examples import examples
from tests.given.events import Told, accessed, created, in_session, mentioned, merged, negated, secret_of, stored
from tests.given.histories import histories
from tests.given.said import injected, said

TURNS = ("t1", "t2", "t3")
NAMES = ("a", "b", "c")
MERGES = ("x", "y")
MOST = 14

turns = st.sampled_from(TURNS)
names = st.sampled_from(NAMES + MERGES)
some_turns = st.lists(turns, min_size=1, max_size=3, unique=True).map(tuple)
told = st.one_of(
    turns.map(lambda turn: said(turn, "I drink tea")),
    turns.map(lambda turn: created("I drink tea", turn, kind="episode", source_turns=(turn,))),
    st.builds(
        lambda of, by: created("drinks tea", of, source="judge", actor="judge", source_turns=by),
        st.sampled_from(NAMES),
        some_turns,
    ),
    st.builds(
        lambda of, by: created(
            "of tea", of, source="system", actor="system", kind="episode", tier="episode", source_turns=by
        ),
        st.sampled_from(NAMES),
        some_turns,
    ),
    st.builds(
        lambda of, parts: created("all", of, summarises=tuple(parts)),
        st.sampled_from(NAMES),
        st.lists(names, min_size=1, max_size=2, unique=True),
    ),
    st.builds(
        lambda parts, into: merged(
            *(one for one in parts if one != into), *(("f", "g") if into in parts else ()), into=into
        ),
        st.lists(names, min_size=2, max_size=3, unique=True),
        st.sampled_from(MERGES),
    ),
    st.builds(mentioned, names, actor=st.sampled_from(["user", "judge"]), turn_id=st.none() | turns),
    st.builds(negated, names, turn_id=st.none() | turns),
    st.builds(lambda name, turn: injected(name, turn_id=turn), names, turns),
    st.builds(accessed, names),
)


@st.composite
def logs(draw: st.DrawFn) -> list[Stored]:
    """A few events, some of them caused by others, before or behind them."""
    events = draw(st.lists(told, min_size=3, max_size=MOST))
    causes = draw(
        st.lists(st.none() | st.none() | st.integers(1, len(events)), min_size=len(events), max_size=len(events))
    )
    sessions = draw(st.lists(st.sampled_from([None, "s1", "s2"]), min_size=len(events), max_size=len(events)))

    def with_cause(one: Told, cause: int | None, session: str | None) -> Told:
        extra = {} if cause is None else {"causation_id": derived_id("test", "ada", str(cause))}
        return in_session(replace(one, extra=extra, old=True), session)

    return stored(map(with_cause, events, causes, sessions))


named = st.builds(
    Strikes,
    seqs=st.frozensets(st.integers(1, 3), max_size=2),
    turns=st.frozensets(turns, max_size=1),
    sessions=st.frozensets(st.sampled_from(["s1", "s2"]), max_size=1),
)


def closed(entries: Sequence[Stored], strikes: Strikes) -> Closure:
    graph = LogGraph(strikes)
    for one in entries:
        graph.take(one, decode(one.kind, one.body))
    return graph.close()


# --- the oracle


def turn_of(data: Any) -> str | None:
    if isinstance(data, TurnRecorded):
        return data.turn_id
    if isinstance(data, MemoryCreated) and data.source_turns == (data.memory_id,):
        return data.memory_id
    if (
        isinstance(data, MemoryCreated)
        and data.kind == "episode"
        and len(data.source_turns) == 1
        and not data.summarises
    ):
        return None if data.source in ("system", "judge") else data.source_turns[0]
    return None


def expected(entries: Sequence[Stored], strikes: Strikes) -> set[int]:
    """Every rule asked of every event, until nothing more is struck."""
    events = {one.seq: decode(one.kind, one.body) for one in entries}
    names_of = {event.event_id: seq for seq, event in events.items()}
    struck = {one.seq for one in entries if any(strikes.named(one, events[one.seq]))}

    def gone(memory_id: str) -> bool:
        makers = [
            seq
            for seq, one in events.items()
            if memory_id
            in (getattr(one.data, "into", None), one.data.memory_id if isinstance(one.data, MemoryCreated) else None)
            and isinstance(one.data, MemoryCreated | MemoryMerged)
        ]
        return bool(makers) and all(seq in struck for seq in makers)

    def retracted(turn: str | None, session: str | None) -> bool:
        says = {seq for seq, one in events.items() if turn is not None and turn_of(one.data) == turn}
        return bool(says) and (says <= struck or any(events[seq].session_id == session for seq in says & struck))

    def follows(seq: int) -> bool:
        event = events[seq]
        data, cause = event.data, names_of.get(event.causation_id or "")

        def is_gone(turn: str | None) -> bool:
            return retracted(turn, event.session_id)

        drawn = isinstance(data, MemoryCreated) and turn_of(data) is None and data.source_turns
        if cause in struck and not (drawn and turn_of(events[cause].data) in data.source_turns):
            return True
        if isinstance(data, MemoryMerged):
            return any(map(gone, data.sources))
        if is_gone(turn_of(data)):
            return True
        if isinstance(data, MemoryCreated) and data.summarises:
            return any(map(gone, data.summarises)) or any(map(is_gone, data.source_turns))
        if drawn and (data.tier == "episode" or data.kind == "episode"):
            return any(map(is_gone, data.source_turns))
        if drawn:
            return all(map(is_gone, data.source_turns)) and not any(
                isinstance(one.data, MemoryMentioned)
                and one.data.memory_id == data.memory_id
                and one.actor == "user"
                and other not in struck
                and one.data.turn_id not in data.source_turns
                and not retracted(one.data.turn_id, one.session_id)
                for other, one in events.items()
            )
        return turn_of(data) is None and is_gone(getattr(data, "turn_id", None))

    while True:
        more = {seq for seq in events if seq not in struck and follows(seq)}
        if not more:
            return struck
        struck |= more


@settings(max_examples=examples(400))
@given(logs(), named)
def test_what_is_struck_is_what_every_rule_asked_of_every_event_strikes(
    entries: list[Stored], strikes: Strikes
) -> None:
    assert set(closed(entries, strikes).struck) == expected(entries, strikes)


@settings(max_examples=examples(100))
@given(histories)
def test_records_folded_without_a_change_log_are_those_that_are_folded_with_it(history: list[Told]) -> None:
    entries, secret = stored(history), secret_of("ada")
    whole, alone = fold_owner(entries, secret=secret), fold_records(entries, secret=secret)
    assert alone.memories == whole.memories
    assert (alone.owner.settings, alone.owner.applied, alone.owner.waiting, alone.newest) == (
        whole.owner.settings,
        whole.owner.applied,
        whole.owner.waiting,
        whole.newest,
    )


def test_what_the_user_said_again_counts_as_long_as_that_is_not_struck_too() -> None:
    drawn = created("drinks tea", "a", source="judge", actor="judge", source_turns=("t1",))
    once = stored([said("t1", "I drink tea"), drawn, mentioned("a", turn_id="t2")])
    twice = stored([said("t1", "I drink tea"), drawn, mentioned("a"), mentioned("a", turn_id="t2")])

    def stays(entries: list[Stored], strikes: Strikes) -> list[tuple[str, str, int]]:
        return [(one.memory_id, one.because, one.said) for one in closed(entries, strikes).stays]

    first, both = frozenset({"t1"}), frozenset({"t1", "t2"})
    assert stays(once, Strikes(turns=first)) == [("a", "said_again", 3)]
    assert stays(once, Strikes(turns=first, seqs=frozenset({3}))) == []
    assert stays(twice, Strikes(turns=first)) == [("a", "said_again", 3)]
    assert stays(twice, Strikes(turns=both)) == [("a", "said_again", 3)]
    assert set(closed(once, Strikes(turns=both)).struck) == {1}  # nobody said t2 in this log: it is no turn of it
    assert (
        stays(stored([*[said("t1", "x")], drawn, said("t2", "y"), mentioned("a", turn_id="t2")]), Strikes(turns=both))
        == []
    )


def test_what_was_read_in_one_of_two_turns_of_an_id_and_nobody_says_in_which_stays_and_is_told() -> None:
    drawn = in_session(created("tea", "a", source="judge", actor="judge", source_turns=("t1",)), None)
    entries = stored([said("t1", "I drink tea"), drawn, said("t1", "noise", session="s2")])
    found = closed(entries, Strikes(seqs=frozenset({3})))
    assert set(found.struck) == {3}
    assert [(one.memory_id, one.because, one.of) for one in found.stays] == [("a", "other_turns", "t1")]
    assert set(closed(entries, Strikes(seqs=frozenset({1, 3}))).struck) == {1, 2, 3}
