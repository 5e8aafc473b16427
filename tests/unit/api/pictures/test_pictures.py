"""Pictures as files: an SVG, whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.pictures.curves import curves_picture
from engramlog_server.api.pictures.map import MAX_NODES, map_picture
from engramlog_server.api.pictures.svg import Look, write_picture
from engramlog_server.events.errors import InputError
from tests.drawn import START, all_of, comparison_of, graph_of, node, read
from tests.rows import each_row

SMALL = Look(320, 240)


def draw_map(graph: Any, path: Path, look: Look = SMALL) -> list[str]:
    drawn = map_picture(graph, look)
    write_picture(drawn.root, path)
    return drawn.remarks


def draw_curves(comparison: Any, path: Path, look: Look = SMALL) -> None:
    write_picture(curves_picture(comparison, look), path)


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    graph = graph_of(*(node(f"m{number}") for number in range(12)))
    contents = []
    for _ in range(2):
        draw_map(graph, tmp_path / "picture.svg")
        contents.append((tmp_path / "picture.svg").read_bytes())
    assert contents[0] == contents[1]


@each_row("missing", [{"laws": {}}, {"times": []}])
def test_a_comparison_of_nothing_is_refused_and_no_file_made(tmp_path: Path, missing: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="nothing was drawn"):
        draw_curves(comparison_of(**missing), tmp_path / "curves.svg")
    assert list(tmp_path.iterdir()) == []


def test_the_lightest_of_too_many_memories_are_left_out_and_counted(tmp_path: Path) -> None:
    crowd = {"nodes": [node(f"m{n}", weight=n) for n in range(MAX_NODES + 7)], "edges": [], "clusters": []}
    remarks = draw_map(crowd, tmp_path / "map.svg")
    assert remarks[0] == f"7 of {MAX_NODES + 7} are left out, the lightest"
    shown = {one.get("data-id") for one in all_of(read(tmp_path / "map.svg"), "node")}
    assert shown == {f"m{n}" for n in range(7, MAX_NODES + 7)}


@each_row(
    "more",
    [
        {"events": []},
        {"times": [START.isoformat()], "laws": {"weighted": {"threshold": 0.3, "weights": [0.5]}}, "events": []},
        {"laws": {"weighted": {"threshold": 0.3, "weights": [None] * 100}}},
        {"events": [{"time": "2025-03-10T08:00:00Z", "event": "memory.pondered", "decision": None}]},
        {"laws": {f"law {number}": {"threshold": 3, "weights": [2.5] * 100} for number in range(6)}},
    ],
    ids=["no events", "one instant", "no weights", "an unknown kind", "six laws"],
)
def test_curves_of_little_or_much_are_drawn(tmp_path: Path, more: dict[str, Any]) -> None:
    draw_curves(comparison_of(**more), tmp_path / "curves.svg")
    assert read(tmp_path / "curves.svg").get("viewBox") == "0 0 320 240"


def test_importing_the_drawing_modules_imports_no_library_that_draws() -> None:
    script = """
import sys, api.pictures.curves, api.pictures.map, api.pictures.svg
print(sorted({"matplotlib", "networkx"} & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told == "[]\n"
