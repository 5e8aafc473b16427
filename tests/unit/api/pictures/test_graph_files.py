"""Files of a knowledge map: each format is read back, also with texts that its syntax would trip over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.pictures.graph_files import dot_of, graphml_of, networkx_of, write_graph
from events.errors import InputError

AWKWARD = (
    'she said "tea"',
    "a \\ and \\n and \\N and \\",
    "two\nlines",
    "早上一定要喝咖啡。",
    "<b>&amp; &lt; ]]>",
    "a -> b; }",
    "%s {} [x=1]",
    " spaces ",
    "🍵 tea",
)
TEXTS = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff") | st.sampled_from('\n\t"\\&;')
)
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(->)|([][{}=,;])|([A-Za-z_]\w*)|(\s+)', re.DOTALL)


def node(memory_id: str, label: str = "text", **more: Any) -> dict[str, Any]:
    return {"id": memory_id, "label": label, "is_center": False, "depth": 1, "cluster": "c1", "weight": 0.5, **more}


def edge(start: str, end: str, weight: float = 0.4, link: str = "keyword", **more: Any) -> dict[str, Any]:
    return {"from": start, "to": end, "weight": weight, "link": link, **more}


def graph_of(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, Any]:
    return {"nodes": nodes, "edges": edges, "clusters": [{"id": "c1", "label": "咖啡"}]}


SMALL = graph_of(
    [node("tea", is_center=True), node("咖啡", "喝咖啡"), node("cake", cluster=None)], [edge("tea", "咖啡")]
)


def read_graphml(path: Path) -> Any:
    """The graph of a file, without the empty defaults that networkx notes on it."""
    network = nx.read_graphml(path)
    assert (network.graph.pop("node_default"), network.graph.pop("edge_default")) == ({}, {})
    return network


def tokens(text: str) -> Iterator[str]:
    """The tokens of a DOT text; a string begins with a quote mark and is unescaped. Fails on what is no token."""
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, f"no token: {text[at : at + 30]!r}"
        at = match.end()
        if match[1] is not None:
            shown = re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], match[1], flags=re.DOTALL)
            yield '"' + re.sub(r"&amp;(?=\w+;|#\d+;|#[xX][0-9a-fA-F]+;)", "&", shown)
        elif match[5] is None:
            yield match[0]


def attributes(words: list[str]) -> dict[str, str]:
    """The quoted attributes of one DOT statement."""
    return {
        words[at - 1][1:]: words[at + 1][1:] for at, word in enumerate(words) if word == "=" and words[at - 1][0] == '"'
    }


def statements(text: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Attributes by node and by pair of nodes."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    words: list[str] = []
    for word in list(tokens(text))[3:-1]:
        words = [] if word == ";" else [*words, word]
        if word == "]" and words[0][0] == '"':
            ends = (words[0][1:], words[2][1:]) if words[1] == "->" else (words[0][1:],)
            found[ends] = attributes(words)
    return found


def test_json_holds_the_map_as_it_is(tmp_path: Path) -> None:
    assert write_graph(SMALL, tmp_path / "map.json") == []
    assert json.loads((tmp_path / "map.json").read_text(encoding="utf-8")) == SMALL


def test_graphml_is_read_back_equal(tmp_path: Path) -> None:
    write_graph(SMALL, tmp_path / "map.graphml")
    read = read_graphml(tmp_path / "map.graphml")
    assert nx.utils.graphs_equal(read, networkx_of(SMALL))
    assert read.nodes["咖啡"] == {"label": "喝咖啡", "is_center": False, "depth": 1, "cluster": "c1", "weight": 0.5}
    assert json.loads(read.graph["clusters"]) == SMALL["clusters"]


def test_several_edges_between_two_nodes_all_stay_in_graphml(tmp_path: Path) -> None:
    graph = graph_of([node("a"), node("b")], [edge("a", "b"), edge("a", "b", 0.9, "task", key="k"), edge("b", "a")])
    write_graph(graph, tmp_path / "map.graphml")
    read = read_graphml(tmp_path / "map.graphml")
    assert nx.utils.graphs_equal(read, networkx_of(graph))
    assert sorted((start, end, shown["link"]) for start, end, shown in read.edges(data=True)) == [
        ("a", "b", "keyword"),
        ("a", "b", "task"),
        ("b", "a", "keyword"),
    ]


@pytest.mark.parametrize("label", AWKWARD)
def test_graphml_holds_any_text(tmp_path: Path, label: str) -> None:
    write_graph(graph_of([node("a", label)], []), tmp_path / "map.graphml")
    assert nx.read_graphml(tmp_path / "map.graphml").nodes["a"]["label"] == label


def test_what_xml_cannot_hold_is_replaced_in_graphml() -> None:
    read = nx.parse_graphml(graphml_of(graph_of([node("a", "bell\x07 and\r\nend\rof\x00")], [])).decode())
    assert read.nodes["a"]["label"] == "bell\ufffd and\nend\nof\ufffd"


@given(TEXTS)
def test_graphml_and_dot_hold_the_same_text(label: str) -> None:
    graph = graph_of([node("a", label)], [])
    read = nx.parse_graphml(graphml_of(graph).decode())
    assert read.nodes["a"].get("label", "") == label
    assert statements(dot_of(graph).decode())[("a",)]["label"] == (label or "a")


@pytest.mark.parametrize("label", AWKWARD)
def test_dot_holds_any_text_as_label_and_as_id(label: str) -> None:
    read = statements(dot_of(graph_of([node(label, label), node("b")], [edge(label, "b", link=label)])).decode())
    assert read[(label,)]["label"] == label
    assert read[(label, "b")]["link"] == label


def test_dot_tells_centres_and_weights(tmp_path: Path) -> None:
    write_graph(SMALL, tmp_path / "map.dot")
    write_graph(SMALL, tmp_path / "map.gv")
    text = (tmp_path / "map.dot").read_text(encoding="utf-8")
    read = statements(text)
    assert text == (tmp_path / "map.gv").read_text(encoding="utf-8")
    assert set(read) == {("tea",), ("咖啡",), ("cake",), ("tea", "咖啡")}
    assert (read[("tea",)]["peripheries"], read[("tea",)]["is_center"]) == ("2", "true")
    assert "peripheries" not in read[("咖啡",)]
    assert read[("tea", "咖啡")] == {"weight": "0.4", "link": "keyword", "penwidth": "1.5"}


@pytest.mark.parametrize("suffix", ["json", "graphml", "dot"])
def test_a_map_without_memories_is_a_file_without_nodes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"map.{suffix}"
    write_graph({"nodes": [], "edges": [], "clusters": []}, path)
    if suffix == "json":
        assert json.loads(path.read_text())["nodes"] == []
    elif suffix == "graphml":
        assert len(nx.read_graphml(path)) == 0
    else:
        assert statements(path.read_text()) == {}


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures_go_by_their_suffix_too(tmp_path: Path, suffix: str) -> None:
    write_graph(SMALL, tmp_path / f"map.{suffix.upper()}")
    assert (tmp_path / f"map.{suffix.upper()}").read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")


@pytest.mark.parametrize("name", ["map", "map.pdf", "map.json.txt", ".png"])
def test_another_suffix_is_refused_with_the_allowed_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=re.escape(".json, .graphml, .dot, .gv, .png, .svg")):
        write_graph(SMALL, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["map.json", "map.graphml", "map.dot", "map.svg"])
def test_a_folder_that_does_not_exist_is_refused_and_not_made(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="a folder that exists"):
        write_graph(SMALL, tmp_path / "none" / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text("old")
    write_graph(SMALL, tmp_path / "map.json")
    assert json.loads((tmp_path / "map.json").read_text(encoding="utf-8")) == SMALL
    assert [path.name for path in tmp_path.iterdir()] == ["map.json"]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "map.json" / "inner").mkdir(parents=True)
    with pytest.raises(InputError, match="a file that can be written"):
        write_graph(SMALL, tmp_path / "map.json")
    assert [path.name for path in tmp_path.rglob("*")] == ["map.json", "inner"]


def test_a_picture_that_cannot_be_drawn_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "map.png").write_bytes(b"old")
    with pytest.raises(InputError, match="no memories"):
        write_graph({"nodes": [], "edges": [], "clusters": []}, tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["map.json", "map.graphml", "map.dot", "map.png"])
def test_an_edge_to_a_memory_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"edges\.to: got 'nowhere'"):
        write_graph(graph_of([node("a")], [edge("a", "nowhere")]), tmp_path / name)
