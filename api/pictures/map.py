"""A knowledge map as a picture: clusters in soft hulls with their names, nodes by weight, edges by kind, labels that never meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from engramlog_server.api.pictures.layout import Box, PictureRoom, TakenRoom, around, beside, hull, place_clusters
from engramlog_server.api.pictures.look import CLUSTERS, GREY, Look
from engramlog_server.api.pictures.svg import add, group, line, number, path_of, put, root, write
from engramlog_server.api.pictures.text import broken, cut, shown, width
from engramlog_server.api.pictures.words import WORDS, PictureWords

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


def _hull(
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


def _keywords_of(edge: Edge) -> list[str]:
    """The words for whose sake two nodes are tied, as far as they are told."""
    words = [*(edge.get("keywords") or ())]
    words += [word for reason in edge.get("reasons") or () for word in reason.get("keywords") or ()]
    return [str(word) for word in dict.fromkeys(words)]


def _edges(
    picture: Element, nodes: Sequence[Node], edges: Sequence[Edge], at: Sequence[Place], look: Look, words: PictureWords
) -> None:
    """A line for each association, as wide as it is strong."""
    held = group(picture, "edges")
    places = {node["id"]: place for node, place in zip(nodes, at, strict=True)}
    texts = {node["id"]: str(node.get("label") or node["id"]) for node in nodes}
    for edge in edges:
        kind, strength = str(edge.get("link") or ""), _weight_of(edge)
        keywords = ", ".join(_keywords_of(edge))
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
        line(made, *ends, look.colours.rule, stroke_width=wide, stroke_dasharray=_DASHES.get(kind, _OTHER_DASH))


def _nodes(
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
        weight = _weight_of(node)
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


def _label_lines(
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


def _legend(picture: Element, edges: Sequence[Edge], nodes: Sequence[Node], look: Look, words: PictureWords) -> float:
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
                put(sample, stroke_dasharray=_DASHES.get(kind, _OTHER_DASH))
            else:
                add(held, "circle", cx=x + 18, cy=y - 4, r=6, fill="none", stroke=look.colours.ink, stroke_width=1.6)
            write(held, text, x + 32, y, LABEL, look.colours.pale)
    return top - 14


MAX_NODES = 500
"""Most memories on a map; the lightest are left out."""
_HULL = 13.0
"""How far a hull reaches beyond the middles of its nodes, and their radius."""
FEW = 8
"""Memories whose labels may take four lines."""
Graph = Mapping[str, Any]


class KeptMap(NamedTuple):
    """What of a map is drawn."""

    graph: Graph
    """As it was answered."""
    nodes: Sequence[Node]
    edges: Sequence[Any]
    """Those between these nodes."""
    clusters: Mapping[Any, str]
    """Names of those of two nodes and more, the largest first."""


class MapPicture(NamedTuple):
    """The picture as an SVG, and what it shows otherwise than asked."""

    root: Element
    remarks: list[str]


def _weight_of(part: Mapping[str, Any]) -> float:
    """The weight of a node or an edge, not below 0; 0 where it has none."""
    return max(float(part.get("weight") or 0.0), 0.0)


def map_picture(graph: Graph, look: Look) -> MapPicture:
    """The picture of a map as `map` answers it; one sentence where it has no nodes."""
    words = WORDS[look.language]
    ranked = sorted(graph["nodes"], key=lambda node: (not node.get("is_center"), -_weight_of(node)))
    nodes, left_out = ranked[:MAX_NODES], ranked[MAX_NODES:]
    known = {node["id"] for node in nodes}
    edges = [edge for edge in graph["edges"] if edge["from"] in known and edge["to"] in known]
    kept = KeptMap(graph, nodes, edges, _clusters(graph, nodes))
    picture = _root(kept, look, words)
    _headings(picture, kept, look, words)
    if not nodes:
        said = words.withheld_all if graph.get("withheld") else words.nothing
        middle = look.width / 2, look.height / 2
        write(picture, said, *middle, 15, look.colours.pale, anchor="middle", class_="empty")
        return MapPicture(picture, [])
    foot = _legend(picture, edges, nodes, look, words)
    room = PictureRoom(20, 66 if look.is_narrow else 72, look.width - 40, foot - (66 if look.is_narrow else 72) - 26)
    unlabelled, unnamed = _draw(picture, kept, room, look, words)
    remarks = [words.left_out.format(len(left_out), len(ranked))] if left_out else []
    if unlabelled:
        remarks.append(words.unlabelled.format(unlabelled, len(nodes)))
    remarks += [words.unnamed.format(unnamed)] if unnamed else []
    picture.set("data-unlabelled", str(unlabelled))
    picture.set("data-left-out", str(len(left_out)))
    if remarks:
        told = cut("; ".join(remarks), look.width - 40, LABEL)
        write(picture, told, 20, look.height - 8, LABEL, look.colours.pale, class_="note")
    return MapPicture(picture, remarks)


def _clusters(graph: Graph, nodes: Sequence[Node]) -> dict[Any, str]:
    """Names of the clusters of two nodes and more, the largest first."""
    counts = Counter(node.get("cluster") for node in nodes)
    told = {part["id"]: part for part in graph.get("clusters", ()) if isinstance(part, Mapping)}
    several = [cluster for cluster, count in counts.items() if count > 1 and cluster is not None]
    ordered = sorted(several, key=lambda cluster: (-counts[cluster], str(cluster)))
    return {one: shown(str(told.get(one, {}).get("name") or told.get(one, {}).get("label") or one)) for one in ordered}


def _fills(nodes: Sequence[Node], clusters: Mapping[Any, str]) -> list[str]:
    """A colour for each node by its cluster; grey for what belongs with nobody."""
    order = list(clusters)
    return [
        CLUSTERS[order.index(one["cluster"]) % len(CLUSTERS)] if one.get("cluster") in clusters else GREY
        for one in nodes
    ]


def _root(kept: KeptMap, look: Look, words: PictureWords) -> Element:
    graph, nodes, edges, clusters = kept
    counted = f"{', '.join(_counts(kept, words))}."
    heaviest = "; ".join(str(node.get("label") or node["id"]) for node in nodes[:5])
    named = [words.cluster_title.format(place + 1, name) for place, name in enumerate(clusters.values())]
    told = [counted, *([words.nodes_told.format(heaviest)] if nodes else [words.nothing]), *named]
    return root(
        "map",
        look,
        _title(graph, words),
        " ".join(told),
        data_owner=graph.get("owner"),
        data_topic=graph.get("topic"),
        data_mode=graph.get("mode"),
        data_position=graph.get("position"),
        data_nodes=str(len(nodes)),
        data_edges=str(len(edges)),
        data_clusters=str(len(clusters)),
    )


def _title(graph: Graph, words: PictureWords) -> str:
    if graph.get("title"):
        return str(graph["title"])
    if graph.get("topic"):
        return words.map_of.format(graph["topic"])
    return words.overview if "topic" in graph else words.map_plain


def _counts(kept: KeptMap, words: PictureWords) -> list[str]:
    graph, nodes, edges, clusters = kept
    told = [words.several(words.memories, len(nodes)), words.several(words.links_told, len(edges))]
    told.append(words.several(words.clusters, len(clusters)))
    told += [words.truncated] if graph.get("truncated") else []
    return told + ([words.weaker.format(graph["weaker"])] if graph.get("weaker") else [])


def _headings(picture: Element, kept: KeptMap, look: Look, words: PictureWords) -> None:
    graph = kept.graph
    size, below = (15, 11) if look.is_narrow else (17, 12)
    title = cut(_title(graph, words), look.width - 40, size, bold=True)
    write(picture, title, 20, 18 + size / 2, size, look.colours.ink, bold=True, class_="heading")
    parts = _counts(kept, words) if kept.nodes else []
    parts += [getattr(words, name).format(graph[name]) for name in ("as_of", "known") if graph.get(name)]
    told = cut(" · ".join(parts), look.width - 40, below)
    write(picture, told, 20, 30 + size, below, look.colours.pale, class_="subheading")


def _draw(picture: Element, kept: KeptMap, room: PictureRoom, look: Look, words: PictureWords) -> tuple[int, int]:
    """Draw everything between the heading and the legend; returns how many nodes have no label, and clusters no name."""
    _, nodes, edges, clusters = kept
    rows = {node["id"]: row for row, node in enumerate(nodes)}
    pairs = [(rows[edge["from"]], rows[edge["to"]]) for edge in edges]
    members = {one: [row for row, node in enumerate(nodes) if node.get("cluster") == one] for one in clusters}
    singles = [[row] for row, node in enumerate(nodes) if node.get("cluster") not in clusters]
    inner = PictureRoom(room.left + 30, room.top + 26, room.width - 60, room.height - 40)
    grouped = [*members.values(), *singles]
    radii = _radii_of(nodes, inner)
    hulled = max((radii[row] + _HULL for one in members.values() for row in one), default=0.0)
    places = place_clusters(grouped, pairs, [_weight_of(edge) for edge in edges], inner, hulled)
    at = [(float(x), float(y)) for x, y in places]
    fills = _fills(nodes, clusters)
    hulls = group(picture, "clusters")
    for place, (cluster, name) in enumerate(clusters.items()):
        corners = hull([at[row] for row in members[cluster]])
        title = words.cluster_title.format(place + 1, name)
        told = {"data_id": str(cluster), "data_name": name, "data_count": str(len(members[cluster]))}
        _hull(hulls, corners, hulled, CLUSTERS[place % len(CLUSTERS)], title, look, told)
    _edges(picture, nodes, edges, at, look, words)
    _nodes(picture, nodes, at, radii, fills, look, words)
    lines = [(*at[one], *at[other]) for one, other in pairs]
    rims = [radius + (RING if node.get("is_center") else 0.5) for node, radius in zip(nodes, radii, strict=True)]
    boxes = [around(x, y, 2 * rim + 1, 2 * rim + 1) for (x, y), rim in zip(at, rims, strict=True)]
    taken = TakenRoom(Box(4, room.top - 14, look.width - 4, room.top + room.height + 14), boxes, lines)
    unnamed = 0
    names = group(picture, "cluster-names")
    for cluster, name in clusters.items():
        own = [(*at[row], rims[row]) for row in members[cluster]]
        if not _name(names, cluster, name, own, taken, look):
            unnamed += 1
    return _label_nodes(picture, nodes, at, rims, taken, look), unnamed


def _radii_of(nodes: Sequence[Node], room: PictureRoom) -> list[float]:
    """Radii in pixels: the area goes by the weight, as large as so many nodes allow."""
    largest = min(max(0.16 * (room.width * room.height / len(nodes)) ** 0.5, 5.0), 17.0)
    smallest = largest / 2.4
    heaviest = max(map(_weight_of, nodes)) or 1.0
    spread = largest**2 - smallest**2
    return [float((smallest**2 + spread * _weight_of(node) / heaviest) ** 0.5) for node in nodes]


def _name(
    held: Element, cluster: Any, name: str, own: Sequence[tuple[float, float, float]], taken: TakenRoom, look: Look
) -> bool:
    """Write a cluster's name at its hull where it meets nothing; whether it had room."""
    left, right = min(x for x, *_ in own), max(x for x, *_ in own)
    top, bottom = min(y - r for _, y, r in own), max(y + r for _, y, r in own)
    middle = (left + right) / 2
    reach = _HULL + NAME / 2
    for most in (230.0, 130.0, 80.0):
        text = cut(name, min(most, 0.46 * look.width), NAME, bold=True)
        wide = width(text, NAME, bold=True) + 4
        rows = (top - reach, bottom + reach, top - 4 - NAME / 2, bottom + 4 + NAME / 2)
        places = [
            around(x, y, wide, NAME + 5)
            for y in rows
            for x in (middle, left + wide / 2 - 8, right - wide / 2 + 8, (left + middle) / 2, (right + middle) / 2)
        ]
        box = taken.best(places)
        if box is not None and text:
            taken.take(box)
            (x, y), style = box.middle, {"class_": "cluster-name", "data_cluster": str(cluster)}
            ink = look.colours.ink
            write(held, text, x, y + NAME * 0.36, NAME, ink, anchor="middle", bold=True, halo=look.colours, **style)
            return True
    return False


def _label_nodes(
    picture: Element,
    nodes: Sequence[Node],
    at: Sequence[tuple[float, float]],
    rims: Sequence[float],
    taken: TakenRoom,
    look: Look,
) -> int:
    """A label at each node that has room for one, centres and heavy ones first; how many have none."""
    held = group(picture, "labels")
    missing = 0
    most = 104.0 if look.is_narrow else 150.0
    forms = [(4, 1.2 * most), (3, most)] if len(nodes) <= FEW else []
    forms += [(2, most)] if len(nodes) <= 60 else []
    forms += [(1, most), (1, 0.62 * most)]
    forms += [(1, 0.5 * most)] if look.is_narrow else []
    for node, (x, y), rim in zip(nodes, at, rims, strict=True):
        text = shown(str(node.get("label") or node["id"]))
        box, lines = None, list[str]()
        for count, room in forms:
            lines = broken(text, room, LABEL, count)
            wide = max((width(one, LABEL) for one in lines), default=0.0) + 2
            places = beside(x, y, rim, wide, len(lines) * (LABEL + 2) + 2)
            box = taken.best(places, most_crossed=None if count == 1 else 2) if lines else None
            if box is not None:
                break
        if box is None:
            missing += 1
            continue
        taken.take(box)
        _label_lines(held, lines, box, LABEL, look, str(node["id"]), x)
    return missing
