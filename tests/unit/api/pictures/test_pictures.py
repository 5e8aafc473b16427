"""Pictures as files: an SVG, whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.pictures.curves import curves_picture
from api.pictures.files import write_picture
from api.pictures.look import Look
from api.pictures.map import MAX_NODES, map_picture
from events.errors import InputError
from tests.drawn import START, all_of, comparison_of, graph_of, node, read, texts_of
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


def test_a_centre_is_ringed(tmp_path: Path) -> None:
    for name, is_center in (("plain", False), ("centre", True)):
        draw_map(graph_of(node("a", cluster="a", is_center=is_center)), tmp_path / f"{name}.svg")
    assert len(all_of(read(tmp_path / "plain.svg"), "ring")) == 0
    assert len(all_of(read(tmp_path / "centre.svg"), "ring")) == 1


def test_one_memory_is_a_map(tmp_path: Path) -> None:
    assert draw_map(graph_of(node("a", "alone")), tmp_path / "map.svg") == []
    assert "alone" in texts_of(read(tmp_path / "map.svg"))


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


def test_chinese_stays_text(tmp_path: Path) -> None:
    assert draw_map(graph_of(node("coffee", "早上一定要喝咖啡 🍵")), tmp_path / "map.svg", Look()) == []
    assert "早上一定要喝咖啡 🍵" in texts_of(read(tmp_path / "map.svg"))


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


@each_row("name", ["curves.png", "curves.pdf", "curves"])
def test_another_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"a name that ends in \.svg"):
        draw_curves(comparison_of(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a file in a folder that exists"):
        draw_curves(comparison_of(), tmp_path / "none" / "curves.svg")


def test_importing_the_drawing_modules_imports_no_library_that_draws() -> None:
    script = """
import sys, api.pictures.curves, api.pictures.map, api.pictures.files
print(sorted({"matplotlib", "networkx"} & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told == "[]\n"
