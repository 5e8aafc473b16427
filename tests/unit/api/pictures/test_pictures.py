"""Pictures: files that a viewer can open, which say what they could not show. Drawn small, for speed."""

from __future__ import annotations

import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import colors, image, rcParams

from api.pictures.draw import MAX_NODES, draw_curves, draw_map
from api.pictures.paper import BLUE, ORANGE
from events.errors import InputError

DPI = 40
START = datetime(2025, 3, 3, 8, tzinfo=UTC)


def node(memory_id: str, label: str = "text", **more: Any) -> dict[str, Any]:
    return {"id": memory_id, "label": label, "is_center": False, "depth": 1, "cluster": None, "weight": 0.5, **more}


def graph_of(*nodes: dict[str, Any], edge_weight: float = 0.5) -> dict[str, Any]:
    """The nodes in a chain."""
    pairs = pairwise(part["id"] for part in nodes)
    edges = [{"from": one, "to": other, "weight": edge_weight, "link": "keyword"} for one, other in pairs]
    return {"nodes": list(nodes), "edges": edges, "clusters": []}


def comparison_of(**more: Any) -> dict[str, Any]:
    """100 days of two laws with three events."""
    times = [(START + timedelta(days=day)).isoformat() for day in range(100)]
    falling = [0.98**day for day in range(100)]
    events = [(0, "create"), (30, "negate"), (60, "reaffirm")]
    return {
        "laws": {
            "weighted": {"threshold": 0.3, "weights": falling},
            "tiered": {"threshold": 0.2, "weights": [None] * 10 + falling[10:]},
        },
        "times": times,
        "events": [{"time": times[day], "event": "some.event", "decision": decision} for day, decision in events],
        "title": "coffee in the morning",
    } | more


def size_of(path: Path) -> tuple[int, int]:
    """Width and height of a PNG in pixels, from its header."""
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def texts_of(path: Path) -> set[str]:
    """What an SVG writes."""
    return {"".join(part.itertext()).strip() for part in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")}


def pixels(path: Path, colour: str) -> int:
    """How many pixels of a PNG have a colour."""
    return int((np.abs(image.imread(path)[:, :, :3] - colors.to_rgb(colour)).max(axis=2) < 0.02).sum())


def inked(path: Path) -> int:
    """How many pixels of a PNG are not white."""
    return int((image.imread(path)[:, :, :3].min(axis=2) < 0.98).sum())


@pytest.fixture
def chinese_font(tmp_path: Path) -> Path:
    """A font that has 早上喝咖啡, each as a square, and no other letter."""
    names = {ord(char): f"uni{ord(char):04X}" for char in "早上喝咖啡"}
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 800), (900, 800), (900, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square = pen.glyph()
    order = [".notdef", *names.values()]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap(names)
    builder.setupGlyf(dict.fromkeys(order, square))
    builder.setupHorizontalMetrics(dict.fromkeys(order, (1000, 100)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Five Squares", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    path = tmp_path / "five-squares.ttf"
    builder.save(path)
    return path


def test_a_png_has_the_size_asked_for(tmp_path: Path) -> None:
    assert draw_map(graph_of(node("a"), node("b")), tmp_path / "map.png", dpi=100) == []
    assert draw_curves(comparison_of(), tmp_path / "curves.png", dpi=DPI) == []
    assert size_of(tmp_path / "map.png") == (1200, 800)
    assert size_of(tmp_path / "curves.png") == (480, 320)


def test_an_svg_of_a_map_holds_its_texts(tmp_path: Path) -> None:
    named = graph_of(node("a", "tea & <cake>", cluster=1, is_center=True), node("b", "$5 and $6_x^2", cluster=2))
    named |= {"title": "Map of tea", "clusters": [{"id": 1, "label": "drinks"}]}
    assert draw_map(named, tmp_path / "map.svg", dpi=DPI) == []
    wanted = {"Map of tea", "2 memories, 1 associations", "tea & <cake>", "$5 and $6_x^2", "drinks", "2", "centre"}
    assert wanted <= texts_of(tmp_path / "map.svg")


def test_an_svg_of_curves_names_laws_thresholds_and_kinds_of_events(tmp_path: Path) -> None:
    assert draw_curves(comparison_of(), tmp_path / "curves.svg", dpi=DPI) == []
    wanted = {"coffee in the morning", "weighted", "tiered", "threshold 0.3", "threshold 0.2"}
    wanted |= {"create (1)", "negate (1)", "reaffirm (1)", f"{0.98**99:.2f}"}
    assert wanted <= texts_of(tmp_path / "curves.svg")


@pytest.mark.parametrize("name", ["picture.png", "picture.svg"])
def test_the_same_data_give_the_same_bytes(tmp_path: Path, name: str) -> None:
    graph = graph_of(*(node(f"m{number}") for number in range(12)))
    contents = []
    for _ in range(2):
        draw_map(graph, tmp_path / name, dpi=DPI)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_the_area_of_a_node_goes_by_its_weight_and_its_colour_by_its_cluster(tmp_path: Path) -> None:
    heavy = [node("a1", cluster="a", weight=1.0), node("a2", cluster="a", weight=1.0)]
    light = [node("b1", cluster="b", weight=0.1), node("b2", cluster="b", weight=0.1)]
    draw_map(graph_of(*heavy, *light), tmp_path / "map.png", dpi=DPI)
    assert pixels(tmp_path / "map.png", BLUE) > 3 * pixels(tmp_path / "map.png", ORANGE) > 30


def test_a_centre_is_outlined(tmp_path: Path) -> None:
    for name, is_center in (("plain", False), ("centre", True)):
        draw_map(graph_of(node("a", cluster="a", is_center=is_center)), tmp_path / f"{name}.png", dpi=DPI)
    assert pixels(tmp_path / "centre.png", BLUE) < pixels(tmp_path / "plain.png", BLUE)
    assert inked(tmp_path / "centre.png") > inked(tmp_path / "plain.png")


def test_the_width_of_an_edge_goes_by_its_weight(tmp_path: Path) -> None:
    for name, weight in (("thin", 0.05), ("thick", 1.0)):
        draw_map(graph_of(node("a"), node("b"), edge_weight=weight), tmp_path / f"{name}.png", dpi=100)
    assert inked(tmp_path / "thick.png") > inked(tmp_path / "thin.png") + 300


@pytest.mark.parametrize("name", ["map.png", "map.svg"])
def test_one_memory_is_a_map(tmp_path: Path, name: str) -> None:
    assert draw_map(graph_of(node("a", "alone")), tmp_path / name, dpi=DPI) == []
    assert inked(tmp_path / name) if name.endswith("png") else "alone" in texts_of(tmp_path / name)


@pytest.mark.parametrize("name", ["map.png", "map.svg"])
def test_a_map_without_memories_is_refused_and_no_file_made(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no memories.*nothing was drawn"):
        draw_map({"nodes": [], "edges": [], "clusters": []}, tmp_path / name, dpi=DPI)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", [{"laws": {}}, {"times": []}])
def test_a_comparison_of_nothing_is_refused_and_no_file_made(tmp_path: Path, missing: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="nothing was drawn"):
        draw_curves(comparison_of(**missing), tmp_path / "curves.png", dpi=DPI)
    assert list(tmp_path.iterdir()) == []


def test_five_hundred_memories_are_all_drawn_and_unlabelled_ones_counted(tmp_path: Path) -> None:
    crowd = graph_of(*(node(f"m{n}", f"memory {n}", cluster=n // 50, weight=n / 500) for n in range(500)))
    (remark,) = draw_map(crowd, tmp_path / "map.svg", dpi=DPI)
    labels = sum(text.startswith("memory ") for text in texts_of(tmp_path / "map.svg"))
    circles = [part for part in ET.parse(tmp_path / "map.svg").iter() if part.get("id") == "PathCollection_1"]
    assert remark == f"{500 - labels} of 500 memories have no label for want of room"
    assert len(circles[0].findall("{http://www.w3.org/2000/svg}path")) == 500


def test_the_lightest_of_too_many_memories_are_left_out_and_counted(tmp_path: Path) -> None:
    crowd = {"nodes": [node(f"m{n}", weight=n) for n in range(MAX_NODES + 7)], "edges": [], "clusters": []}
    remarks = draw_map(crowd, tmp_path / "map.png", dpi=20)
    assert remarks[0] == f"7 of {MAX_NODES + 7} memories are left out, the lightest"


def test_chinese_without_a_font_is_the_id_in_a_png_and_a_remark(tmp_path: Path) -> None:
    graph = graph_of(node("coffee", "早上一定要喝咖啡"), node("茶", "喝茶"), node("cake", "cake"))
    remarks = draw_map(graph, tmp_path / "map.png", dpi=DPI, fonts=())
    assert [remark.partition(":")[0] for remark in remarks] == [
        "a memory's id in place of its label (1 x)",
        "a number in place of a memory's label and id (1 x)",
    ]
    assert "Noto Sans CJK" in remarks[0]


def test_chinese_without_a_font_stays_text_in_an_svg(tmp_path: Path) -> None:
    remarks = draw_map(graph_of(node("coffee", "早上一定要喝咖啡 🍵")), tmp_path / "map.svg", dpi=DPI, fonts=())
    assert "早上一定要喝咖啡 🍵" in texts_of(tmp_path / "map.svg")
    assert remarks == ["text that no font here has (1 x): the SVG holds it as text, drawn by the viewer's fonts"]


def test_chinese_is_drawn_with_a_font_that_has_it(tmp_path: Path, chinese_font: Path) -> None:
    graph = graph_of(node("m", "早上喝咖啡"))
    assert draw_map(graph, tmp_path / "with.png", dpi=DPI, fonts=(chinese_font,)) == []
    assert draw_map(graph, tmp_path / "with.svg", dpi=DPI, fonts=(chinese_font,)) == []
    draw_map(graph, tmp_path / "without.png", dpi=DPI, fonts=())
    assert inked(tmp_path / "with.png") > inked(tmp_path / "without.png") + 30
    assert "Five Squares" in (tmp_path / "with.svg").read_text(encoding="utf-8")


def test_a_title_keeps_what_can_be_written(tmp_path: Path, chinese_font: Path) -> None:
    chinese = comparison_of(title="tea: 早上喝咖啡")
    (remark,) = draw_curves(chinese, tmp_path / "curves.png", dpi=DPI, fonts=())
    assert remark.startswith("a part of the title left out (1 x): ")
    assert draw_curves(comparison_of(title="早上喝咖啡"), tmp_path / "curves.png", dpi=DPI, fonts=(chinese_font,)) == []


def test_symbols_that_no_font_has_are_left_out_of_a_label(tmp_path: Path) -> None:
    graph = graph_of(node("m", "tea 🫖 time ꙮ\x07\u200d"))
    assert draw_map(graph, tmp_path / "map.png", dpi=DPI, fonts=()) == []


def test_a_file_that_is_no_font_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    remarks = draw_map(graph_of(node("m", "茶")), tmp_path / "map.png", dpi=DPI, fonts=[tmp_path / "broken.ttf"])
    assert remarks[0].startswith("a memory's id in place of its label (1 x)")


@pytest.mark.parametrize(
    "more",
    [
        {"events": []},
        {"times": [START.isoformat()], "laws": {"weighted": {"threshold": 0.3, "weights": [0.5]}}},
        {"laws": {"weighted": {"threshold": 0.3, "weights": [None] * 100}}},
        {"events": [{"time": "2025-03-10T08:00:00Z", "event": "memory.pondered", "decision": None}]},
        {"laws": {f"law {number}": {"threshold": 3, "weights": [2.5] * 100} for number in range(6)}},
    ],
    ids=["no events", "one instant", "no weights", "an unknown kind", "six laws"],
)
def test_curves_of_little_or_much_are_drawn(tmp_path: Path, more: dict[str, Any]) -> None:
    assert draw_curves(comparison_of(**more), tmp_path / "curves.png", dpi=DPI) == []
    assert size_of(tmp_path / "curves.png") == (480, 320)


def test_the_style_of_the_user_is_left_as_it_was_and_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw_map(graph_of(node("a")), tmp_path / "before.png", dpi=DPI)
    monkeypatch.setitem(rcParams, "font.size", 31.0)
    monkeypatch.setitem(rcParams, "scatter.marker", "x")
    draw_map(graph_of(node("a")), tmp_path / "after.png", dpi=DPI)
    assert (tmp_path / "before.png").read_bytes() == (tmp_path / "after.png").read_bytes()
    assert (rcParams["font.size"], rcParams["scatter.marker"]) == (31.0, "x")


@pytest.mark.parametrize("draw", [draw_map, draw_curves])
def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: Any) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'engramlog\[pictures\]'"):
        draw(graph_of(node("a")) | comparison_of(), tmp_path / "picture.png")


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.png or \.svg"):
        draw_curves(comparison_of(), tmp_path / "curves.pdf")


def test_importing_the_drawing_modules_imports_no_library_that_draws() -> None:
    script = """
import sys, api.pictures.graph_files, api.pictures.draw, api.pictures.terminal_curves
print(sorted({"matplotlib", "networkx", "plotext"} & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told == "[]\n"
