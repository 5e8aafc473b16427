"""Who spoke to an owner, gathered from random logs: against counting again, name by name, and how it is bounded."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import Ground, GroundChanged
from engramlog_server.events.envelope import Stored, decode, micros
from engramlog_server.projections.memory.record import Aside, NamedSource
from engramlog_server.projections.reports.strikes import (
    BY,
    NOT_ASIDE,
    NamedAside,
    SourcesGathered,
    Strikes,
    asides_by_name,
)
from tests.given.events import Told, created, in_session, mentioned, merged, negated, stored
from tests.given.said import said

URI = "file:///plan.md"
NEVER = -(1 << 62)
LATE = 300_000_001
grounds = st.sampled_from([(), (Ground(uri=URI, digest="sha256:00000001"),)])
events = st.one_of(
    st.builds(
        lambda of, day, resting, source: created("tea", of, day, grounds=resting, source=source),
        st.sampled_from("abc"), st.integers(0, 9), grounds, st.sampled_from(["user", "judge"]),
    ),
    st.builds(lambda day: Told(GroundChanged(memory_id="a", uri=URI, digest="sha256:00000002"), day), st.integers(0, 9)),
    st.builds(mentioned, st.sampled_from("abc"), st.integers(0, 9),
              st.sampled_from(["user", "assistant"])),
    st.builds(negated, st.sampled_from("abc"), st.integers(0, 9)),
    st.builds(lambda turn, day: said(turn, "tea?", day=day), st.sampled_from(["t1", "t2"]), st.integers(0, 9)),
    st.builds(lambda day: merged("a", "b", into="x", day=day), st.integers(0, 9)),
)  # fmt: skip
sessions = st.sampled_from([None, "s1", "s2", "会话"])
principals = st.sampled_from(["", "local", "job:extract", "job:extract model:qwen3:8b", "local model:qwen3:8b"])


@st.composite
def logs(draw: st.DrawFn) -> list[Stored]:
    """Events of several sessions and principals, some recorded at once, some late, some nobody noted when."""
    told = draw(st.lists(st.tuples(events, sessions, principals), max_size=12))
    entries = stored(in_session(one, session, principal) for one, session, principal in told)
    behind = draw(st.lists(st.sampled_from([0, LATE - 1, LATE]), min_size=len(entries), max_size=len(entries)))
    return [recorded(one, late) for one, late in zip(entries, behind, strict=True)]


def recorded(one: Stored, behind: int) -> Stored:
    """The same, recorded so many microseconds after it happened, where its format tells that."""
    if not one.beside:
        return one
    at = micros(decode(one.kind, one.body).occurred_at) + behind
    return one._replace(beside=(str(at).encode(), *one.beside[1:]))


def gathered(entries: list[Stored], **asked: Any) -> SourcesGathered:
    found = SourcesGathered(**asked)
    for one in entries:
        found.take(one, decode(one.kind, one.body))
    return found


def told_of(one: Stored) -> set[tuple[str, str]]:
    """What an entry names, said once more: by its envelope, its principal, and its data."""
    event = decode(one.kind, one.body)
    data: Any = event.data
    found = {("actor", event.actor)}
    if event.session_id:
        found.add(("session", event.session_id))
    if one.principal:
        found.add(("principal", one.principal))
        found |= {("model", one.principal.split(" model:")[1])} if " model:" in one.principal else set()
    if event.type == "MemoryCreated":
        found.add(("source", data.source))
        found |= {("source", each.uri) for each in data.grounds}
    return found | ({("source", data.uri)} if event.type == "GroundChanged" else set())


@given(entries=logs())
def test_each_name_counts_the_events_that_tell_it_and_no_others(entries: list[Stored]) -> None:
    found = gathered(entries).found
    assert set(found) == set().union(*map(told_of, entries))
    makers = dict[str, int]()
    for one in entries:
        data: Any = decode(one.kind, one.body).data
        made = data.memory_id if one.kind.startswith("MemoryCreated") else getattr(data, "into", None)
        if made is not None:
            makers.setdefault(made, one.seq)
    for key, counts in found.items():
        of = [one for one in entries if key in told_of(one)]
        happened = [micros(decode(one.kind, one.body).occurred_at) for one in of]
        noted = [int(one.beside[0]) for one in of if one.beside]
        late = [one for one, at in zip(of, happened, strict=True) if one.beside and int(one.beside[0]) - at >= LATE]
        assert (counts.events, counts.late) == (len(of), len(late))
        assert (counts.first_happened, counts.last_happened) == (min(happened), max(happened))
        assert counts.first_recorded == min(noted, default=None)
        assert counts.last_recorded == max(noted, default=None)
        assert counts.memories == len({one.seq for one in of} & set(makers.values()))


@given(entries=logs())
def test_what_is_listed_is_just_what_a_strike_by_that_name_meets(entries: list[Stored]) -> None:
    for (by, name), counts in gathered(entries).found.items():
        strikes = Strikes(**{f"{by}s": frozenset([name])})
        met = [list(strikes.named(one, decode(one.kind, one.body))) for one in entries]
        assert [each for each in met if each] == [[(f"{by}s", name)]] * counts.events


@given(entries=logs())
def test_the_newest_is_told_first_and_the_order_of_the_log_decides_nothing(entries: list[Stored]) -> None:
    one, other = gathered(entries).ordered(), gathered(entries[::-1]).ordered()
    assert [(each.by, each.name) for each in one] == [(each.by, each.name) for each in other]
    keys = [(-each.last_happened, each.name, BY.index(each.by)) for each in one]
    assert keys == sorted(keys)


def test_no_more_names_of_a_kind_are_held_than_there_is_room_for_and_the_others_events_are_summed() -> None:
    entries = stored(in_session(mentioned("a", number), f"s{number % 5}") for number in range(20))
    found = gathered(entries, most=3)
    assert sorted(name for by, name in found.found if by == "session") == ["s0", "s1", "s2"]
    assert found.left_out == {"session": 8}
    assert found.found["actor", "user"].events == found.events == 20


def test_what_is_not_searched_for_takes_no_room() -> None:
    entries = stored(in_session(mentioned("a", number), f"s{number}") for number in range(20))
    found = gathered(entries, by=("session",), matches=lambda name: name.endswith("9"), most=3)
    assert (sorted(found.found), found.left_out) == ([("session", "s19"), ("session", "s9")], {})


def test_a_memory_is_of_the_first_that_told_it_also_where_that_event_does_not_count() -> None:
    first, again = stored([in_session(created(of="a"), "s1"), in_session(created(of="a"), "s2")])
    found = SourcesGathered()
    found.take(first, decode(first.kind, first.body), counts=False)
    found.take(again, decode(again.kind, again.body))
    assert (set(found.found), found.found["session", "s2"].memories) == (
        {("session", "s2"), ("actor", "user"), ("source", "user")},
        0,
    )


def test_a_uri_that_may_not_be_told_is_counted_as_withheld_and_the_event_still_under_its_other_names() -> None:
    (one,) = stored([created(of="a", grounds=(Ground(uri=URI, digest="sha256:00000001"),))])
    found = SourcesGathered()
    found.take(one, decode(one.kind, one.body), hidden=frozenset([URI]))
    assert (set(found.found), found.withheld) == ({("actor", "user"), ("source", "user")}, 1)


def test_a_source_is_set_aside_by_itself_or_in_part() -> None:
    whole = Aside(NamedSource(session="s1"), 5, 1)
    part = Aside(NamedSource(session="s1", actor="assistant"), 6, 2)
    model = Aside(NamedSource(principal="local model:qwen3:8b"), 7, 3)
    over = Aside(NamedSource(session="s2"), 8, 4, brought_at=9)
    early = Aside(NamedSource(session="s3"), NEVER, 5, brought_at=1)
    found = asides_by_name((whole, part, model, over, early))
    assert found == {
        ("session", "s1"): NamedAside(whole, 1),
        ("actor", "assistant"): NamedAside(None, 1),
        ("principal", "local model:qwen3:8b"): NamedAside(model, 0),
        ("model", "qwen3:8b"): NamedAside(None, 1),
    }
    assert found.get(("session", "s2"), NOT_ASIDE) == NamedAside(None, 0)
