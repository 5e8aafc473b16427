"""What the OpenAPI document says beyond what FastAPI finds: the shape of problems, the token, and how large each body is.

It is made by a thread when it is asked for first: a second of work, for which everybody would wait on the event loop.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from threading import Lock

import orjson
from anyio.to_thread import run_sync
from fastapi import FastAPI, Request
from starlette.responses import Response

from engramlog_server.api.http.callers import is_open
from engramlog_server.api.http.guard import DEPTH, limit_of
from engramlog_server.api.http.problem import SCHEMAS, ProblemShape, Schema, problems
from engramlog_server.api.http.routing import LazyRoute

PATH = "/v1/openapi.json"
EXAMPLES = Path(__file__).with_name("examples.json")
"""An answer of every route, recorded by `tests.made.examples`."""
UNDESCRIBED = "Successful Response"
"""FastAPI's words of an answer; those of its definition are better."""
OF_BODIES = (408, 413, 415)
"""What any body may be answered with."""


_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "The token of the data folder, as `engramlog token` prints it, or `ENGRAMLOG_TOKEN`; or a session's.",
}


def describe(app: FastAPI) -> None:
    """Let `app` tell it in its document, and serve that at `PATH`. `app.openapi` may be called from any thread."""
    making = Lock()

    @cache
    def described() -> Schema:
        from fastapi.openapi.utils import get_openapi

        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            tags=app.openapi_tags,
            routes=[one.route if isinstance(one, LazyRoute) else one for one in app.routes],
        )
        schema = ProblemShape.model_json_schema()
        document.setdefault("components", {}).setdefault("schemas", {})["ProblemShape"] = schema
        _describe_answers(document)
        document["components"]["securitySchemes"] = {"token": _TOKEN}
        document["security"] = [{"token": []}]
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if is_open(method.upper(), path):
                    operation["security"] = []
                else:
                    operation["responses"].setdefault("401", problems(401)[401])
                if "requestBody" in operation:
                    _describe_body(path, operation)
        return document

    def once() -> Schema:
        with making:
            return described()

    @cache
    def text() -> bytes:
        return orjson.dumps(once())

    async def served(_request: Request) -> Response:
        return Response(await run_sync(text), media_type="application/json")

    app.openapi = once  # type: ignore[method-assign]
    app.add_route(PATH, served, include_in_schema=False)


def _describe_answers(document: Schema) -> None:
    """Add the schemas that answers refer to, and their examples."""
    from engramlog_server.api.http.answer_schemas import schemas

    examples, undescribed = orjson.loads(EXAMPLES.read_bytes()), list[tuple[Schema, str]]()
    used = set[str]()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for answer in operation["responses"].values():
                content = answer.get("content", {}).get("application/json", {})
                reference = content.get("schema", {}).get("$ref", "")
                if reference.startswith(SCHEMAS):
                    name = reference.removeprefix(SCHEMAS)
                    used.add(name)
                    if answer["description"] == UNDESCRIBED:
                        undescribed.append((answer, name))
                    content["example"] = examples[f"{method.upper()} {path}"]
    made = schemas(sorted(used))
    document["components"]["schemas"] |= made
    for answer, name in undescribed:
        answer["description"] = made[name]["description"].partition("\n")[0]


def _describe_body(path: str, operation: Schema) -> None:
    limit = limit_of(path)
    operation["requestBody"]["description"] = (
        f"At most {limit.size:,} bytes and {limit.most.values:,} JSON values, {DEPTH} levels deep; no Content-Encoding."
    )
    for status, answer in problems(*OF_BODIES).items():
        operation["responses"].setdefault(str(status), answer)
