"""The OpenAPI document and the pages of this service: `/` is the console, `/docs` the routes on one page.

The document adds to what FastAPI finds the shape of problems, the token, how large each body is, and schemas of the answers from
their definitions. A thread makes it when it is first asked for: a second of work, for which everybody would wait on the event loop.

Files of the console are in `api/console`, those of `/docs` in `page/`. They hold no data, and load nothing from another host. The
console's files are listed once: no request is ever made into a path. The templates of `/docs` name no route, and escape all
values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Final, NamedTuple

import orjson
from anyio.to_thread import run_sync
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from engramlog_server.api.http.callers import CONSOLE_FILES, is_open
from engramlog_server.api.http.guard import DEPTH, limit_of
from engramlog_server.api.http.problem import SCHEMAS, ProblemShape, Schema, problems
from engramlog_server.api.http.routing import LazyRoute
from engramlog_server.api.http.serve import CONSOLE_PAGE

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


POLICY: Mapping[str, str] = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
"""Files of this service alone, nothing inline, no text that becomes markup or code; in nobody's frame."""


def page_headers(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The headers; `more` of the policy is what a page has beyond `POLICY`, or otherwise. In nobody's window, and no referrer."""
    policy = {**POLICY, **(more or {})}
    return {
        "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


PAGE: Final = "index.html"
MARKER: Final = "<!-- modules -->"
"""In the page: becomes the links by which every module is loaded at once, and not one after the other."""
LICENCE: Final = "license"
"""In any case, in a file's name: it is plain text."""
MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
"""By the end of a file's name. A file of another kind is not served; the tests find it."""
CONSOLE_HEADERS: Final = page_headers(
    {
        "img-src": "'self' blob: data:",
        "font-src": "'self'",
        "trusted-types": "engramlog-svg",
    }
) | {"cache-control": "no-cache"}
"""As of `/docs`, with pictures, and one place in the page's code that makes markup: of drawings."""


class ConsoleFile(NamedTuple):
    """A file as it is sent."""

    body: bytes
    media_type: str
    etag: str
    """Strong: of these very bytes."""


@cache
def console_files() -> Mapping[str, ConsoleFile]:
    """Every file by its path in the folder of the console, the page among them; read once."""
    found = {path: one.read_bytes() for path, one in _listed(files("engramlog_server.api").joinpath("console"), "")}
    if PAGE in found:
        found[PAGE] = _with_modules(found[PAGE].decode(), sorted(found)).encode()
    return {path: _file(path, body) for path, body in found.items()}


def serve_console(app: FastAPI) -> None:
    """Let `app` serve the page and its files, which are read by a thread when one is asked for first."""

    async def page(request: Request) -> Response:
        return await _answered(request, PAGE)

    async def file(request: Request) -> Response:
        path: str = request.path_params["file"]
        return await _answered(request, path if path != PAGE else "")  # the page has one address

    app.add_route(CONSOLE_PAGE, page, include_in_schema=False)
    app.add_route(f"{CONSOLE_FILES}{{file:path}}", file, include_in_schema=False)


async def _answered(request: Request, path: str) -> Response:
    found = (await run_sync(console_files)).get(path)
    if found is None:
        raise HTTPException(404)
    headers = {**CONSOLE_HEADERS, "etag": found.etag}
    if _is_held(request.headers.getlist("if-none-match"), found.etag):
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers | {"content-type": found.media_type})


def _is_held(told: list[str], etag: str) -> bool:
    """Whether a browser has these bytes already (RFC 9110, 13.1.2)."""
    held = [one.strip().removeprefix("W/") for line in told for one in line.split(",")]
    return "*" in held or etag in held


def _listed(folder: Traversable, within: str) -> Iterator[tuple[str, Traversable]]:
    """The files of a folder of the package and of those in it, but hidden ones and other kinds than are served."""
    for one in folder.iterdir():
        path = f"{within}{one.name}"
        if one.name.startswith((".", "_")):
            continue
        if one.is_dir():
            yield from _listed(one, f"{path}/")
        elif _media_type(one.name) is not None:
            yield path, one


def _with_modules(page: str, paths: list[str]) -> str:
    links = [f'<link rel="modulepreload" href="{CONSOLE_FILES}{escape(one)}">' for one in paths if one.endswith(".js")]
    return page.replace(MARKER, "\n".join(links))


def _file(path: str, body: bytes) -> ConsoleFile:
    return ConsoleFile(body, _media_type(path) or "", f'"{sha256(body).hexdigest()[:32]}"')


def _media_type(path: str) -> str | None:
    """None of a kind that is not served."""
    of = PurePosixPath(path)
    return MEDIA_TYPES[".txt"] if LICENCE in of.name.lower() else MEDIA_TYPES.get(of.suffix)


FILES = {"/docs/page.css": "text/css", "/docs/page.js": "text/javascript", "/docs/request.js": "text/javascript"}
REFERENCE_HEADERS = page_headers()


def serve_reference(app: FastAPI) -> None:
    """Let `app` serve the page and its files. The page is made by a thread, when it is asked for first."""

    @cache
    def text() -> str:
        return _page(app)

    async def page(_request: Request) -> Response:
        return HTMLResponse(await run_sync(text), headers=REFERENCE_HEADERS)

    async def file(request: Request) -> Response:
        path = request.url.path
        return Response(_reference_file(path), media_type=FILES[path], headers=REFERENCE_HEADERS)

    app.add_route("/docs", page, include_in_schema=False)
    for path in FILES:
        app.add_route(path, file, include_in_schema=False)


@cache
def _reference_file(path: str) -> bytes:
    return files("engramlog_server.api.http").joinpath("page", path.rpartition("/")[2]).read_bytes()


def _page(app: FastAPI) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("engramlog_server.api.http", "page"), autoescape=True, undefined=StrictUndefined
    )
    made.trim_blocks = made.lstrip_blocks = True
    made.filters |= {"coded": _coded, "json": _json, "sentence": lambda told: re.split(r"(?<=\.)\s", told)[0]}
    return made.get_template("page.html").render(app.openapi())


def _coded(told: str) -> str:
    """A text as markup: between backticks code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(told))


def _json(value: object) -> str:
    """A text as it is; anything else as JSON on lines of its own."""
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
