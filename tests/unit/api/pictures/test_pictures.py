"""Pictures as files: what a viewer can open, which says what it could not show. DrawnNodes small, for speed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from api.pictures import raster
from api.pictures.colours import BLUE, ORANGE
from api.pictures.draw import draw_curves, draw_map
from api.pictures.look import Look
from api.pictures.map import MAX_NODES
from events.errors import InputError
from tests.drawn import (
    START,
    all_of,
    comparison_of,
    graph_of,
    inked,
    node,
    painted,
    read,
    size_of,
    texts_of,
)

SMALL = Look(320, 240)


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
    assert draw_map(graph_of(node("a"), node("b")), tmp_path / "map.png") == []
    assert draw_curves(comparison_of(), tmp_path / "curves.png", SMALL) == []
    assert size_of(tmp_path / "map.png") == (1200, 700)
    assert size_of(tmp_path / "curves.png") == (320, 240)


@pytest.mark.parametrize("name", ["picture.png", "picture.svg"])
def test_the_same_data_give_the_same_bytes(tmp_path: Path, name: str) -> None:
    graph = graph_of(*(node(f"m{number}") for number in range(12)))
    contents = []
    for _ in range(2):
        draw_map(graph, tmp_path / name, SMALL)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_the_area_of_a_node_goes_by_its_weight_and_its_colour_by_its_cluster(tmp_path: Path) -> None:
    heavy = [node(f"a{n}", cluster="a", weight=1.0) for n in range(3)]
    light = [node(f"b{n}", cluster="b", weight=0.1) for n in range(3)]
    draw_map(graph_of(*heavy, *light), tmp_path / "map.png", SMALL)
    assert painted(tmp_path / "map.png", BLUE) > 3 * painted(tmp_path / "map.png", ORANGE) > 30


def test_a_centre_is_ringed(tmp_path: Path) -> None:
    for name, is_center in (("plain", False), ("centre", True)):
        draw_map(graph_of(node("a", cluster="a", is_center=is_center)), tmp_path / f"{name}.svg", SMALL)
    assert len(all_of(read(tmp_path / "plain.svg"), "ring")) == 0
    assert len(all_of(read(tmp_path / "centre.svg"), "ring")) == 1


def test_the_width_of_an_edge_goes_by_its_weight(tmp_path: Path) -> None:
    for name, weight in (("thin", 0.05), ("thick", 1.0)):
        draw_map(graph_of(node("a"), node("b"), edge_weight=weight), tmp_path / f"{name}.png", SMALL)
    assert inked(tmp_path / "thick.png") > inked(tmp_path / "thin.png") + 60


@pytest.mark.parametrize("name", ["map.png", "map.svg"])
def test_one_memory_is_a_map(tmp_path: Path, name: str) -> None:
    assert draw_map(graph_of(node("a", "alone")), tmp_path / name, SMALL) == []
    assert inked(tmp_path / name) if name.endswith("png") else "alone" in texts_of(read(tmp_path / name))


@pytest.mark.parametrize("name", ["map.png", "map.svg"])
def test_a_map_without_memories_is_refused_and_no_file_made(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no memories.*nothing was drawn"):
        draw_map({"nodes": [], "edges": [], "clusters": []}, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", [{"laws": {}}, {"times": []}])
def test_a_comparison_of_nothing_is_refused_and_no_file_made(tmp_path: Path, missing: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="nothing was drawn"):
        draw_curves(comparison_of(**missing), tmp_path / "curves.png")
    assert list(tmp_path.iterdir()) == []


def test_the_lightest_of_too_many_memories_are_left_out_and_counted(tmp_path: Path) -> None:
    crowd = {"nodes": [node(f"m{n}", weight=n) for n in range(MAX_NODES + 7)], "edges": [], "clusters": []}
    remarks = draw_map(crowd, tmp_path / "map.svg", SMALL)
    assert remarks[0] == f"7 of {MAX_NODES + 7} are left out, the lightest"
    shown = {one.get("data-id") for one in all_of(read(tmp_path / "map.svg"), "node")}
    assert shown == {f"m{n}" for n in range(7, MAX_NODES + 7)}


def test_chinese_without_a_font_is_the_id_in_a_png_and_a_remark(tmp_path: Path) -> None:
    graph = graph_of(node("coffee", "早上一定要喝咖啡"), node("茶", "喝茶"), node("cake", "cake"))
    remarks = draw_map(graph, tmp_path / "map.png", SMALL, fonts=())
    assert [remark.partition(":")[0] for remark in remarks] == [
        "a memory's id in place of its label (1 x)",
        "a number in place of a memory's label and id (1 x)",
    ]
    assert "Noto Sans CJK" in remarks[0]


def test_chinese_stays_text_in_an_svg_whatever_fonts_there_are(tmp_path: Path) -> None:
    assert draw_map(graph_of(node("coffee", "早上一定要喝咖啡 🍵")), tmp_path / "map.svg", SMALL, fonts=()) == []
    assert "早上一定要喝咖啡 🍵" in texts_of(read(tmp_path / "map.svg"))


def test_chinese_is_drawn_with_a_font_that_has_it(tmp_path: Path, chinese_font: Path) -> None:
    graph = graph_of(node("m", "早上喝咖啡"))
    assert draw_map(graph, tmp_path / "with.png", SMALL, fonts=(chinese_font,)) == []
    draw_map(graph, tmp_path / "without.png", SMALL, fonts=())
    assert inked(tmp_path / "with.png") > inked(tmp_path / "without.png") + 60


def test_a_title_keeps_what_can_be_written(tmp_path: Path, chinese_font: Path) -> None:
    chinese = comparison_of(title="tea: 早上喝咖啡")
    (remark,) = draw_curves(chinese, tmp_path / "curves.png", SMALL, fonts=())
    assert remark.startswith("a part of a text left out (1 x): ")
    squares = comparison_of(title="早上喝咖啡")
    assert draw_curves(squares, tmp_path / "curves.png", SMALL, fonts=(chinese_font,)) == []


def test_symbols_that_no_font_has_are_left_out_of_a_label(tmp_path: Path) -> None:
    graph = graph_of(node("m", "tea 🫖 time ꙮ"))
    assert draw_map(graph, tmp_path / "map.png", SMALL, fonts=()) == []


def test_a_file_that_is_no_font_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    remarks = draw_map(graph_of(node("m", "茶")), tmp_path / "map.png", SMALL, fonts=[tmp_path / "broken.ttf"])
    assert remarks[0].startswith("a memory's id in place of its label (1 x)")


def test_without_any_font_a_png_is_drawn_and_says_that_it_has_no_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raster, "installed_fonts", list)
    (remark,) = draw_map(graph_of(node("m")), tmp_path / "map.png", SMALL)
    assert "no font is installed here" in remark
    assert inked(tmp_path / "map.png") > 100


@pytest.mark.parametrize(
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
    assert draw_curves(comparison_of(**more), tmp_path / "curves.png", SMALL) == []
    assert size_of(tmp_path / "curves.png") == (320, 240)


@pytest.mark.parametrize("draw", [draw_map, draw_curves])
def test_without_resvg_the_extra_is_named_and_an_svg_is_drawn_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: Any
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(InputError, match=r"pip install 'engramlog\[pictures\]'"):
        draw(graph_of(node("a")) | comparison_of(), tmp_path / "picture.png")
    assert draw(graph_of(node("a")) | comparison_of(), tmp_path / "picture.svg") == []
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.png or \.svg"):
        draw_curves(comparison_of(), tmp_path / "curves.pdf")


def test_importing_the_drawing_modules_imports_no_library_that_draws() -> None:
    script = """
import sys, api.pictures.graph_files, api.pictures.draw, api.pictures.terminal_curves
print(sorted({"resvg_py", "matplotlib", "networkx", "plotext"} & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told == "[]\n"
