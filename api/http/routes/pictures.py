"""Pictures as SVG: the answers of `compare` and `map`, drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree.ElementTree import Element

from starlette.responses import Response

from api.http.answer import problems
from api.http.asking import Parts
from api.http.made import new_router, register
from api.operations.definition import Operation
from api.operations.reports import CURVES_SVG, LOOK, MAP_SVG

if TYPE_CHECKING:
    from api.pictures.look import Look

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
"""What a picture may do where it is opened by itself: show what it holds."""
_EXAMPLE = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<svg xmlns="http://www.w3.org/2000/svg" class="engramlog-picture map" viewBox="0 0 1200 700" role="img">...</svg>\n'
)


class Svg(Response):
    """A picture that runs nothing and fetches nothing."""

    media_type = "image/svg+xml"

    def __init__(self, picture: Element, name: str, place: Mapping[str, Any]) -> None:
        headers = {
            "cache-control": "no-store",
            "content-security-policy": POLICY,
            "content-disposition": f'inline; filename="{name}.svg"',
        }
        told = {"position": place["position"], "behind": place.get("behind") or None}
        told |= {name: place.get(name) for name in ("as_of", "known")}
        told["quarantined"] = (place.get("quarantined") or {}).get("position")
        headers |= {
            f"engramlog-{name.replace('_', '-')}": quote(str(one), ":+")
            for name, one in told.items()
            if one is not None
        }
        from api.pictures.svg import written

        super().__init__(written(picture).encode(), 200, headers)


def _curves(answer: Mapping[str, Any], look: Look) -> Element:
    from api.pictures.curves import curves_picture

    return curves_picture(answer, look)


def _map(answer: Mapping[str, Any], look: Look) -> Element:
    from api.pictures.map import map_picture

    return map_picture(answer, look).root


def _answers(operation: Operation) -> dict[Any, Any]:
    shown = {"schema": {"type": "string", "description": "SVG 1.1 in UTF-8."}, "example": _EXAMPLE}
    told = (
        f"{operation.told} Headers: `engramlog-position`, and `engramlog-behind`, `engramlog-quarantined`, `engramlog-as-of`,"
        " `engramlog-known` where JSON tells them."
    )
    return {200: {"description": told, "content": {"image/svg+xml": shown}}, **problems(*operation.statuses)}


def _endpoint(
    operation: Operation, name: str, drawn: Callable[[Mapping[str, Any], Look], Element]
) -> Callable[..., Any]:
    def endpoint(parts: Parts, asked: Any, **subject: str) -> Response:
        from api.pictures.look import checked_look

        given = asked.model_dump()
        look = checked_look(**{one.name: given.pop(one.name) for one in LOOK})
        answer = operation.ask(parts.application, subject | given | dict(operation.fixed))
        return Svg(drawn(answer, look), name, answer)

    return endpoint


router = new_router()
for told, picture_name, picture in ((CURVES_SVG, "compare", _curves), (MAP_SVG, "map", _map)):
    register(router, told, _endpoint(told, picture_name, picture), _answers(told), response_class=Svg, status_code=200)
