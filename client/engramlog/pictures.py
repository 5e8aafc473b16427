"""Pictures as SVG: a memory's weights over time under every law, and the map of what is known."""

from __future__ import annotations

from datetime import datetime

from engramlog.answers import Result
from engramlog.edge import spelled
from engramlog.reading import memory_path
from engramlog.wire import Plan, Request, Scope, fetch, got, path_of


class Picture(Result):
    """An SVG without scripts, styles and references; its parts say in `data-` attributes what they are."""

    svg: str
    position: str
    """Of the owner, as of which it was drawn."""


def curves_picture(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    points: int | None = None,
    language: str | None = None,
    theme: str | None = None,
    width: int | None = None,
    height: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[Picture]:
    """What `curves` tells, drawn: the curves of every law, their thresholds, and what touched the memory. Leaves no trace.

    `language`: `en` or `zh`; `theme`: `light` or `dark`; `width` and `height` in pixels.
    """
    asked = {"since": spelled(since), "until": spelled(until), "points": points}
    asked |= {"as_of": spelled(as_of), "known": spelled(known), "after": after}
    asked |= {"language": language, "theme": theme, "width": width, "height": height}
    return _drawn(scope, got(f"{memory_path(scope.whose(owner), memory_id)}/compare.svg", **asked))


def map_picture(
    scope: Scope,
    topic: str,
    *,
    owner: str | None = None,
    depth: int | None = None,
    least: float | None = None,
    limit: int | None = None,
    mode: str | None = None,
    language: str | None = None,
    theme: str | None = None,
    width: int | None = None,
    height: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
) -> Plan[Picture]:
    """What `map` tells, drawn: memories by weight, their associations, and clusters by name. Leaves no trace.

    `language`: `en` or `zh`; `theme`: `light` or `dark`; `width` and `height` in pixels.
    """
    asked = {"topic": topic, "depth": depth, "least": least, "limit": limit, "mode": mode}
    asked |= {"as_of": spelled(as_of), "known": spelled(known), "at": spelled(at)}
    asked |= {"language": language, "theme": theme, "width": width, "height": height}
    return _drawn(scope, got(path_of(scope.whose(owner), "map.svg"), **asked))


def _drawn(scope: Scope, request: Request) -> Plan[Picture]:
    answer = yield from fetch(scope, request)
    return Picture(svg=answer.body.decode(), position=answer.headers["engramlog-position"])
