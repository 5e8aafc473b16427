"""The published search formula (seed 001), worked by hand, and what bounds its parts."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.memory.columns import Columns, Rows
from engramlog_server.projections.ranking.rankings import (
    Matched,
    added,
    interaction,
    relevance_parts,
    score_parts,
    youth,
)
from tests.given.events import Told, accessed, at, created, folded
from tests.rows import each_row


def columns_of(*events: Told) -> Columns:
    """The columns of a history."""
    columns = Columns()
    columns.put_all(folded(*events).memories.values())
    return columns


def every(columns: Columns) -> Rows:
    """All rows."""
    return np.arange(len(columns), dtype=np.int64)


def one(k: float, text: float, cosine: float) -> Matched:
    """A single row's matches."""
    return Matched(np.array([k]), np.array([text]), np.array([cosine]))


@each_row(
    ("mode", "k", "text", "cosine", "time", "relevance"),
    [
        ("hybrid", 1.0, 1.0, 0.0, 1.0, 1.0), ("hybrid", 0.5, 0.4, 0.9, 0.75, 0.4 * 0.5 + 0.4 * 0.9 + 0.2 * 0.75),
        ("hybrid", 0.5, 0.9, 0.4, 0.75, 0.4 * 0.5 + 0.4 * 0.9 + 0.2 * 0.75),
        ("hybrid", 0.0, 0.0, 0.3, 0.5, 0.4 * 0.3 + 0.2 * 0.5), ("keyword", 0.8, 0.9, 0.9, 1.0, (0.4 * 0.8 + 0.2) / 0.6),
        ("keyword", 0.0, 0.9, 0.0, 0.5, 0.1 / 0.6), ("semantic", 1.0, 1.0, 0.6, 0.5, (0.4 * 0.6 + 0.1) / 0.6),
    ],
)  # fmt: skip
def test_relevance_as_worked_by_hand(mode, k, text, cosine, time, relevance) -> None:
    parts = relevance_parts(one(k, text, cosine), np.array([time]), mode, DEFAULTS)
    assert added(parts, 1)[0] == pytest.approx(relevance, abs=1e-12)


@each_row(("day", "expected"), [(0, 1.0), (30, 0.75), (60, 0.625), (365, 0.5 + 0.5 * 0.5 ** (365 / 30))])
def test_youth_halves_towards_one_half_every_thirty_days(day, expected) -> None:
    columns = columns_of(created())
    assert youth(columns, every(columns), at(day), DEFAULTS)[0] == pytest.approx(expected, abs=1e-12)


@each_row(
    ("accesses", "since", "expected"),
    [
        (0, 3, 0.0), (1, 0, 0.5 * log(2) / log(100) + 0.5), (1, 30, 0.5 * log(2) / log(100) + 0.25), (9, 60, 0.25 + 0.125),
        (99, 0, 1.0), (500, 0, 1.0),
    ],
)  # fmt: skip
def test_interaction_as_worked_by_hand(accesses, since, expected) -> None:
    columns = columns_of(created(), *([accessed("m", day=1, count=accesses)] if accesses else []))
    assert interaction(columns, every(columns), at(1 + since), DEFAULTS)[0] == pytest.approx(expected, abs=1e-9)


def test_the_score_is_seven_tenths_relevance_two_interaction_and_one_kind() -> None:
    columns = columns_of(created(kind="user_preference"), accessed("m", count=9))
    relevance = {"keyword": np.array([0.4]), "text": np.array([0.2]), "time": np.array([0.2])}
    told = score_parts(columns, every(columns), relevance, at(0), DEFAULTS)
    assert {name: pytest.approx(part[0]) for name, part in told.items()} == {
        "keyword": 0.28,
        "text": 0.14,
        "time": 0.14,
        "interaction": 0.2 * (0.25 + 0.5),
        "kind": 0.1,
    }
