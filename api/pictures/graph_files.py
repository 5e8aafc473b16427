"""A knowledge map as a file: JSON, GraphML, Graphviz DOT, or a picture, by the file's suffix.

A map is `{"nodes": [{"id", "label", "is_center", "depth", "cluster", "weight", ...}], "edges": [{"from", "to", "weight",
"link", ...}], ...}`; what else nodes, edges and the map hold goes into the files too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson

from api.pictures.draw import draw_map
from api.pictures.files import PICTURES, replace_file
from api.pictures.look import USUAL, Look
from events.errors import refused

Graph = Mapping[str, Any]

_NOT_XML = re.compile("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFERENCE = re.compile(r"&(?=\w+;|#\d+;|#[xX][0-9a-fA-F]+;)")


def write_graph(graph: Graph, path: Path, look: Look = USUAL) -> list[str]:
    """Write a knowledge map into a .json, .graphml, .dot, .gv, .png or .svg; the file is replaced as a whole.

    Returns remarks on what a picture shows otherwise than asked. Raises InputError for another suffix, a folder that
    does not exist, a file that cannot be written, an edge to a node that is not there, and a picture without nodes.
    """
    suffix = path.suffix.lower()
    if suffix not in PICTURES and suffix not in _CONTENTS:
        raise refused("out", path.name, f"a name that ends in {', '.join([*_CONTENTS, *PICTURES])}")
    _check_ends(graph)
    if suffix in PICTURES:
        return draw_map(graph, path, look)
    replace_file(path, _CONTENTS[suffix](graph))
    return []


def _check_ends(graph: Graph) -> None:
    known = {node["id"] for node in graph["nodes"]}
    for edge in graph["edges"]:
        for end in ("from", "to"):
            if edge[end] not in known:
                raise refused(f"edges.{end}", edge[end], "the id of a node of the map")


def json_of(graph: Graph) -> bytes:
    """The map as it is, indented."""
    return orjson.dumps(graph, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def networkx_of(graph: Graph) -> Any:
    """The map as a networkx.DiGraph, or a MultiDiGraph where an edge between two nodes is not the only one.

    Values are those that GraphML can hold: lists and objects become JSON, None and "" are left out, line ends become
    newlines, and characters that XML forbids become U+FFFD. From the GraphML networkx reads a graph equal to this one.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import, and few commands need it

    edges = [(edge["from"], edge["to"], _attributes(edge, {"from", "to"})) for edge in graph["edges"]]
    several = len({(start, end) for start, end, _ in edges}) < len(edges)
    network = nx.MultiDiGraph() if several else nx.DiGraph()
    network.graph.update(_attributes(graph, {"nodes", "edges"}))
    network.add_nodes_from((node["id"], _attributes(node, {"id"})) for node in graph["nodes"])
    if several:
        edges = [(start, end, f"e{number}", shown) for number, (start, end, shown) in enumerate(edges)]  # type: ignore[misc]
    network.add_edges_from(edges)
    return network


def graphml_of(graph: Graph) -> bytes:
    """The map as GraphML in UTF-8."""
    import networkx as nx  # noqa: PLC0415 - slow to import, and few commands need it

    content = BytesIO()
    nx.write_graphml_xml(networkx_of(graph), content)
    return content.getvalue()


def _attributes(part: Mapping[str, Any], left_out: set[str]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in part.items() if name not in left_out and value not in (None, "")}


def _plain(value: Any) -> bool | int | float | str:
    """A value that GraphML can hold."""
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return _NOT_XML.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def dot_of(graph: Graph) -> bytes:
    """The map as a Graphviz digraph in UTF-8, its edges drawn without heads: an association holds both ways.

    The weight of an edge becomes its width, and a centre has a second outline; all scalar values are attributes too.
    """
    lines = [
        "digraph knowledge_map {",
        '  charset="UTF-8";',
        "  node [shape=box, style=rounded];",
        "  edge [dir=none];",
    ]
    for node in graph["nodes"]:
        shown = {"label": node["id"]} | _attributes(node, {"id"})
        shown |= {"peripheries": 2} if node.get("is_center") else {}
        lines.append(f"  {quoted(node['id'])} {_dot_attributes(shown)};")
    for edge in graph["edges"]:
        shown = _attributes(edge, {"from", "to"}) | {"penwidth": round(0.5 + 2.5 * float(edge.get("weight") or 0.0), 3)}
        lines.append(f"  {quoted(edge['from'])} -> {quoted(edge['to'])} {_dot_attributes(shown)};")
    return "\n".join([*lines, "}", ""]).encode()


def _dot_attributes(attributes: Mapping[str, Any]) -> str:
    written = (f"{quoted(name)}={quoted(_dot_value(value))}" for name, value in attributes.items())
    return f"[{', '.join(written)}]"


def _dot_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def quoted(text: str) -> str:
    """A text as a quoted DOT string that Graphviz shows as it is.

    Backslashes and quotes are escaped, newlines are `\\n`, and `&` is `&amp;` where Graphviz would read an entity.
    """
    plain = _REFERENCE.sub("&amp;", str(_plain(text)))
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


_CONTENTS: Mapping[str, Callable[[Graph], bytes]] = {
    ".json": json_of,
    ".graphml": graphml_of,
    ".dot": dot_of,
    ".gv": dot_of,
}
