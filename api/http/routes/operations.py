"""The routes that are made of operations, and the endpoints of those that a call alone does not answer."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from starlette.responses import Response

from api.http.answer import Json
from api.http.asking import Parts
from api.http.made import add, answers_of, new_router, register, shape_of
from api.operations.definition import Operation
from api.operations.groups import MADE_WHOLE
from api.operations.reading import REVEAL
from api.operations.reports import EXTRACT
from api.operations.searching import SEARCH
from api.operations.writing import DELETE, DELETE_MANY, RESTORE_MANY
from events.errors import RequestTooLarge
from events.vocabulary import MAX_REQUEST_EVENTS

RUN_SECONDS = 15.0
"""After so long a model is asked about no more turns in one request; what is `left` is for the next."""
router = new_router()
for operation in MADE_WHOLE:
    if operation is SEARCH:
        add(router, operation, lambda parts: parts.metrics.search_seconds.time())
    else:
        add(router, operation)


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
    from api.revealing import By

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
