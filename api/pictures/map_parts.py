"""The parts of which every map is drawn: hulls, edges, nodes, labels, and the legend below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from api.pictures.labels import Box
from api.pictures.look import Look
from api.pictures.svg import add, group, line, number, path_of, put, write
from api.pictures.text import width
from api.pictures.words import PictureWords

LABEL, NAME = 11.5, 13.0
"""Sizes of labels and of clusters' names, in pixels."""
_DASHES = {"keyword": None, "meaning": "7 4", "temporal": "2 4", "co-task": "9 3 2 3", "co-hit": "4 2"}
"""Of edges by kind: colour is no sign of them."""
_OTHER_DASH = "12 5"
MOST_IN_LEGEND = 6
LEGEND_ROW = 17
"""Pixels from a row of the legend to the next."""
LEGEND_SHARE = 0.2
RING = 4.5
"""How far the ring of a centre reaches beyond its disc."""
Node = Mapping[str, Any]
Edge = Mapping[str, Any]
Place = tuple[float, float]


class DrawnNodes(NamedTuple):
    """What came of drawing nodes."""

    unlabelled: int


def draw_hull(
    held: Element, corners: Sequence[Place], reach: float, fill: str, title: str, look: Look, told: Mapping[str, str]
) -> None:
    """A soft shape around the nodes of a cluster."""
    made = group(held, "cluster", title, **told)
    data = path_of([*corners, corners[0]] if len(corners) == 1 else corners) + ("Z" if len(corners) > 2 else "")
    add(
        made,
        "path",
        class_="hull",
        d=data,
        fill=fill,
        stroke=fill,
        stroke_width=2 * reach,
        stroke_linejoin="round",
        stroke_linecap="round",
        opacity=0.16 if look.theme == "light" else 0.24,
    )


def dash_of(kind: str) -> str | None:
    """How edges of a kind are drawn."""
    return _DASHES.get(kind, _OTHER_DASH)


def keywords_of(edge: Edge) -> list[str]:
    """The words for whose sake two nodes are tied, as far as they are told."""
    words = [*(edge.get("keywords") or ())]
    words += [word for reason in edge.get("reasons") or () for word in reason.get("keywords") or ()]
    return [str(word) for word in dict.fromkeys(words)]


def draw_edges(
    picture: Element, nodes: Sequence[Node], edges: Sequence[Edge], at: Sequence[Place], look: Look, words: PictureWords
) -> None:
    """A line for each association, as wide as it is strong."""
    held = group(picture, "edges")
    places = {node["id"]: place for node, place in zip(nodes, at, strict=True)}
    texts = {node["id"]: str(node.get("label") or node["id"]) for node in nodes}
    for edge in edges:
        kind, strength = str(edge.get("link") or ""), max(float(edge.get("weight") or 0.0), 0.0)
        keywords = ", ".join(keywords_of(edge))
        title = words.edge_title.format(texts[edge["from"]], texts[edge["to"]], words.link(kind), f"{strength:.2f}")
        made = group(
            held,
            "edge",
            f"{title}\n{keywords}" if keywords else title,
            data_from=str(edge["from"]),
            data_to=str(edge["to"]),
            data_kind=kind,
            data_weight=f"{strength:g}",
            data_keywords=keywords or None,
        )
        wide = 1 + 3 * min(strength, 1.0)
        ends = (*places[edge["from"]], *places[edge["to"]])
        line(made, *ends, look.colours.rule, stroke_width=wide, stroke_dasharray=dash_of(kind))


def draw_nodes(
    picture: Element,
    nodes: Sequence[Node],
    at: Sequence[Place],
    radii: Sequence[float],
    fills: Sequence[str],
    look: Look,
    words: PictureWords,
) -> None:
    """A disc for each memory; what matches best has a ring."""
    held = group(picture, "nodes")
    for node, (x, y), radius, fill in zip(nodes, at, radii, fills, strict=True):
        weight = float(node.get("weight") or 0.0)
        label, kind = str(node.get("label") or node["id"]), str(node.get("kind") or "")
        depth = node.get("depth")
        made = group(
            held,
            "node center" if node.get("is_center") else "node",
            words.node_title.format(label, kind or node["id"], f"{weight:.2f}"),
            data_id=str(node["id"]),
            data_cluster=None if node.get("cluster") is None else str(node["cluster"]),
            data_weight=f"{weight:g}",
            data_kind=kind or None,
            data_depth=None if depth is None else str(depth),
            data_x=number(x),
            data_y=number(y),
            data_r=number(radius),
        )
        if node.get("is_center"):
            ring = add(made, "circle", class_="ring", cx=x, cy=y, r=radius + 3.5, fill=look.colours.paper)
            put(ring, stroke=look.colours.ink, stroke_width=1.6)
        add(made, "circle", cx=x, cy=y, r=radius, fill=fill, stroke=look.colours.ink, stroke_width=1)


def draw_lines(
    held: Element, lines: Sequence[str], box: Box, size: float, look: Look, memory_id: str, x: float
) -> None:
    """The lines of a label in its box, toward its node at `x`."""
    middle = box.middle[0]
    anchor, at = ("start", box.left + 1) if box.left > x else ("end", box.right - 1)
    if box.left < x < box.right:
        anchor, at = "middle", middle
    height = (box.bottom - box.top) / len(lines)
    for place, text in enumerate(lines):
        base = box.top + height * (place + 0.5) + 0.3 * size
        written = write(held, text, at, base, size, look.colours.ink, anchor=anchor, halo=look.colours, class_="label")
        put(written, data_id=memory_id)


def draw_cluster_name(held: Element, text: str, box: Box, look: Look, cluster: str) -> None:
    """A cluster's name in its box."""
    x, y = box.middle
    fill = look.colours.ink
    write(
        held,
        text,
        x,
        y + NAME * 0.36,
        NAME,
        fill,
        anchor="middle",
        bold=True,
        halo=look.colours,
        class_="cluster-name",
        data_cluster=cluster,
    )


def draw_legend(
    picture: Element, edges: Sequence[Edge], nodes: Sequence[Node], look: Look, words: PictureWords
) -> float:
    """What lines and rings stand for, along the bottom; where the picture above ends.

    It takes at most a fifth of the picture: the rarest kinds of a small one are told by their lines alone.
    """
    held = group(picture, "legend")
    kinds = Counter(str(edge.get("link") or "") for edge in edges)
    entries = [(kind, words.link(kind)) for kind, _ in kinds.most_common(MOST_IN_LEGEND) if kind]
    entries += [("", words.centre)] if any(node.get("is_center") for node in nodes) else []
    rows: list[list[tuple[float, str, str]]] = [[]]
    x = 20.0
    for kind, text in entries:
        wide = 32 + width(text, LABEL)
        if rows[-1] and x + wide > look.width - 4:
            rows.append([])
            x = 20.0
        rows[-1].append((x, kind, text))
        x += wide + 18
    rows = rows[: max(int(LEGEND_SHARE * look.height / LEGEND_ROW), 1)]
    top = look.height - 30.0 - LEGEND_ROW * (len(rows) - 1)
    for place, row in enumerate(rows):
        y = top + LEGEND_ROW * place
        for x, kind, text in row:
            if kind:
                sample = line(held, x, y - 4, x + 26, y - 4, look.colours.rule, stroke_width=2)
                put(sample, stroke_dasharray=dash_of(kind))
            else:
                add(held, "circle", cx=x + 18, cy=y - 4, r=6, fill="none", stroke=look.colours.ink, stroke_width=1.6)
            write(held, text, x + 32, y, LABEL, look.colours.pale)
    return top - 14
