"""What pictures are drawn of in tests, and how a drawn one is read: texts with their boxes, scales."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

from engramlog_server.api.pictures.map import Box
from engramlog_server.api.pictures.text import width

SVG = "{http://www.w3.org/2000/svg}"
START = datetime(2025, 3, 3, 8, tzinfo=UTC)
HOSTILE = (
    "<script>alert(1)</script>",
    '" onload="alert(1)',
    "]]><![CDATA[ &amp; &#x41;",
    "safe\u202eevil\u202c",
    "zero\u200bwidth\x1b[31m\x00",
    "\ufdfd" * 12,
    "a" + "\u0301" * 50,
    "早上一定要喝咖啡，" * 9,
    "W" * 90,
    "\ufffe\uffff",
    "line\nbreak\ttab",
    "عربي ועברית",
    "🍵🧑‍🚀 tea",
    "",
    " ",
)


def node(memory_id: str, label: str = "text", **more: Any) -> dict[str, Any]:
    """A node of a map."""
    return {"id": memory_id, "label": label, "is_center": False, "depth": 1, "cluster": None, "weight": 0.5, **more}


def edge(start: str, end: str, weight: float = 0.5, link: str = "keyword", **more: Any) -> dict[str, Any]:
    """An edge of a map."""
    return {"from": start, "to": end, "weight": weight, "link": link, **more}


def graph_of(*nodes: dict[str, Any], edge_weight: float = 0.5) -> dict[str, Any]:
    """The nodes in a chain."""
    pairs = pairwise(part["id"] for part in nodes)
    return {"nodes": list(nodes), "edges": [edge(*pair, edge_weight) for pair in pairs], "clusters": []}


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


def read(told: str | Path) -> Element:
    """A picture as it is read again, by its text or its file."""
    return ET.fromstring(told) if isinstance(told, str) else ET.parse(told).getroot()


def all_of(picture: Element, name: str) -> list[Element]:
    """Elements that have a class."""
    return [one for one in picture.iter() if name in (one.get("class") or "").split()]


def texts_of(picture: Element) -> set[str]:
    """What a picture writes."""
    return {"".join(one.itertext()) for one in picture.iter(f"{SVG}text")}


def title_of(element: Element) -> str:
    """The name of a part."""
    return element.findtext(f"{SVG}title") or ""


def box_of(text: Element) -> Box:
    """Where a text is drawn at the most, by whatever font."""
    size, x, y = (float(text.get(name) or 0) for name in ("font-size", "x", "y"))
    wide = width("".join(text.itertext()), size, bold=text.get("font-weight") == "bold")
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.get("text-anchor") or "start"]
    return Box(left, y - 0.76 * size, left + wide, y + 0.24 * size)


def plot_of(picture: Element) -> tuple[float, float, float, float]:
    """The box of the curves: x, y, width, height."""
    x, y, wide, high = (float(one) for one in (picture.get("data-plot") or "").split())
    return x, y, wide, high


def points_of(path: Element) -> list[tuple[float, float]]:
    """The points of a path of straight lines."""
    pairs = (path.get("d") or "").strip("MZ").split("L")
    return [(float(one.split()[0]), float(one.split()[1])) for one in pairs]
