"""Maps as SVG: labels never meet each other or a node, every part says what it is, and nothing in it can do anything."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.api.pictures.map import Box, MapPicture, map_picture
from engramlog_server.api.pictures.svg import Look, written
from tests.drawn import HOSTILE, SVG, all_of, box_of, edge, graph_of, node, read, texts_of, title_of
from tests.examples import examples
from tests.rows import each_row

SIZES = [(1200, 700), (390, 500), (700, 1400), (320, 240)]
ALLOWED = {"svg", "title", "desc", "g", "rect", "text", "line", "path", "circle"}
LABELS = st.sampled_from(
    ["coffee", "早上一定要喝咖啡，不然没精神", "I moved to Lyon in May with my sister and…", *HOSTILE]
)
LINKS = ["keyword", "meaning", "temporal", "co-task", "co-hit", "related", "told so"]


@st.composite
def graphs(draw: st.DrawFn, most: int = 40) -> dict[str, Any]:
    """Any graph, its clusters and edges by chance."""
    count = draw(st.integers(1, most))
    names = [f"m{number}" for number in range(count)]
    nodes = [
        node(
            name,
            draw(LABELS),
            weight=draw(st.sampled_from([0.0, 0.2, 1.0, 2.5])),
            cluster=draw(st.sampled_from([None, 0, 1, 2, 3])),
            is_center=draw(st.booleans()),
        )
        for name in names
    ]
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=2 * count))
    edges = [
        edge(one, other, draw(st.sampled_from([0.1, 0.9])), draw(st.sampled_from(LINKS)))
        for one, other in dict.fromkeys(pairs)
        if one != other
    ]
    clusters = [{"id": number, "members": [], "label": draw(LABELS)} for number in range(4)]
    return {"nodes": nodes, "edges": edges, "clusters": clusters, "topic": draw(LABELS)}


def drawn(graph: dict[str, Any], **look: Any) -> tuple[Any, MapPicture]:
    told = map_picture(graph, Look(**look))
    return read(written(told.root)), told


def discs(picture: Any) -> list[Box]:
    found = []
    for one in all_of(picture, "node"):
        x, y, r = (float(one.get(f"data-{name}") or 0) for name in ("x", "y", "r"))
        found.append(Box(x - r, y - r, x + r, y + r))
    return found


def letters(picture: Any) -> list[tuple[str, Box]]:
    """Boxes of what stands in the map, with whose it is: lines of one label touch each other."""
    return [
        (f"{name} {one.get('data-id') or one.get('data-cluster') or ''}", box_of(one))
        for name in ("label", "cluster-name")
        for one in all_of(picture, name)
    ]


@settings(max_examples=examples(80), deadline=None)
@given(graphs(), st.sampled_from(SIZES), st.sampled_from(["en", "zh"]))
def test_no_label_meets_another_or_a_node_and_all_stand_in_the_picture(
    graph: dict[str, Any], size: tuple[int, int], language: str
) -> None:
    picture, _ = drawn(graph, width=size[0], height=size[1], language=language)
    told = letters(picture)
    for (one, box), (other, beside) in combinations(told, 2):
        assert one == other != "edge-word " or not box.meets(beside), (one, other)
    for name, box in told:
        assert not any(box.meets(disc) for disc in discs(picture)), name
    texts = [box_of(one) for one in picture.iter(f"{SVG}text")]
    assert all(box.left >= 0 and box.right <= size[0] and box.top >= 0 and box.bottom <= size[1] for box in texts)
    assert all(box.left >= 0 and box.right <= size[0] and box.bottom <= size[1] for box in discs(picture))


@settings(max_examples=examples(30), deadline=None)
@given(graphs(most=25))
def test_nodes_edges_and_labels_are_those_of_json_and_the_rest_is_counted(graph: dict[str, Any]) -> None:
    picture, told = drawn(graph)
    weights = {one["id"]: one["weight"] for one in graph["nodes"]}
    assert {one.get("data-id"): float(one.get("data-weight") or -1) for one in all_of(picture, "node")} == weights
    ends = [(one["from"], one["to"], one["link"], one["weight"]) for one in graph["edges"]]
    assert [
        (one.get("data-from"), one.get("data-to"), one.get("data-kind"), float(one.get("data-weight") or -1))
        for one in all_of(picture, "edge")
    ] == ends
    labelled = {one.get("data-id") for one in all_of(picture, "label")}
    missing = len(weights) - len(labelled)
    assert picture.get("data-unlabelled") == str(missing)
    assert (f"{missing} of {len(weights)} have no label for want of room" in told.remarks) is bool(missing)
    if told.remarks:
        assert all_of(picture, "note")


@settings(max_examples=examples(30), deadline=None)
@given(graphs(), st.sampled_from(["light", "dark"]))
def test_nothing_in_it_can_do_anything(graph: dict[str, Any], theme: str) -> None:
    graph["nodes"][0]["id"], before = '"><script>', graph["nodes"][0]["id"]
    for one in graph["edges"]:
        one |= {end: '"><script>' for end in ("from", "to") if one[end] == before}
    picture, _ = drawn(graph, theme=theme)
    assert {one.tag.removeprefix(SVG) for one in picture.iter()} <= ALLOWED
    for one in picture.iter():
        assert not any(
            name in ("style", "id", "tabindex") or name.startswith("on") or "href" in name for name in one.attrib
        )
    assert '"><script>' in {one.get("data-id") for one in all_of(picture, "node")}


def test_clusters_have_hulls_names_and_colours_and_who_belongs_with_nobody_is_grey() -> None:
    nodes = [node(f"a{n}", cluster=0) for n in range(5)] + [node(f"b{n}", cluster=1) for n in range(3)]
    graph = {
        "nodes": [*nodes, node("alone", cluster=2), node("none")],
        "edges": [edge("a0", "a1"), edge("b0", "b1")],
        "clusters": [
            {"id": 0, "members": [], "label": "coffee tea"},
            {"id": 1, "members": [], "label": "咖啡", "name": "茶和咖啡"},
            {"id": 2, "members": [], "label": "alone"},
        ],
    }
    picture, _ = drawn(graph)
    assert [(one.get("data-name"), one.get("data-count")) for one in all_of(picture, "cluster")] == [
        ("coffee tea", "5"),
        ("茶和咖啡", "3"),
    ]
    assert {"coffee tea", "茶和咖啡"} <= texts_of(picture)
    fills: dict[str | None, set[str | None]] = {}
    for one in all_of(picture, "node"):
        fills.setdefault(one.get("data-cluster"), set()).add(one.findall(f"{SVG}circle")[-1].get("fill"))
    assert all(len(one) == 1 for one in fills.values())
    assert fills[None] == fills["2"] != fills["0"] != fills["1"]
    assert picture.get("data-clusters") == "2"


def test_an_edge_says_for_which_words_as_far_as_json_does() -> None:
    reasons = [{"link": "keyword", "weight": 0.6, "keywords": ["pottery", "bowl"]}, {"link": "meaning", "keywords": []}]
    graph = {
        "nodes": [node("a", "one"), node("b", "two")],
        "edges": [edge("a", "b", 0.6, reasons=reasons)],
        "clusters": [],
    }
    picture, _ = drawn(graph)
    (made,) = all_of(picture, "edge")
    assert made.get("data-keywords") == "pottery, bowl"
    assert title_of(made) == "one – two\nsame words 0.60\npottery, bowl"


@each_row("size", SIZES[:3])
def test_a_few_memories_have_their_words_in_full(size: tuple[int, int]) -> None:
    label = "I moved to Lyon in May"
    picture, told = drawn(graph_of(*(node(f"m{n}", label) for n in range(4))), width=size[0], height=size[1])
    assert told.remarks == []
    for name in (f"m{n}" for n in range(4)):
        lines = [one for one in all_of(picture, "label") if one.get("data-id") == name]
        assert " ".join("".join(one.itertext()) for one in lines) == label
