"""Where a session ends follows from its messages, whenever one looks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.lifecycle.sessions import sittings
from engramlog_server.projections.memory.record import HOUR
from engramlog_server.projections.memory.working_memory import Turn
from tests.given.said import injection, turn
from tests.rows import each_row

IDLE = 12 * HOUR
LATER = 10**17


def said(hours: float, session: str | None = "s1", seq: int = 0, role: str = "user") -> Turn:
    return turn(seq, session=session, role=role)._replace(at=int(hours * HOUR))


def talk(*told: tuple[float, str | None]) -> list[Turn]:
    """Messages by (hour, session), in log order."""
    return [said(hours, session, seq) for seq, (hours, session) in enumerate(told, 1)]


def shape(told: list[Turn], now: float = LATER / HOUR) -> list[tuple[str | None, list[int], bool]]:
    return [(one.session, [t.seq for t in one.turns], one.ended) for one in sittings(told, IDLE, int(now * HOUR))]


@each_row(
    ("told", "expected"),
    [
        ([(0, "a"), (11.9, "a")], [[1, 2]]), ([(0, "a"), (12, "a")], [[1], [2]]), ([(0, "a"), (2, "a")], [[1, 2]]),
        ([(0, "a"), (0.5, "b"), (2, "a")], [[1], [2], [3]]), ([(0, "a"), (0.5, "b"), (0.9, "a")], [[1, 3], [2]]),
        ([(0, None), (0.5, "b"), (2, None)], [[1], [2], [3]]), ([(5, "a"), (0, "b"), (6.5, "a")], [[1, 3], [2]]),
        ([(5, "a"), (1, "a"), (6, "a")], [[1, 2, 3]]),
    ],
    ids=[
        "soon after", "after twelve hours", "after two hours, and nothing else went on",
        "after two hours, and another session went on", "another session went on, but not for an hour",
        "turns without a session are one", "what came late of another session did not go on",
        "a message that came late belongs where it came",
    ],
)  # fmt: skip
def test_a_later_message_begins_a_sitting_after_a_long_silence(told, expected) -> None:
    assert [seqs for _, seqs, _ in shape(talk(*told))] == expected


@each_row(
    ("told", "now", "ended"),
    [
        ([(0, "a")], 11.9, [False]), ([(0, "a")], 12, [True]), ([(0, "a"), (0.5, "b")], 0.9, [False, False]),
        ([(0, "a"), (0.5, "b")], 1, [True, False]), ([(0, "a"), (12, "a")], 12, [True, False]),
    ],
)  # fmt: skip
def test_the_newest_sitting_has_ended_once_a_further_message_would_begin_another(told, now, ended) -> None:
    assert [one for _, _, one in shape(talk(*told), now)] == ended
    assert [one.ends_at for one in sittings(talk(*told), IDLE, 0) if not one.ended][-1] > 0


def test_what_is_no_message_ends_nothing() -> None:
    told = [said(0, "a", 1), injection(2, "m"), said(0.5, "b", 3, "tool"), said(2, "a", 4)]
    assert [[one.seq for one in sitting.turns] for sitting in sittings(told, IDLE, 0)] == [[1, 4]]


HOURS = st.floats(0, 100).map(lambda hours: round(hours, 1))
TALKS = st.lists(st.tuples(HOURS, st.sampled_from(["a", "b", None])), max_size=30)


@given(TALKS, st.integers(0, 30))
def test_what_is_said_later_parts_nothing_anew(told, count) -> None:
    before, after = shape(talk(*told[:count])), shape(talk(*told))
    whole = {tuple(seqs) for _, seqs, _ in after}
    assert all(any(one[: len(seqs)] == tuple(seqs) for one in whole) for _, seqs, _ in before)


@given(TALKS)
def test_what_has_ended_grows_no_more_when_all_is_said_in_time(told) -> None:
    told = sorted(told, key=lambda one: one[0])
    for count in range(len(told)):
        now = told[count][0]
        ended = [one for one in sittings(talk(*told[:count]), IDLE, int(now * HOUR)) if one.ended]
        later = [one.turns for one in sittings(talk(*told), IDLE, LATER)]
        assert all(one.turns in later for one in ended)


@given(TALKS, st.integers(0, 30))
def test_what_is_cut_off_before_changes_nothing_about_what_comes_after(told, cut) -> None:
    whole, rest = talk(*told), talk(*told)[cut:]
    kept = [[one.seq for one in each.turns if one.seq > cut] for each in sittings(whole, IDLE, LATER)]
    assert sorted(filter(None, kept)) == sorted([one.seq for one in each.turns] for each in sittings(rest, IDLE, LATER))
