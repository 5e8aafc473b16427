"""A knowledge map on a figure: nodes, edges, labels where there is room, and a legend of the clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from api.pictures.layout import Floats, Spot, place_labels, place_nodes
from api.pictures.paper import (
    BLUE,
    GREEN,
    GREY,
    HEIGHT,
    INK,
    ORANGE,
    PINK,
    RED,
    SKY,
    SMALL,
    WIDTH,
    YELLOW,
    LegendEntry,
    add_legend,
)
from api.pictures.text import Lettering, columns, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_LABEL = 24
"""Longest label on a map, in columns; a Chinese character has two."""
_LEFT, _RIGHT, _BOTTOM, _TOP = 60.0, 60.0, 60.0, 62.0
"""Margins of a map, where no node stands, in points."""

CLUSTER_COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW)


def weight_of(part: Mapping[str, Any]) -> float:
    """The weight of a node or an edge, not below 0; 0 where it has none."""
    return max(float(part.get("weight") or 0.0), 0.0)


def draw_nodes(
    figure: Figure, graph: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], lettering: Lettering
) -> int:
    """The whole map, and how many nodes have no label."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - matplotlib is an extra

    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(0, HEIGHT))
    axes.set_axis_off()
    colours = _cluster_colours(nodes)
    # Nodes of a cluster start in one ring, not mixed with others.
    order = sorted(range(len(nodes)), key=lambda index: list(colours).index(nodes[index].get("cluster")))
    rows = {nodes[index]["id"]: row for row, index in enumerate(order)}
    edges = [edge for edge in graph["edges"] if edge["from"] in rows and edge["to"] in rows]
    pairs = [(rows[edge["from"]], rows[edge["to"]]) for edge in edges]
    room = (WIDTH - _LEFT - _RIGHT, HEIGHT - _BOTTOM - _TOP)
    places = place_nodes(len(nodes), pairs, [weight_of(edge) for edge in edges]) * room + (_LEFT, _BOTTOM)
    radii = _radii(nodes)
    widths = [(0.02 + 0.13 * min(weight_of(edge), 1.0)) * max(radii) for edge in edges]
    lines = [(places[one], places[other]) for one, other in pairs]
    axes.add_collection(LineCollection(lines, linewidths=widths, colors=GREY, alpha=0.6, zorder=1))
    own = places[[rows[node["id"]] for node in nodes]]
    axes.scatter(
        own[:, 0],
        own[:, 1],
        s=[(2 * radius) ** 2 for radius in radii],
        c=[colours[node.get("cluster")] for node in nodes],
        edgecolors=[INK if node.get("is_center") else "white" for node in nodes],
        linewidths=[2.0 if node.get("is_center") else 0.8 for node in nodes],
        zorder=2,
    )
    _legend_of_clusters(figure, graph, colours, nodes, lettering)
    return _label_nodes(axes, nodes, own, radii, lettering)


def _label_nodes(
    axes: Axes, nodes: Sequence[Mapping[str, Any]], places: Floats, radii: Sequence[float], lettering: Lettering
) -> int:
    """A short label at each node that has room for one, centres first; how many have none."""
    written = []
    for number, node in enumerate(nodes, start=1):
        name = short(str(node["id"]), MAX_LABEL)
        texts = [
            (short(str(node.get("label") or ""), MAX_LABEL), ""),
            (name, "a memory's id in place of its label"),
            (f"#{number}", "a number in place of a memory's label and id"),
        ]
        written.append(lettering.write(texts, SMALL))
    spots = [
        Spot(float(x), float(y), radius, 0.62 * SMALL * columns(text))
        for (x, y), radius, (text, _) in zip(places, radii, written, strict=True)
    ]
    centres = sum(bool(node.get("is_center")) for node in nodes)
    middles = place_labels(spots, 1.3 * SMALL, (WIDTH, HEIGHT), kept=centres)
    for middle, (text, font) in zip(middles, written, strict=True):
        if middle:
            label = axes.text(*middle, text, fontproperties=font, color=INK, ha="center", va="center", zorder=3)
            label.set(parse_math=False, bbox={"facecolor": "white", "alpha": 0.6, "pad": 0.5, "linewidth": 0})
    return middles.count(None)


def _radii(nodes: Sequence[Mapping[str, Any]]) -> list[float]:
    """Radii in points: the area goes by the weight, as large as so many nodes allow."""
    largest = min(max(0.3 * (WIDTH * HEIGHT / len(nodes)) ** 0.5, 5.0), 20.0)
    smallest = largest / 3
    heaviest = max(map(weight_of, nodes)) or 1.0
    spread = largest**2 - smallest**2
    return [float((smallest**2 + spread * weight_of(node) / heaviest) ** 0.5) for node in nodes]


def _cluster_colours(nodes: Sequence[Mapping[str, Any]]) -> dict[Any, str]:
    """Clusters by size, the largest first, each with its colour; grey for those beyond the palette and for None."""
    counts = Counter(node.get("cluster") for node in nodes)
    ranked = sorted(counts, key=lambda cluster: (cluster is None, -counts[cluster], str(cluster)))
    palette = dict(zip((cluster for cluster in ranked if cluster is not None), CLUSTER_COLOURS, strict=False))
    return {cluster: palette.get(cluster, GREY) for cluster in ranked}


def _legend_of_clusters(
    figure: Figure,
    graph: Mapping[str, Any],
    colours: Mapping[Any, str],
    nodes: Sequence[Mapping[str, Any]],
    lettering: Lettering,
) -> None:
    names = {part["id"]: part.get("label") for part in graph.get("clusters", ()) if isinstance(part, Mapping)}
    named = [cluster for cluster, colour in colours.items() if colour != GREY]
    entries = []
    for number, cluster in enumerate(named, start=1):
        texts = [
            (short(str(names.get(cluster) or cluster), 18), ""),
            (f"cluster {number}", "a cluster's number in place of its name"),
        ]
        entries.append(LegendEntry(*lettering.write(texts, SMALL), colours[cluster]))
    rest = sum(colours[node.get("cluster")] == GREY for node in nodes)
    if rest and entries:
        entries.append(LegendEntry(*lettering.write([(f"others ({rest})", "")], SMALL), GREY))
    if any(node.get("is_center") for node in nodes):
        entries.append(LegendEntry(*lettering.write([("centre", "")], SMALL), "white", INK))
    if entries:
        add_legend(figure, entries)
