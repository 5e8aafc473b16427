"""Pictures of memories as PNG or SVG: the knowledge map, and the weights of one memory by every law.

Drawn with matplotlib, the extra `pictures`, on figures of their own: nothing needs a screen. The same data give the
same picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from api.pictures.curves import draw_lanes, draw_law, lanes_of, law_colours, show_span
from api.pictures.map import draw_nodes, weight_of
from api.pictures.paper import HEIGHT, format_of, house_style, needing_matplotlib, new_figure, save
from api.pictures.text import Lettering
from events.errors import refused

MAX_NODES = 500
"""Most memories on a map; the lightest are left out."""


@needing_matplotlib()
def draw_map(graph: Mapping[str, Any], path: Path, *, dpi: int = 100, fonts: Sequence[Path] | None = None) -> list[str]:
    """Draw a knowledge map into a .png or .svg, and return remarks on what it shows otherwise than asked.

    A node's colour is its cluster, its area its weight, and an outline marks a centre; an edge is as wide as its
    weight. `fonts` are font files to use beside the default one; without them installed ones are found. Raises
    InputError where the graph has no nodes, and for a file that cannot be written.
    """
    nodes = sorted(graph["nodes"], key=lambda node: (not node.get("is_center"), -weight_of(node)))
    if not nodes:
        raise refused("graph", "no memories", "at least one memory; nothing was drawn")
    shown, left_out = nodes[:MAX_NODES], nodes[MAX_NODES:]
    lettering = Lettering(fonts, keeps_text=format_of(path) == "svg")
    with house_style():
        title = str(graph.get("title") or "Knowledge map")
        size = f"{len(nodes)} memories, {len(graph['edges'])} associations"
        figure = new_figure(dpi, lettering, title, size)
        unlabelled = draw_nodes(figure, graph, shown, lettering)
        save(figure, path)
    remarks = [f"{len(left_out)} of {len(nodes)} memories are left out, the lightest"] if left_out else []
    if unlabelled:
        remarks.append(f"{unlabelled} of {len(shown)} memories have no label for want of room")
    return remarks + lettering.remarks()


@needing_matplotlib()
def draw_curves(
    comparison: Mapping[str, Any], path: Path, *, dpi: int = 100, fonts: Sequence[Path] | None = None
) -> list[str]:
    """Draw the weights of one memory by every law into a .png or .svg, and return remarks as `draw_map` does.

    One panel a law, over one time axis in UTC: the curve, its normal threshold (dashed) and the zone under it; below
    them a lane for each kind of event. A weight of None leaves a gap. Raises InputError where there is nothing to draw,
    and for a file that cannot be written.
    """
    times = [datetime.fromisoformat(text) for text in comparison["times"]]
    laws = comparison["laws"]
    if not times or not laws:
        got = f"{len(laws)} laws at {len(times)} instants"
        raise refused("comparison", got, "at least one of each; nothing was drawn")
    lettering = Lettering(fonts, keeps_text=format_of(path) == "svg")
    lanes = lanes_of(comparison["events"])
    with house_style():
        title = str(comparison.get("title") or "Weight by every law")
        figure = new_figure(dpi, lettering, title, "dashed: under it a memory leaves the normal mode; times in UTC")
        heights = [3.0] * len(laws) + [0.3 + 0.42 * max(len(lanes), 1)]
        panels = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
        figure.subplots_adjust(left=0.1, right=0.93, top=1 - 66 / HEIGHT, bottom=0.06, hspace=0.32)
        for axes, (name, law), colour in zip(panels, laws.items(), law_colours(len(laws)), strict=False):
            draw_law(axes, str(name), law, times, colour)
        draw_lanes(panels, lanes)
        show_span(panels, [*times, *chain(*lanes.values())])
        save(figure, path)
    return lettering.remarks()
