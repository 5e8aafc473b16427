"""`make client`: the index of commands, made of the commands themselves, so that a listing loads none of their modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from inspect import getdoc
from pkgutil import iter_modules

import engramlog_server.api.cli.commands
import engramlog_server.ops.commands
from engramlog_server.api.access import ALL, MODULES
from engramlog_server.api.cli.command import help_of, plain
from engramlog_server.api.cli.parser import COMMANDS, app
from tests.made.client_source import formatted
from tests.places import ROOT

FILE = ROOT / "api" / "operations" / "table.py"


def index() -> str:
    """The source of the index."""
    rows = {name: (module, help_text) for name, module, help_text in (*_registered(), *_of_operations())}
    groups = "".join(
        f"    {group!r}: (\n{''.join(_row(name, *rows[name]) for name in names.split())}    ),\n"
        for group, names in COMMANDS.items()
    )
    return formatted(
        f'''"""Every command by its group: its name, the module that registers it, and the first paragraph of its help.

Made by `make client` of the commands: change those, and make it again. It imports the standard library alone and names modules as
text, those of `ops` too: `engramlog --help` and completion load nothing else.
"""

from __future__ import annotations

from typing import NamedTuple


class OperationRow(NamedTuple):
    """One command, or group of commands."""

    name: str
    module: str
    help: str


GROUPS: dict[str, tuple[OperationRow, ...]] = {{
{groups}}}
"""In the order in which `--help` shows them."""


def entries() -> dict[str, OperationRow]:
    """Every command by its name."""
    return {{entry.name: entry for group in GROUPS.values() for entry in group}}
'''
    )


def _row(name: str, module: str, help_text: str) -> str:
    return f"        OperationRow({name!r}, {module!r}, {help_text!r}),\n"


def _registered() -> Iterator[tuple[str, str, str]]:
    """Name, module and help of each command and group that a module of commands registers."""
    for package in (engramlog_server.api.cli.commands, engramlog_server.ops.commands):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    for command in app.registered_commands:
        callback = command.callback
        assert callback is not None
        if callback.__module__ == plain.__module__:
            continue  # made of an operation alone, and called before in this process
        name = command.name or callback.__name__.replace("_", "-")
        yield name, callback.__module__, _first(command.help or getdoc(callback) or "")
    for group in app.registered_groups:
        inner = group.typer_instance
        assert inner is not None
        modules = {one.callback.__module__ for one in inner.registered_commands if one.callback}
        yield str(group.name), _last(modules), _first(str(inner.info.help))


def _last(modules: set[str]) -> str:
    """The module that imports the others which add to the same group."""
    texts: Mapping[str, str] = {
        one: ROOT.joinpath("src", *one.split(".")).with_suffix(".py").read_text("utf-8") for one in modules
    }
    (found,) = (one for one in modules if all(f"from {other} import" in texts[one] for other in modules - {one}))
    return found


def _of_operations() -> Iterator[tuple[str, str, str]]:
    """The same of each command that is made of an operation alone."""
    registered = {
        one.name for one in app.registered_commands if one.callback and one.callback.__module__ != plain.__module__
    }
    named = {name for names in COMMANDS.values() for name in names.split()} - registered
    for module in MODULES:
        for operation in ALL:
            if operation.name in named and operation in vars(module).values():
                yield operation.name, module.__name__, _first(help_of(operation))


def _first(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


if __name__ == "__main__":
    FILE.write_text(index(), encoding="utf-8")
