"""A knowledge map as a picture: clusters in soft hulls with their names, nodes by weight, edges by kind, labels that never meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from engramlog_server.api.pictures.layout import Box, TakenRoom, around, beside, hull, place_clusters
from engramlog_server.api.pictures.look import CLUSTERS, GREY, Look
from engramlog_server.api.pictures.svg import add, group, line, number, path_of, put, root, write
from engramlog_server.api.pictures.text import broken, cut, shown, width
from engramlog_server.api.pictures.words import PictureWords

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
MAX_NODES = 500
"""Most memories on a map; the lightest are left out."""
_HULL = 13.0
"""How far a hull reaches beyond the middles of its nodes, and their radius."""
FEW = 8
"""Memories whose labels may take four lines."""
Node = Mapping[str, Any]
Edge = Mapping[str, Any]
Graph = Mapping[str, Any]


class MapPicture(NamedTuple):
    """The picture as an SVG, and what it shows otherwise than asked."""

    root: Element
    remarks: list[str]


def map_picture(graph: Graph, look: Look) -> MapPicture:
    """The picture of a map as `map` answers it; one sentence where it has no nodes."""
    words = PictureWords(look.language)
    ranked = sorted(graph["nodes"], key=lambda node: (not node.get("is_center"), -_weight_of(node)))
    nodes, left_out = ranked[:MAX_NODES], ranked[MAX_NODES:]
    known = {node["id"] for node in nodes}
    edges = [edge for edge in graph["edges"] if edge["from"] in known and edge["to"] in known]
    clusters = _clusters(graph, nodes)
    counts = _counts(graph, nodes, edges, clusters, words)
    named = [words.told("cluster_title", place + 1, name) for place, name in enumerate(clusters.values())]
    heaviest = words.told("nodes_told", "; ".join(map(_text_of, nodes[:5]))) if nodes else words.told("nothing")
    picture = root(
        "map",
        look,
        _title(graph, words),
        " ".join([f"{', '.join(counts)}.", heaviest, *named]),
        data_owner=graph.get("owner"),
        data_topic=graph.get("topic"),
        data_mode=graph.get("mode"),
        data_position=graph.get("position"),
        data_clusters=str(len(clusters)),
    )
    _headings(picture, graph, counts if nodes else [], look, words)
    if not nodes:
        said, middle = words.told("withheld_all" if graph.get("withheld") else "nothing"), look.height / 2
        write(picture, said, look.width / 2, middle, 15, look.colours.pale, anchor="middle", class_="empty")
        return MapPicture(picture, [])
    foot = _legend(picture, edges, nodes, look, words)
    top = 66 if look.is_narrow else 72
    drawn = _Drawing(picture, nodes, edges, clusters, Box(20, top, look.width - 20, foot - 26), look, words)
    unlabelled, unnamed = drawn.draw()
    picture.set("data-unlabelled", str(unlabelled))
    told = (
        (len(left_out), words.told("left_out", len(left_out), len(ranked))),
        (unlabelled, words.told("unlabelled", unlabelled, len(nodes))),
        (unnamed, words.told("unnamed", unnamed)),
    )
    remarks = [sentence for count, sentence in told if count]
    if remarks:
        note = cut("; ".join(remarks), look.width - 40, LABEL)
        write(picture, note, 20, look.height - 8, LABEL, look.colours.pale, class_="note")
    return MapPicture(picture, remarks)


def _weight_of(part: Mapping[str, Any]) -> float:
    """The weight of a node or an edge, not below 0; 0 where it has none."""
    return max(float(part.get("weight") or 0.0), 0.0)


def _text_of(node: Node) -> str:
    return str(node.get("label") or node["id"])


def _clusters(graph: Graph, nodes: Sequence[Node]) -> dict[Any, str]:
    """Names of the clusters of two nodes and more, the largest first."""
    counts = Counter(node.get("cluster") for node in nodes)
    told = {part["id"]: part for part in graph.get("clusters", ()) if isinstance(part, Mapping)}
    several = [cluster for cluster, count in counts.items() if count > 1 and cluster is not None]
    ordered = sorted(several, key=lambda cluster: (-counts[cluster], str(cluster)))
    return {one: shown(str(told.get(one, {}).get("name") or told.get(one, {}).get("label") or one)) for one in ordered}


def _title(graph: Graph, words: PictureWords) -> str:
    if graph.get("title"):
        return str(graph["title"])
    if graph.get("topic"):
        return words.told("map_of", graph["topic"])
    return words.told("overview" if "topic" in graph else "map_plain")


def _counts(
    graph: Graph, nodes: Sequence[Node], edges: Sequence[Edge], clusters: Mapping[Any, str], words: PictureWords
) -> list[str]:
    told = [
        words.counted("memory", "memories", len(nodes)),
        words.counted("association", "associations", len(edges)),
        words.counted("cluster", "clusters", len(clusters)),
    ]
    told += [words.told("truncated")] if graph.get("truncated") else []
    return told + ([words.told("weaker", graph["weaker"])] if graph.get("weaker") else [])


def _headings(picture: Element, graph: Graph, counts: Sequence[str], look: Look, words: PictureWords) -> None:
    size, below = (15, 11) if look.is_narrow else (17, 12)
    title = cut(_title(graph, words), look.width - 40, size, bold=True)
    write(picture, title, 20, 18 + size / 2, size, look.colours.ink, bold=True, class_="heading")
    parts = [*counts, *(words.told(name, graph[name]) for name in ("as_of", "known") if graph.get(name))]
    told = cut(" · ".join(parts), look.width - 40, below)
    write(picture, told, 20, 30 + size, below, look.colours.pale, class_="subheading")


def _legend(picture: Element, edges: Sequence[Edge], nodes: Sequence[Node], look: Look, words: PictureWords) -> float:
    """What lines and rings stand for, along the bottom; where the picture above ends.

    It takes at most a fifth of the picture: the rarest kinds of a small one are told by their lines alone.
    """
    held = group(picture, "legend")
    kinds = Counter(str(edge.get("link") or "") for edge in edges)
    entries = [(kind, words.link(kind)) for kind, _ in kinds.most_common(MOST_IN_LEGEND) if kind]
    entries += [("", words.told("centre"))] if any(node.get("is_center") for node in nodes) else []
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
                put(sample, stroke_dasharray=_DASHES.get(kind, _OTHER_DASH))
            else:
                add(held, "circle", cx=x + 18, cy=y - 4, r=6, fill="none", stroke=look.colours.ink, stroke_width=1.6)
            write(held, text, x + 32, y, LABEL, look.colours.pale)
    return top - 14


@dataclass
class _Drawing:
    """What stands between the heading and the legend."""

    picture: Element
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    clusters: Mapping[Any, str]
    room: Box
    look: Look
    words: PictureWords

    def draw(self) -> tuple[int, int]:
        """Draw everything; returns how many nodes have no label, and clusters no name."""
        nodes, room = self.nodes, self.room
        rows = {node["id"]: row for row, node in enumerate(nodes)}
        pairs = [(rows[edge["from"]], rows[edge["to"]]) for edge in self.edges]
        members = {one: [row for row, node in enumerate(nodes) if node.get("cluster") == one] for one in self.clusters}
        singles = [[row] for row, node in enumerate(nodes) if node.get("cluster") not in self.clusters]
        inner = Box(room.left + 30, room.top + 26, room.right - 30, room.bottom - 14)
        radii = _radii_of(nodes, inner)
        reach = max((radii[row] + _HULL for one in members.values() for row in one), default=0.0)
        strengths = [_weight_of(edge) for edge in self.edges]
        places = place_clusters([*members.values(), *singles], pairs, strengths, inner, reach)
        at = [(float(x), float(y)) for x, y in places]
        fills = [GREY] * len(nodes)
        hulls = group(self.picture, "clusters")
        for place, (cluster, name) in enumerate(self.clusters.items()):
            fill, own = CLUSTERS[place % len(CLUSTERS)], members[cluster]
            fills = [fill if row in own else one for row, one in enumerate(fills)]
            title = self.words.told("cluster_title", place + 1, name)
            told = {"data_id": str(cluster), "data_name": name, "data_count": str(len(own))}
            self._hull(group(hulls, "cluster", title, **told), hull([at[row] for row in own]), reach, fill)
        self._draw_edges([(*at[one], *at[other]) for one, other in pairs])
        self._draw_nodes(at, radii, fills)
        rims = [radius + (RING if node.get("is_center") else 0.5) for node, radius in zip(nodes, radii, strict=True)]
        boxes = [around(x, y, 2 * rim + 1, 2 * rim + 1) for (x, y), rim in zip(at, rims, strict=True)]
        taken = TakenRoom(Box(4, room.top - 14, self.look.width - 4, room.bottom + 14), boxes)
        names = group(self.picture, "cluster-names")
        named = [
            self._name(names, cluster, [(*at[row], rims[row]) for row in members[cluster]], taken)
            for cluster in self.clusters
        ]
        return self._label(at, rims, taken), named.count(False)

    def _hull(self, made: Element, corners: Sequence[tuple[float, float]], reach: float, fill: str) -> None:
        """A soft shape around the nodes of a cluster."""
        data = path_of([*corners, corners[0]] if len(corners) == 1 else corners) + ("Z" if len(corners) > 2 else "")
        drawn = add(made, "path", d=data, fill=fill, stroke=fill, stroke_width=2 * reach, stroke_linejoin="round")
        put(drawn, stroke_linecap="round", opacity=0.16 if self.look.theme == "light" else 0.24)

    def _draw_edges(self, lines: Sequence[tuple[float, float, float, float]]) -> None:
        """A line for each association, as wide as it is strong."""
        held = group(self.picture, "edges")
        texts = {node["id"]: _text_of(node) for node in self.nodes}
        for edge, ends in zip(self.edges, lines, strict=True):
            kind, strength = str(edge.get("link") or ""), _weight_of(edge)
            keywords = ", ".join(_keywords_of(edge))
            told = texts[edge["from"]], texts[edge["to"]], self.words.link(kind), f"{strength:.2f}"
            title = self.words.told("edge_title", *told)
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
            drawn = line(made, *ends, self.look.colours.rule, stroke_width=1 + 3 * min(strength, 1.0))
            put(drawn, stroke_dasharray=_DASHES.get(kind, _OTHER_DASH))

    def _draw_nodes(self, at: Sequence[tuple[float, float]], radii: Sequence[float], fills: Sequence[str]) -> None:
        """A disc for each memory; what matches best has a ring."""
        held, colours = group(self.picture, "nodes"), self.look.colours
        for node, (x, y), radius, fill in zip(self.nodes, at, radii, fills, strict=True):
            weight, kind = _weight_of(node), str(node.get("kind") or "")
            made = group(
                held,
                "node center" if node.get("is_center") else "node",
                self.words.told("node_title", _text_of(node), kind or node["id"], f"{weight:.2f}"),
                data_id=str(node["id"]),
                data_cluster=None if node.get("cluster") is None else str(node["cluster"]),
                data_weight=f"{weight:g}",
                data_x=number(x),
                data_y=number(y),
                data_r=number(radius),
            )
            if node.get("is_center"):
                ring = add(made, "circle", class_="ring", cx=x, cy=y, r=radius + 3.5, fill=colours.paper)
                put(ring, stroke=colours.ink, stroke_width=1.6)
            add(made, "circle", cx=x, cy=y, r=radius, fill=fill, stroke=colours.ink, stroke_width=1)

    def _name(self, held: Element, cluster: Any, own: Sequence[tuple[float, float, float]], taken: TakenRoom) -> bool:
        """Write a cluster's name at its hull where it meets nothing; whether it had room."""
        left, right = min(x for x, *_ in own), max(x for x, *_ in own)
        top, bottom = min(y - r for _, y, r in own), max(y + r for _, y, r in own)
        middle, look = (left + right) / 2, self.look
        far, near = _HULL + NAME / 2, 4 + NAME / 2
        for most in (230.0, 130.0, 80.0):
            text = cut(self.clusters[cluster], min(most, 0.46 * look.width), NAME, bold=True)
            wide = width(text, NAME, bold=True) + 4
            places = [
                around(x, y, wide, NAME + 5)
                for y in (top - far, bottom + far, top - near, bottom + near)
                for x in (middle, left + wide / 2 - 8, right - wide / 2 + 8, (left + middle) / 2, (right + middle) / 2)
            ]
            box = taken.best(places) if text else None
            if box is not None:
                taken.take(box)
                x, y = box.middle
                ink = look.colours.ink
                made = write(held, text, x, y + NAME * 0.36, NAME, ink, anchor="middle", bold=True, halo=look.colours)
                put(made, class_="cluster-name", data_cluster=str(cluster))
                return True
        return False

    def _label(self, at: Sequence[tuple[float, float]], rims: Sequence[float], taken: TakenRoom) -> int:
        """A label at each node that has room for one, centres and heavy ones first; how many have none."""
        held = group(self.picture, "labels")
        missing, narrow, count = 0, self.look.is_narrow, len(self.nodes)
        most = 104.0 if narrow else 150.0
        forms = [(4, 1.2 * most), (3, most)] if count <= FEW else []
        forms += [(2, most)] if count <= 60 else []
        forms += [(1, most), (1, 0.62 * most), *([(1, 0.5 * most)] if narrow else [])]
        for node, (x, y), rim in zip(self.nodes, at, rims, strict=True):
            text, box, lines = shown(_text_of(node)), None, list[str]()
            for rows, room in forms:
                lines = broken(text, room, LABEL, rows)
                wide = max((width(one, LABEL) for one in lines), default=0.0) + 2
                box = taken.best(beside(x, y, rim, wide, len(lines) * (LABEL + 2) + 2)) if lines else None
                if box is not None:
                    break
            if box is None:
                missing += 1
                continue
            taken.take(box)
            self._write_label(held, lines, box, str(node["id"]), x)
        return missing

    def _write_label(self, held: Element, lines: Sequence[str], box: Box, memory_id: str, x: float) -> None:
        """The lines of a label in its box, toward its node at `x`."""
        anchor, at = ("start", box.left + 1) if box.left > x else ("end", box.right - 1)
        if box.left < x < box.right:
            anchor, at = "middle", box.middle[0]
        high, colours = box.height / len(lines), self.look.colours
        for place, text in enumerate(lines):
            base = box.top + high * (place + 0.5) + 0.3 * LABEL
            made = write(held, text, at, base, LABEL, colours.ink, anchor=anchor, halo=colours)
            put(made, class_="label", data_id=memory_id)


def _keywords_of(edge: Edge) -> list[str]:
    """The words for whose sake two nodes are tied, as far as they are told."""
    words = [*(edge.get("keywords") or ())]
    words += [word for reason in edge.get("reasons") or () for word in reason.get("keywords") or ()]
    return [str(word) for word in dict.fromkeys(words)]


def _radii_of(nodes: Sequence[Node], room: Box) -> list[float]:
    """Radii in pixels: the area goes by the weight, as large as so many nodes allow."""
    largest = min(max(0.16 * (room.width * room.height / len(nodes)) ** 0.5, 5.0), 17.0)
    smallest = largest / 2.4
    heaviest = max(map(_weight_of, nodes)) or 1.0
    spread = largest**2 - smallest**2
    return [float((smallest**2 + spread * _weight_of(node) / heaviest) ** 0.5) for node in nodes]
