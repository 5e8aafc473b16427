"""The log's events: a page is looked for in the lane of light questions, and what waits for more waits without a thread."""

from __future__ import annotations

import asyncio
from functools import partial
from time import monotonic
from typing import Any

from fastapi import Request
from starlette.responses import Response

from api.http.admitted import admission_of
from api.http.answer import Json
from api.http.asking import Parts, renewed
from api.http.made import new_router, register
from api.operations.definition import Operation
from api.operations.events import EVENTS, PARTITION_EVENTS
from api.requests.speaking import come_in_by
from api.work.patience import Work

router = new_router()


async def _events(operation: Operation, request: Request, parts: Parts, asked: Any, **subject: Any) -> Response:
    from api.services.auditing.events import check_wait, pause_after

    given = asked.model_dump()
    wait, owner = given.pop("wait"), subject.get("owner")
    check_wait(wait, given["order"])
    end = monotonic() + wait
    while True:
        looked = monotonic()
        call = partial(come_in_by, "http", operation.ask, parts.application, subject | given)
        answer = await admission_of(request).run(Work.LIGHT, owner or "", call)
        left = end - monotonic()
        if answer["events"] or answer["next"] is not None or left <= 0:
            return Json(answer)
        given["cursor"] = answer["follow"]
        head = int(answer["head"].partition(":")[2])
        await parts.waits.wait(answer["partition"], owner, head, left)
        await asyncio.sleep(pause_after(looked))
        parts = await renewed(request)


for operation in (EVENTS, PARTITION_EVENTS):
    register(router, operation, partial(_events, operation))
