"""`/docs`: the routes on one page, made from the OpenAPI document. Nothing on it comes from another host.

The page is for reading as it is; its script, a file of this service, adds the filter and trying out. Templates, script and
style lie in `page/`. The templates name no route, and write as text whatever they are told (autoescape).
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files

import orjson
from anyio.to_thread import run_sync
from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response

from api.http.page_headers import page_headers

FILES = {"/docs/page.css": "text/css", "/docs/page.js": "text/javascript", "/docs/request.js": "text/javascript"}
HEADERS = page_headers()


def serve_reference(app: FastAPI) -> None:
    """Let `app` serve the page and its files. The page is made by a thread, when it is asked for first."""

    @cache
    def text() -> str:
        return _page(app)

    async def page(_request: Request) -> Response:
        return HTMLResponse(await run_sync(text), headers=HEADERS)

    async def file(request: Request) -> Response:
        path = request.url.path
        return Response(_file(path), media_type=FILES[path], headers=HEADERS)

    app.add_route("/docs", page, include_in_schema=False)
    for path in FILES:
        app.add_route(path, file, include_in_schema=False)


@cache
def _file(path: str) -> bytes:
    return files("api.http").joinpath("page", path.rpartition("/")[2]).read_bytes()


def _page(app: FastAPI) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(loader=PackageLoader("api.http", "page"), autoescape=True, undefined=StrictUndefined)
    made.trim_blocks = made.lstrip_blocks = True
    made.filters |= {"coded": _coded, "json": _json, "sentence": lambda told: re.split(r"(?<=\.)\s", told)[0]}
    return made.get_template("page.html").render(app.openapi())


def _coded(told: str) -> str:
    """A text as markup: between backticks code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(told))


def _json(value: object) -> str:
    """A text as it is; anything else as JSON on lines of its own."""
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
