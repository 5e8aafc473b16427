"""What the TypeScript client is built from: the OpenAPI document without its examples, and the table of verbs.

`make client-ts` writes both below `client-ts`, where they are not kept: they always come from the operations of this checkout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from engramlog_server.api.operations.access import ISSUE
from engramlog_server.api.operations.definition import MEMORIES, MEMORY, OWNER, REQUIRED
from tests.made.client_source import VERBS
from tests.made.reference import openapi_document
from tests.places import ROOT

FOLDER = ROOT / "client-ts"


class Route(NamedTuple):
    """Where a verb is sent, and which parameter its first argument is."""

    method: str
    path: str
    first: str = ""


BY_HAND: Mapping[str, Route] = {
    "add": Route("post", MEMORIES, "content"),
    "confirm": Route("post", f"{MEMORY}/confirm", "memory_id"),
    "context": Route("post", f"{OWNER}/context", "text"),
    "delete": Route("post", f"{MEMORY}/delete", "memory_id"),
    "delete_many": Route("post", f"{MEMORIES}/delete", "ids"),
    "extract": Route("post", f"{OWNER}/extract"),
    "get": Route("get", MEMORY, "memory_id"),
    "merge": Route("post", f"{OWNER}/merge", "sources"),
    "report_ground": Route("post", f"{OWNER}/grounds", "uri"),
    "restore": Route("post", f"{MEMORY}/restore", "memory_id"),
    "reveal": Route("post", f"{MEMORY}/reveal", "memory_id"),
    "unmerge": Route("post", f"{MEMORY}/unmerge", "memory_id"),
    "update": Route("post", f"{MEMORY}/edit", "memory_id"),
    "why": Route("get", f"{MEMORY}/why", "memory_id"),
}
"""Verbs that the Python client has by hand, because it reads several pages or builds events; here each is one request."""
IDENTIFIED = ("key", "event_id")
"""Fields of a body by which a request that is sent again changes nothing."""


def routes() -> dict[str, Route]:
    """Every verb, by its name in Python."""
    found = dict(BY_HAND)
    for name, operation in VERBS.items():
        needed = [one.name for one in operation.question if one.default is REQUIRED]
        subject = [one for one in operation.subject if one != "owner"]
        first = next(iter([*subject, *needed]), "")
        found.setdefault(name, Route("get" if operation.body is None else "post", operation.path, first))
    return dict(sorted(found.items()))


def table(document: Mapping[str, Any]) -> str:
    """The source of `verbs.ts`."""
    entries = "".join(_entries(document))
    return f"// Made by `make client-ts` of the application's operations.\nexport const verbs = {{\n{entries}}} as const;\n"


def _entries(document: Mapping[str, Any]) -> Iterator[str]:
    for name, route in routes().items():
        operation = document["paths"][route.path][route.method]
        summary = operation.get("description") or operation["summary"]
        words = re.sub(r"\*/", "* /", summary).replace("\n", "\n   * ")
        fields = {
            "method": route.method,
            "path": route.path,
            "first": route.first,
            "id": next((one for one in IDENTIFIED if one in _body(operation, document)), ""),
            "once": name == ISSUE.verb,
        }
        yield f"  /**\n   * {words}\n   */\n  {camel(name)}: {json.dumps(fields)},\n"


def _body(operation: Mapping[str, Any], document: Mapping[str, Any]) -> set[str]:
    """The names of the fields of a body."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    named = re.findall(r"'#/components/schemas/(\w+)'", str(body))
    return {field for one in named for field in document["components"]["schemas"][one].get("properties", ())}


def camel(name: str) -> str:
    """`set_sensitivity` is `setSensitivity`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def typed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of which types are made. Fields of a body that have a default may be left out."""
    kept: dict[str, Any] = pruned(document)
    bodies = [
        one["requestBody"] for methods in kept["paths"].values() for one in methods.values() if "requestBody" in one
    ]
    schemas = kept["components"]["schemas"]
    asked, left = set[str](), re.findall(r"'#/components/schemas/(\w+)'", str(bodies))
    while left:
        name = left.pop()
        if name not in asked:
            asked.add(name)
            left += re.findall(r"'#/components/schemas/(\w+)'", str(schemas[name]))
    for name in asked:
        for field in schemas[name].get("properties", {}).values():
            field.pop("default", None)
    return kept


def pruned(document: Any) -> Any:
    """The document without examples and without refusals, of which no type is made."""
    if isinstance(document, list):
        return [pruned(one) for one in document]
    if not isinstance(document, dict):
        return document
    kept = {name: pruned(value) for name, value in document.items() if name not in ("examples", "example")}
    if "operationId" in kept:
        kept["responses"] = {status: one for status, one in kept["responses"].items() if status.startswith("2")}
    return kept


def write(folder: Path) -> None:
    """Write both into a copy of `client-ts`."""
    document = openapi_document()
    made = {"generated/openapi.json": json.dumps(typed(document)), "src/generated/verbs.ts": table(document)}
    for name, text in made.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    write(FOLDER)
