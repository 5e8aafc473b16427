"""A map of a few memories: large, in the middle, with their words in full and words on their edges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import cos, hypot, pi, sin
from xml.etree.ElementTree import Element

from api.pictures.labels import Box, TakenRoom, around
from api.pictures.layout import PictureRoom
from api.pictures.look import Look
from api.pictures.map_parts import RING, DrawnNodes, Edge, Node, Place, draw_edges, draw_lines, draw_nodes, keywords_of
from api.pictures.svg import group, write
from api.pictures.text import broken, cut, width
from api.pictures.words import PictureWords


def draw_few(
    picture: Element,
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    fills: Sequence[str],
    room: PictureRoom,
    look: Look,
    words: PictureWords,
) -> DrawnNodes:
    """Nodes on a ring, labels outside of it, and what ties them on the edges."""
    size = 12.0 if look.is_narrow else 14.0
    largest = 16.0 if look.is_narrow else 24.0
    heaviest = max(max(float(node.get("weight") or 0.0), 0.0) for node in nodes) or 1.0
    radii = [largest * (0.5 + 0.5 * (max(float(node.get("weight") or 0.0), 0.0) / heaviest) ** 0.5) for node in nodes]
    most = _label_room(len(nodes), room)
    texts = [broken(str(node.get("label") or node["id"]), most, size, 3) for node in nodes]
    at = _ring(nodes, edges, room, most, max(map(len, texts)) * (size + 3) + largest)
    draw_edges(picture, nodes, edges, at, look, words)
    draw_nodes(picture, nodes, at, radii, fills, look, words)
    boxes = [around(x, y, 2 * (r + RING), 2 * (r + RING)) for (x, y), r in zip(at, radii, strict=True)]
    places = {node["id"]: place for node, place in zip(nodes, at, strict=True)}
    lines = [(*places[edge["from"]], *places[edge["to"]]) for edge in edges]
    taken = TakenRoom(Box(4, room.top - 10, look.width - 4, room.top + room.height + 24), boxes, lines)
    held, missing = group(picture, "labels"), 0
    middle = room.top + room.height / 2
    for node, (x, y), radius, told in zip(nodes, at, radii, texts, strict=True):
        if not _label(held, node, told, (x, y), radius + RING, taken, size, look, len(nodes) > 1 and y < middle - 2):
            missing += 1
    _edge_words(picture, nodes, edges, at, taken, size - 1.5, look, words)
    return DrawnNodes(missing)


def _label_room(count: int, room: PictureRoom) -> float:
    """How wide a label may be."""
    return min({1: 0.9, 2: 0.44}.get(count, 0.38) * room.width, 300.0 if count < 3 else 230.0)


def _ring(nodes: Sequence[Node], edges: Sequence[Edge], room: PictureRoom, label: float, high: float) -> list[Place]:
    """Places on a ring in the order that makes the edges shortest; two stand side by side where the picture is wide."""
    count = len(nodes)
    x, y = room.left + room.width / 2, room.top + room.height / 2
    if count == 1:
        return [(x, y - 10)]
    across = min(room.width / 2 - label / 2 - 4, 250.0 if edges else 230.0)
    down = min(room.height / 2 - high - 6, 150.0 if edges else 110.0)
    if count == 2 and room.width < room.height:
        return [(x, y - down * 0.8), (x, y + down * 0.8)]
    turn = -0.5 * pi if count > 2 else pi
    ring = [
        (x + across * cos(turn + 2 * pi * one / count), y + down * sin(turn + 2 * pi * one / count))
        for one in range(count)
    ]
    rows = {node["id"]: row for row, node in enumerate(nodes)}
    ties = [(rows[edge["from"]], rows[edge["to"]]) for edge in edges]

    def length(order: tuple[int, ...]) -> float:
        spans = (
            (ring[order[one]][0] - ring[order[other]][0], ring[order[one]][1] - ring[order[other]][1])
            for one, other in ties
        )
        return round(sum(hypot(*span) for span in spans), 6)

    best = min(permutations(range(count)), key=lambda order: (length(order), order))
    return [ring[best[row]] for row in range(count)]


def _label(
    held: Element,
    node: Node,
    lines: Sequence[str],
    at: Place,
    rim: float,
    taken: TakenRoom,
    size: float,
    look: Look,
    above: bool,
) -> bool:
    """Write a label above or below its node; whether it had room."""
    x, y = at
    for count in range(len(lines), 0, -1):
        kept = list(lines[:count])
        if count < len(lines):
            kept[-1] = kept[-1].rstrip("…") + "…"
        wide, high = max(width(one, size) for one in kept) + 4, count * (size + 3)
        down, across = rim + 3 + high / 2, rim + 4 + wide / 2
        order = [(0.0, -down), (0.0, down)] if above else [(0.0, down), (0.0, -down)]
        outward = across if x > look.width / 2 else -across
        box = taken.best(around(x + dx, y + dy, wide, high) for dx, dy in (*order, (outward, 0.0), (-outward, 0.0)))
        if box is None:
            continue
        taken.take(box)
        draw_lines(held, kept, box, size, look, str(node["id"]), x)
        return True
    return False


def _edge_words(
    picture: Element,
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    at: Sequence[Place],
    taken: TakenRoom,
    size: float,
    look: Look,
    words: PictureWords,
) -> None:
    """What ties two nodes, on their edge where there is room."""
    held = group(picture, "edge-words")
    places = {node["id"]: place for node, place in zip(nodes, at, strict=True)}
    for edge in edges:
        one, other = places[edge["from"]], places[edge["to"]]
        kind, keywords = words.link(str(edge.get("link") or "")), ", ".join(keywords_of(edge)[:3])
        most = min(220.0, 0.3 * look.width)
        texts = [f"{kind}: {keywords}", cut(keywords, most, size)] if keywords else [cut(kind, most, size)]
        box, text = None, ""
        for text in texts:
            if not text or width(text, size) > most:
                continue
            wide = width(text, size) + 6
            box = taken.best(
                around(one[0] + part * (other[0] - one[0]), one[1] + part * (other[1] - one[1]), wide, size + 5)
                for part in (0.5, 0.42, 0.58, 0.34, 0.66)
            )
            if box is not None:
                break
        if box is None:
            continue
        taken.take(box)
        x, y = box.middle
        write(
            held,
            text,
            x,
            y + size * 0.36,
            size,
            look.colours.pale,
            anchor="middle",
            halo=look.colours,
            class_="edge-word",
            data_from=str(edge["from"]),
            data_to=str(edge["to"]),
        )
