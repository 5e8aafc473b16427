"""docs/concepts.md: its worked examples are worked here, and its figures are those of the code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from events.envelope import micros
from events.parameters import DEFAULTS
from projections.laws import LAWS
from projections.laws.spaced import graded, interval_days, review_due_at
from projections.lifecycle.may_merge import may_merge
from projections.memory.record import DAY, with_changes
from projections.memory.tags import context_of
from projections.ranking.recall import search
from projections.ranking.search_request import SearchRequest
from projections.views.query import ViewQuery
from projections.views.view import OwnerView
from tests.given.events import accessed, at, created, folded, linked
from tests.places import ROOT

PAGE = (ROOT / "docs" / "concepts.md").read_text("utf-8")
Rows = Iterator[str]


def line(*cells: object) -> str:
    return "| " + " | ".join(f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |"


def _intervals() -> Rows:
    """Days to the review by the number of accesses, the last of which was just now."""
    memories = [folded(created(), *([accessed(count=n)] if n else [])).memories["m"] for n in range(8)]
    days = [f"{interval_days(memory, DEFAULTS):g}" for memory in memories]
    assert [review_due_at(memory, DEFAULTS) - at(0) for memory in memories] == [int(day) * DAY for day in days]
    yield line("days", *days)


GRADES = ((5, 5, 5, 5, 5), (4, 4, 4, 4, 4), (3, 3, 3, 3, 3), (4, 4, 4, 2, 4))


def _days_between(grades: tuple[int, ...], scheduler: str) -> str:
    """Each grade is given on the day on which this scheduler had it due."""
    schedule, day, told = None, 0.0, []
    for grade in grades:
        schedule = graded(schedule, grade, at(day))
        interval = schedule.fsrs_interval if scheduler == "fsrs" else schedule.interval
        told.append(f"{interval:.0f}" if scheduler == "fsrs" else f"{interval:.1f}".removesuffix(".0"))
        day += interval
    return ", ".join(told)


def _schedules() -> Rows:
    for grades in GRADES:
        named = ", ".join(map(str, grades))
        yield line(named, _days_between(grades, "sm2"), _days_between(grades, "fsrs"))


SAID = (
    ("2025-04-05T15:30:00Z", "终于把登录接口的超时问题解决了"),
    ("2025-04-05T15:30:00Z", "凌晨还在调试支付接口，又崩溃了"),
    ("2025-04-07T02:00:00Z", "The database is down, this is urgent!"),
    ("2025-04-07T02:00:00Z", "Refactored the tests, no rush."),
    ("2025-04-08T12:00:00Z", "Fixed the bug in the schema migration"),
    ("2025-04-08T12:00:00Z", "I am not happy with the endpoint."),
    ("2025-04-08T12:00:00Z", "我今天很开心"),
    ("2025-04-08T12:00:00Z", "我今天不开心"),
)


def _contexts() -> Rows:
    zone = replace(DEFAULTS, time_zone="Asia/Shanghai")
    plain = folded(created()).memories["m"]
    for when, text in SAID:
        instant = datetime.fromisoformat(when)
        found = context_of(with_changes(plain, content=text, created_at=micros(instant.astimezone(UTC))), zone)
        local = instant.astimezone(ZoneInfo("Asia/Shanghai")).strftime("%a %H:%M")
        yield line(local, text, ", ".join(found.tags) or "-", f"{found.emotion:g}")


def _thresholds() -> Rows:
    for mode in ("normal", "review"):
        yield line(mode, *(f"{getattr(law, f'{mode}_threshold')(DEFAULTS):g}" for law in LAWS.values()))


KILN = (
    created("今晚烧窑到 1240 度。Fired the kiln to 1240 degrees.", "kiln", 0, task="vase"),
    created("Porcelain clay for the vase. 花瓶用高岭土。", "clay", 0.1, task="vase", project="studio"),
    created("The clay comes from Jingdezhen. 来自景德镇。", "jingdezhen", 40),
    created("The exhibition opens in May. 五月开展览。", "exhibition", 0.2, project="studio"),
    linked("clay", "jingdezhen", 41, 0.8),
    accessed("kiln", "clay", day=42, together=(("kiln", "clay"),)),
)


def _spread() -> Rows:
    """As a search tells it; what is too weak is reached where the least activation is lower."""
    history, told = folded(*KILN), set[str]()
    for least, remark in ((DEFAULTS.spread_least, ""), (0.001, ", too weak")):
        view = OwnerView("lin", history.owner, history.memories.values(), replace(DEFAULTS, spread_least=least))
        answer = search(ViewQuery(view, at(43), "normal"), "烧窑", 5, SearchRequest(associations=True))
        assert [one["id"] for one in answer["results"]] == ["kiln"]
        activation = {"kiln": 1.0} | {one["id"]: one["activation"] for one in answer["associated"]}
        for one in answer["associated"]:
            if one["id"] not in told:
                told.add(one["id"])
                source = one["path"][-1]["from"]
                cells = (_edge(view, source, one["id"]), f"`{source}`, {activation[source]:.4f}")
                yield line(f"`{one['id']}`", *cells, f"{one['activation']:.4f}{remark}")


def _edge(view: OwnerView, source: str, target: str) -> str:
    """Kind, base and boost of an association."""
    row = view.columns.row(source)
    assert row is not None
    links = view.associations.neighbours(row, view.parameters)
    edge = next(link for link in links if view.associations.id_of(link.to_row) == target)
    return f"{edge.link} {edge.base:g}" + (f" + {edge.boost:g}" if edge.boost else "")


def _figures() -> Iterator[tuple[str, str]]:
    for part in (_intervals, _schedules, _spread, _contexts, _thresholds):
        yield from ((part.__name__, row) for row in part())


def test_every_row_of_figures_is_what_the_code_gives() -> None:
    assert [(part, row) for part, row in _figures() if row not in PAGE] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("I'm allergic to peanuts.", "I am really allergic to peanuts"), ("我喜欢喝咖啡", "我很喜欢喝咖啡。")],
)
def test_the_duplicates_of_the_page_are_merged(one: str, other: str) -> None:
    memories = folded(created(one, "m"), created(other, "n")).memories
    assert (one in PAGE, other in PAGE, may_merge(memories["m"], memories["n"], DEFAULTS)) == (True, True, None)
