"""`/docs`: the routes on one page, made from the OpenAPI document. Nothing on it comes from another host."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from hashlib import sha256
from html import escape
from typing import Any

import orjson
from anyio.to_thread import run_sync
from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{background:#f5f5f2;padding:.7rem;overflow:auto;border-radius:4px}
summary{cursor:pointer;padding:.25rem 0}b{display:inline-block;width:4rem}td{padding:.1rem 1rem .1rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#242424}a{color:#8bf}}
"""
_HEAD = f"""<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Engramlog HTTP API</title><style>{_STYLE}</style>"""
_HEADERS = {
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    f" style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'",
    "referrer-policy": "no-referrer",
}
"""No script, no form, nothing from elsewhere, and in nobody's frame; the one style is named by its hash."""


def reference(app: FastAPI) -> Callable[[Request], Awaitable[Response]]:
    """The page as an endpoint."""

    @cache
    def text() -> str:
        return "".join(_page(app.openapi()))

    async def page(_request: Request) -> Response:
        return HTMLResponse(await run_sync(text), headers=_HEADERS)

    return page


def _page(document: dict[str, Any]) -> Iterator[str]:
    yield f"{_HEAD}<h1>Engramlog HTTP API</h1><p>{escape(document['info']['description'])}</p>"
    yield '<p>For machines: <a href="/v1/openapi.json">/v1/openapi.json</a></p>'
    for tag in document["tags"]:
        yield f"<h2>{escape(tag['name'].capitalize())}</h2><p>{escape(tag['description'])}</p>"
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if operation["tags"][-1] == tag["name"]:
                    yield from _operation(method.upper(), path, operation)


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"<details><summary><b>{method}</b><code>{escape(path)}</code></summary>"
    yield f"<p>{escape(operation.get('description', ''))}</p><table>"
    for parameter in operation.get("parameters", ()):
        needed = " (required)" if parameter.get("required") else ""
        told = parameter.get("description") or parameter["schema"].get("description", "")
        yield f"<tr><td><code>{escape(parameter['name'])}</code>{needed}<td>{escape(told)}"
    yield "</table>"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        shown = [one["value"] for one in content.get("examples", {}).values()] or [content.get("example")]
        for example in shown:
            yield f"<p>Body, {escape(kind)}:</p>{_example(example)}"
    for status, answer in operation["responses"].items():
        yield f"<p>{escape(str(status))}: {escape(answer['description'])}</p>"
        if str(status) == "200":
            yield from (_example(content.get("example")) for content in answer.get("content", {}).values())
    yield "</details>"


def _example(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return f"<pre>{escape(text)}</pre>"
