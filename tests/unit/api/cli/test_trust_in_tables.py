"""How far a memory can be trusted, in tables: told where it is not the user's own word, on a narrow terminal too."""

from __future__ import annotations

import io
from typing import Any

from rich.cells import cell_len
from rich.console import Console

from engramlog_server.api.cli.show.generic import answer as facts
from engramlog_server.api.cli.show.memories import memories, unusual
from tests.rows import each_row

DRINKS = "我每天早上喝一杯不加糖的咖啡"


def card(memory_id: str, **fields: Any) -> dict[str, Any]:
    told = {"memory": DRINKS, "level": "full", "status": "live", "trust": "asserted", "category": "fact", "weight": 0.8}
    return {"id": memory_id, "last_activated_at": "2026-11-22T09:30:00Z", **told, **fields}


def listed(width: int, *cards: dict[str, Any]) -> str:
    console = Console(file=(out := io.StringIO()), width=width, force_terminal=True, color_system=None)
    answer: Any = {"memories": list(cards), "total": len(cards), "offset": 0, "position": "3:1", "withheld": []}
    memories(answer, console)
    return out.getvalue()


@each_row(
    ("status", "trust", "words"),
    [
        ("live", "asserted", []),
        ("live", "inferred", ["inferred"]),
        ("live", "disputed", ["disputed"]),
        ("set_aside", "asserted", ["set aside"]),
        ("superseded", "imported", ["superseded", "imported"]),
        ("proposed", "proposed", ["proposed"]),
        ("rejected", "rejected", ["rejected"]),
    ],
)
def test_what_is_usual_is_not_told_and_nothing_twice(status: str, trust: str, words: list[str]) -> None:
    assert unusual(status, trust) == words


@each_row(
    ("one", "narrow"),
    [
        ({}, ["full"]),
        ({"trust": "inferred"}, ["inferred"]),
        ({"trust": "imported", "long_ago": True}, ["long ago", "imported"]),
        ({"trust": "imported", "level": "summary"}, ["summary", "imported"]),
        ({"trust": "asserted", "level": "summary"}, ["summary"]),
        ({"trust": "proposed", "status": "proposed"}, ["proposed"]),
    ],
)
def test_a_narrow_table_has_it_in_one_column_with_the_level_and_a_wide_one_beside(
    one: dict[str, Any], narrow: list[str]
) -> None:
    shown = listed(80, card("kiln", **one))
    words = ("full", "summary", "long ago", "inferred", "imported", "proposed")
    assert sorted(word for word in words if word in shown) == sorted(narrow)
    wide = listed(120, card("kiln", **one))
    begins = wide.splitlines()[1].index("status")
    row = wide.splitlines()[3]
    gap = cell_len(row) - len(row)
    assert row[begins - gap :].strip() == ", ".join(word for word in narrow if word not in ("full", "summary"))


@each_row("width", [80, 120])
def test_the_text_stays_readable_beside_it_and_no_line_is_wider_than_the_terminal(width: int) -> None:
    generated = [f"m-01a206{n}6-8654-74fe-bb89-9179da178cae" for n in "abc"]
    shown = listed(width, *(card(one, trust="imported", status="superseded", level="summary") for one in generated))
    assert all(cell_len(line.rstrip()) <= width for line in shown.splitlines())
    assert "".join(shown.split()).count(DRINKS[:5]) == 3


def test_the_evidence_of_a_fact_tells_it_too() -> None:
    console = Console(file=(out := io.StringIO()), width=120, force_terminal=True, color_system=None)
    evidence = [card("kiln", trust="inferred"), card("oven")]
    fact = {"subject": "user", "predicate": "drinks", "object": "咖啡", "negation": False, "degree": None}
    told: Any = {
        "facts": [fact | {"condition": None, "asserted_at": None, "backing": ["a", "b"], "evidence": evidence}]
    }
    facts(told | {"total": 1, "offset": 0, "known": 1, "about": None, "position": "3:1"}, console)
    told = " ".join(out.getvalue().split())
    assert "kiln (inferred): " in told
