"""The stable part: the same bytes at any hour, for any question and use, until one of its memories changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.projections.language.prompt_text import estimated_tokens
from engramlog_server.projections.lifecycle import plan
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.record import handle_of
from engramlog_server.projections.memory.working_memory import conversation
from engramlog_server.projections.prompt.gathering import Wanted, always, rules_of, stable_part
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    deleted,
    in_conflict,
    mentioned,
    merged,
    negated,
    profile,
    promoted,
    purged,
    reinforced,
    restored,
    revised,
    set_aside,
)
from tests.given.said import turn as said
from tests.given.views import viewed
from tests.unit.projections.lifecycle.test_judging import JOB, told, turn

SAID = (
    "I live in Lisbon and I love green tea.", "I moved to Porto.", "Always answer in French.", "以后请用中文回答。",
    "我住在成都，我喜欢喝茶。", "I have a dog called Rex.", "My telephone number is +49 30 1234567",
    "The PIN of my card is 4821", "I no longer love green tea.", "I speak Italian.",
)  # fmt: skip
IDS = ("a", "b", "c", "d")
LAWS = ("weighted", "ebbinghaus", "consolidating", "tiered")
END = 60.0
"""The day on which each life has ended."""


def by_operator(one: Told) -> Told:
    return replace(one, actor="operator")


CLASSES = ("identity", "skill", "stable_preference", "temporary")
HAPPENS: dict[str, Callable[[int, str, str, float], Told]] = {
    "turn": lambda n, _one, _other, day: turn(SAID[n], f"t{day:g}", day),
    "read": lambda n, _one, _other, day: turn(SAID[n], f"t{day:g}", day),
    "create": lambda n, one, _other, day: created(SAID[n], one, day, category=CLASSES[n % 4]),
    "core": lambda _n, one, _other, day: by_operator(promoted("core", one, day)),
    "mention": lambda _n, one, _other, day: mentioned(one, day),
    "negate": lambda _n, one, _other, day: negated(one, day),
    "delete": lambda _n, one, _other, day: deleted(one, day),
    "restore": lambda _n, one, _other, day: restored(one, day),
    "purge": lambda _n, one, _other, day: purged(one, day),
    "revise": lambda n, one, _other, day: revised(SAID[n], one, day),
    "conflict": lambda _n, one, other, day: in_conflict(one, other, day),
    "merge": lambda _n, one, other, day: merged(one, other, into=f"all{day:g}", day=day),
    "aside": lambda _n, _one, _other, day: set_aside("s1", day),
    "law": lambda n, _one, _other, day: profile(LAWS[n % 4], day),
}
STEPS = st.tuples(st.sampled_from(list(HAPPENS)), st.integers(0, 9), st.permutations(IDS))


def lives() -> st.SearchStrategy[list[Told]]:
    """What happens to an owner, in order; each a day later than the one before."""
    return st.lists(STEPS, min_size=3, max_size=25).map(
        lambda steps: [HAPPENS[kind](n, ids[0], ids[1], float(day)) for day, (kind, n, ids) in enumerate(steps)]
    )


def extracted(life: list[Told]) -> list[Told]:
    """A life whose turns were read by rules in the end."""
    return [*life, *told(plan(viewed(*life), at(END), JOB), END)]


def stable(view: OwnerView, day: float, talk: Any = None, **wanted: Any) -> str:
    asked = Wanted(1_500, 30, False, "en", 0.0, 0, 750)._replace(**wanted)
    rules = rules_of(view, asked)
    holds = always(view, at(day), talk or conversation([], "hello"), rules)
    return stable_part(view, at(day), holds, rules, asked, estimated_tokens).block.text


def lines_of(text: str) -> list[str]:
    return [row for row in text.split("\n") if row.startswith("- [")]


TRIED = settings(max_examples=examples(60), deadline=None)


@given(lives(), st.floats(0, 0.99), st.floats(0, 0.99), st.floats(0, 2_000))
@TRIED
def test_the_hour_changes_nothing_and_time_only_removes_lines(
    life: list[Told], hour: float, other: float, later: float
) -> None:
    view = viewed(*extracted(life))
    now = stable(view, END + hour)
    assert now == stable(view, END + other)
    wide = {"budget": 100_000, "stable": 50_000, "stable_language": "en"}
    assert set(lines_of(stable(view, END + later, **wide))) <= set(lines_of(stable(view, END, **wide)))


@given(
    lives(),
    st.lists(st.tuples(st.sampled_from(["recall", "injection", "association"]), st.integers(0, 60)), max_size=8),
)
@TRIED
def test_what_is_asked_shown_and_used_changes_nothing(life: list[Told], uses: list[tuple[str, int]]) -> None:
    events = extracted(life)
    view = viewed(*events)
    ids = [one.id for one in view.columns.memories]
    before = stable(view, END)
    if not ids:
        return
    after = [accessed(ids[n % len(ids)], day=END + 0.01 * at_ + 0.01, via=via) for at_, (via, n) in enumerate(uses)]
    after += [reinforced(ids[n % len(ids)], END + 1 + 0.01 * at_) for at_, (_, n) in enumerate(uses)]
    talked = conversation([said(1, "Where do I live?"), said(2, "我早上喝什么？", session="s2")], "And now?")
    used = viewed(*events, *after)
    assert stable(used, END, talked, language="zh", messages=0, threshold=0.1) == before


@given(lives())
@TRIED
def test_nothing_stands_in_it_that_may_not_and_every_line_is_a_memory_with_its_id(life: list[Told]) -> None:
    view = viewed(*extracted(life))
    text = stable(view, END)
    assert "4821" not in text
    assert "1234567" not in text
    rows = lines_of(text)
    titles = 3 + sum(row.startswith("[") for row in text.split("\n"))
    assert not text or len(text.split("\n")) == len(rows) + titles
    ids = {handle_of(one.id): one.id for one in view.columns.memories}
    for row in rows:
        memory = view.get(ids[row[3 : row.index("]")]])
        assert memory is not None
        assert state_of(memory) == Columns.LIVE
        assert not memory.is_negated
        assert memory.sensitivity < 2
        assert memory.content.split("\n")[0][:20] in row


@given(lives(), st.integers(0, 30))
@TRIED
def test_what_is_deleted_or_negated_leaves_it_at_once_and_the_rest_stays(life: list[Told], number: int) -> None:
    events = extracted(life)
    view = viewed(*events)
    rows = lines_of(stable(view, END))
    if not rows:
        return
    gone = rows[number % len(rows)]
    handle = gone[3 : gone.index("]")]
    memory_id = next(one.id for one in view.columns.memories if handle_of(one.id) == handle)
    for end in (deleted(memory_id, END + 1), negated(memory_id, END + 1)):
        assert f"[{handle}]" not in stable(viewed(*events, end), END + 1)
