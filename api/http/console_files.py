"""The console: `/` is its page, `/console/...` its files. They lie in the package, in `api/console`, and tell nothing of anybody.

What there is is found once, by listing the package: nothing that a request says is ever made into a path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from anyio.to_thread import run_sync
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.http.access.bearer import CONSOLE_FILES
from api.http.page_headers import page_headers
from api.http.server.listener import CONSOLE_PAGE

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
HEADERS: Final = page_headers(
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
    found = {path: one.read_bytes() for path, one in _listed(files("api").joinpath("console"), "")}
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
    headers = {**HEADERS, "etag": found.etag}
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
