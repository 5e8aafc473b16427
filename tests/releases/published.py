"""What a tree of this project publishes: routes, commands, MCP tools and the client's verbs, as data without prose.

`python -P tests/releases/published.py TREE FOLDER` writes what the tree TREE publishes into FOLDER, one JSON file a face.
`tests/releases/0.2.0` was made so from release 0.2.0 (its archive, and the client of the same commit). With `--prose` the
texts (descriptions, examples, help) stay in, which shows that a change of the code changes none of them.

It runs in the tree that it describes, an older one too: it imports nothing of the tests.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin
from unittest.mock import MagicMock

PROSE = {"description", "title", "summary", "example", "examples"}


def routes() -> dict[str, Any]:
    """The OpenAPI document."""
    from api.http.app import create_app

    document = create_app(cast("Any", MagicMock())).openapi()
    return {"paths": document["paths"], "schemas": document["components"]["schemas"]}


def commands() -> dict[str, Any]:
    """Every command with its options and arguments."""
    return {"commands": {name: _command(told) for name, told in _walk("", _root())}}


def _root() -> Any:
    if find_spec("api.cli.frame"):
        from api.cli.frame import whole

        return whole()
    import_module("ops.main")  # 0.2.0 registers its commands when they are imported
    from typer.main import get_command

    from api.cli.app import app

    return get_command(app)


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    for word, one in sorted(getattr(command, "commands", {}).items()):
        yield from _walk(f"{name} {word}".strip(), one)
    yield name, command


def _command(command: Any) -> dict[str, Any]:
    return {
        "description": [command.help, command.epilog],
        "parameters": by_option({str(one.name): _parameter(one) for one in command.params}),
        "order": [one.name for one in command.params if one.param_type_name == "argument"],
    }


def by_option(parameters: dict[str, Any]) -> dict[str, Any]:
    """Options by what people type, whatever the code calls them; arguments stand by their place."""

    def typed(name: str, told: dict[str, Any]) -> str:
        return name if told["opts"] == "argument" else max(told["opts"], key=len).strip("-").replace("-", "_")

    return {typed(name, told): told for name, told in parameters.items()}


def _parameter(one: Any) -> dict[str, Any]:
    kind = one.type_descriptor
    told = {
        "opts": sorted([*one.opts, *one.secondary_opts]) if one.param_type_name == "option" else "argument",
        "type": _named(kind.annotation),
        "choices": [str(choice) for choice in kind.choices] if kind.is_choice else None,
        "minimum": one.min,
        "maximum": one.max,
        "required": one.required,
        "default": one.default if isinstance(one.default, bool | int | float | str | None) else str(one.default),
        "many": one.multiple or one.nargs,
        "flag": bool(getattr(one, "is_flag", False)),
        "description": [getattr(one, "help", None), one.metavar, one.hidden, one.show_default, one.rich_help_panel],
    }
    return {name: value for name, value in told.items() if value is not None or name == "default"}


def tools() -> dict[str, Any]:
    """Every MCP tool, resource and prompt."""
    import asyncio
    from contextlib import nullcontext

    from api.mcp.connection import Connection
    from api.mcp.server import MemoryServer

    server = MemoryServer(Connection(cast("Any", lambda: nullcontext(MagicMock())), "alice"))

    async def listed() -> dict[str, Any]:
        return {
            "tools": {one.name: _dumped(one) for one in await server.list_tools()},
            "resources": sorted(str(one.uri) for one in await server.list_resources()),
            "templates": sorted(str(one.uri_template) for one in await server.list_resource_templates()),
            "prompts": {one.name: _dumped(one) for one in await server.list_prompts()},
        }

    return asyncio.run(listed())


def _dumped(one: Any) -> dict[str, Any]:
    told: dict[str, Any] = one.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: value for name, value in told.items() if name not in ("name", "icons")}


def verbs() -> dict[str, Any]:
    """What the client's package offers: verbs, answers with their fields, errors."""
    import engramlog
    from engramlog import client, results

    found = {name for name, value in vars(client.Verbs).items() if isinstance(value, client.Verb)}
    answers = {name: one for name, one in vars(results).items() if hasattr(one, "model_fields")}
    return {
        "names": sorted(engramlog.__all__),
        "verbs": {name: _signature(getattr(engramlog.Memory, name)) for name in sorted(found)}
        | {"Memory": _signature(engramlog.Memory)},
        "answers": {
            name: {field: _field(told) for field, told in one.model_fields.items()} for name, one in answers.items()
        },
    }


def _signature(called: Callable[..., Any]) -> dict[str, Any]:
    asked = inspect.signature(called)
    return {
        "answer": str(asked.return_annotation),
        "parameters": {
            one.name: {
                "place": str(one.kind),
                "type": str(one.annotation),
                "required": one.default is one.empty,
                "default": None if one.default is one.empty else repr(one.default),
            }
            for one in asked.parameters.values()
            if one.name != "self"
        },
        "order": [one.name for one in asked.parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD],
    }


def _field(told: Any) -> dict[str, Any]:
    required = told.is_required()
    return {"type": _named(told.annotation), "required": required, "default": None if required else repr(told.default)}


def _named(kind: Any) -> str:
    """A type as text, the same for `X | None` however it is written."""
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(sorted(map(_named, get_args(kind))))
    if get_origin(kind) is None:
        return str(getattr(kind, "__name__", kind))
    return f"{get_origin(kind).__name__}[{', '.join(map(_named, get_args(kind)))}]"


FACES: dict[str, Callable[[], dict[str, Any]]] = {
    "routes": routes,
    "commands": commands,
    "tools": tools,
    "verbs": verbs,
}


def without_prose(told: Any, names: bool = False) -> Any:
    """The same without texts for readers; `names` says that the keys are names of things, which are kept."""
    if isinstance(told, list):
        return [without_prose(one) for one in told]
    if not isinstance(told, dict):
        return told
    of_things = {"commands", "properties", "schemas", "parameters", "tools", "answers", "paths", "verbs", "prompts"}
    return {name: without_prose(value, name in of_things) for name, value in told.items() if names or name not in PROSE}


def published(prose: bool = False) -> dict[str, dict[str, Any]]:
    """What the tree that is imported publishes, by face."""
    told = {name: of() for name, of in FACES.items()}
    return told if prose else {name: without_prose(one) for name, one in told.items()}


def stored(folder: Path) -> dict[str, dict[str, Any]]:
    """What was written into a folder."""
    told = {name: json.loads(Path(folder, f"{name}.json").read_text("utf-8")) for name in FACES}
    for command in told["commands"]["commands"].values():
        command["parameters"] = by_option(command["parameters"])
    return told


def main(tree: str, folder: str, *options: str) -> None:
    """Write what a tree publishes."""
    sys.path[:0] = [tree, f"{tree}/client"]
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, told in published(prose="--prose" in options).items():
        Path(folder, f"{name}.json").write_text(_by_line(told), "utf-8")


def _by_line(told: dict[str, Any]) -> str:
    """JSON with a line for each thing that is published."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def lines(group: Any) -> str:
        if not isinstance(group, dict):
            return line(group)
        return "{\n" + ",\n".join(f"{line(name)}:{line(one)}" for name, one in sorted(group.items())) + "\n}"

    return "{\n" + ",\n".join(f"{line(name)}:{lines(group)}" for name, group in sorted(told.items())) + "\n}\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
