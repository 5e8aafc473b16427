"""The routes that are made of operations, and the endpoints of those that a call alone does not answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.responses import Response

from engramlog_server.api.access import MADE_WHOLE
from engramlog_server.api.http.problem import problems
from engramlog_server.api.http.routing import Json, Parts, add, answers_of, new_router, register, shape_of
from engramlog_server.api.operations.definition import Operation
from engramlog_server.api.operations.reading import REVEAL, SEARCH
from engramlog_server.api.operations.reports import CURVES_SVG, EXTRACT, LOOK, MAP_SVG
from engramlog_server.api.operations.writing import DELETE, DELETE_MANY, RESTORE_MANY
from engramlog_server.events.errors import RequestTooLarge
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from engramlog_server.api.pictures.svg import Look


RUN_SECONDS = 15.0
"""After so long a model is asked about no more turns in one request; what is `left` is for the next."""
router = new_router()
for operation in MADE_WHOLE:
    add(router, operation, timed="search_seconds" if operation is SEARCH else None)


def check_size(count: int, what: str) -> None:
    """Raises RequestTooLarge beyond 1,000."""
    if count > MAX_REQUEST_EVENTS:
        raise RequestTooLarge(
            f"a request of {count} {what}; at most {MAX_REQUEST_EVENTS} are allowed: split it",
            got=count,
            allowed=MAX_REQUEST_EVENTS,
        )


def partly(operation: Operation, description: str) -> dict[Any, Any]:
    """The documented answers of what may be done in part: 207 then."""
    responses = answers_of(operation)
    return responses | {207: responses[200] | {"description": description}}


def _reveal(parts: Parts, owner: str, memory_id: str, asked: Any = None) -> Response:
    from engramlog_server.api.access import By

    told = (asked or shape_of(REVEAL)()).model_dump()
    by = By("http", told.pop("actor"), told.pop("reason"))
    memory_id = parts.application.named(owner, memory_id)
    return Json(parts.application.revealer.get(owner, memory_id, by, **told))


def _delete(parts: Parts, owner: str, memory_id: str, asked: Any = None) -> Response:
    told = (asked or shape_of(DELETE)()).model_dump()
    memory_id = parts.application.named(owner, memory_id)
    answer = parts.application.deleter.delete_many(owner, [memory_id], by_name=True, **told)
    if answer.refusal is not None:
        raise answer.refusal
    return Json(answer.as_effects(), 207 if answer.exit_code else 200)


def _many(operation: Operation) -> Callable[..., Response]:
    def endpoint(parts: Parts, owner: str, asked: Any) -> Response:
        check_size(len(asked.ids), "ids")
        answer = operation.ask(parts.application, {"owner": owner, **asked.model_dump()})
        if answer.refusal is not None:
            raise answer.refusal
        return Json(answer.as_dict(), 207 if answer.exit_code else 200)

    return endpoint


def _extract(parts: Parts, owner: str, asked: Any = None) -> Response:
    told, extractor = (asked or shape_of(EXTRACT)()).model_dump(), parts.application.extractor
    if told["dry_run"]:
        return Json(extractor.rehearse(owner, told["by"]))
    end = monotonic() + RUN_SECONDS
    answer = extractor.extract(owner, told["by"], stop=lambda: monotonic() > end)
    return Json(answer, 207 if answer["trouble"] else 200)


register(router, REVEAL, _reveal)
register(
    router,
    DELETE,
    _delete,
    partly(DELETE, "It was not deleted, or only in part: `skipped`, `left_alone` and `waiting` say what and why."),
)
register(
    router,
    DELETE_MANY,
    _many(DELETE_MANY),
    partly(DELETE_MANY, "Some were not deleted; `skipped` names each with the reason."),
)
register(
    router,
    RESTORE_MANY,
    _many(RESTORE_MANY),
    partly(
        RESTORE_MANY,
        "Some were not restored, or something that went with them stays deleted; each is named with the reason.",
    ),
)
register(
    router, EXTRACT, _extract, partly(EXTRACT, "The model failed (`trouble`); what was read until then stays read.")
)


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
        from engramlog_server.api.pictures.svg import written

        super().__init__(written(picture).encode(), 200, headers)


def _curves(answer: Mapping[str, Any], look: Look) -> Element:
    from engramlog_server.api.pictures.curves import curves_picture

    return curves_picture(answer, look)


def _map(answer: Mapping[str, Any], look: Look) -> Element:
    from engramlog_server.api.pictures.map import map_picture

    return map_picture(answer, look).root


def _answers(operation: Operation) -> dict[Any, Any]:
    shown = {"schema": {"type": "string", "description": "SVG 1.1 in UTF-8."}, "example": _EXAMPLE}
    told = (
        "An SVG without scripts, styles and references; its parts say in `data-` attributes what they are. Headers:"
        " `engramlog-position`, and `engramlog-behind`, `engramlog-quarantined`, `engramlog-as-of`, `engramlog-known` where JSON"
        " tells them."
    )
    return {200: {"description": told, "content": {"image/svg+xml": shown}}, **problems(*(operation.statuses or ()))}


def _endpoint(
    operation: Operation, name: str, drawn: Callable[[Mapping[str, Any], Look], Element]
) -> Callable[..., Any]:
    def endpoint(parts: Parts, asked: Any, **subject: str) -> Response:
        from engramlog_server.api.pictures.svg import checked_look

        given = asked.model_dump()
        look = checked_look(**{one.name: given.pop(one.name) for one in LOOK})
        answer = operation.ask(parts.application, subject | given | dict(operation.fixed))
        return Svg(drawn(answer, look), name, answer)

    return endpoint


for told, picture_name, picture in ((CURVES_SVG, "compare", _curves), (MAP_SVG, "map", _map)):
    register(router, told, _endpoint(told, picture_name, picture), _answers(told), response_class=Svg, status_code=200)
