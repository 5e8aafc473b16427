"""The root of the command line: every command is listed from the table, and a command's module is loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_command_from_info, get_command_name, get_group_from_info

from api.cli.refusing import in_our_words
from api.operations.table import GROUPS, OperationRow, entries

MARKUP: Any = "markdown"
OPERATIONS = "api.operations."
"""Rooms of operations whose commands are made of them alone."""
COMMANDS = {
    "Ask": "search get list why history events assess map associations facts synonyms context answers",
    "Compare": "compare diff parameters profile replay",
    "Say": "add edit mention append import extract episodes negate merge unmerge delete set-aside retract export",
    "Keep": "inbox health fading reinforce review cleanup",
    "Share": "key grant access",
    "Operate": "up console token master-key backup mcp worker status doctor alarms stats dead seal erase rebuild verify demo",
}
"""The commands by group, in the order of `--help`; what else a listing tells of them is in the made table."""
app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=MARKUP)
"""Where a module registers its commands while it is imported."""


class ListedCommand(TyperCommand):
    """A command as the listing tells it: enough for `--help` and for completion of its name."""

    def __init__(self, entry: OperationRow, group: str) -> None:
        super().__init__(entry.name, help=entry.help, rich_markup_mode=MARKUP, rich_help_panel=group)
        self.entry = entry


class Commands(TyperGroup):
    """All commands, of which those are loaded that are called."""

    def __init__(self, **told: Any) -> None:
        super().__init__(**told)
        self.commands = {
            entry.name: ListedCommand(entry, group) for group, listed in GROUPS.items() for entry in listed
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is called, with its options and arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, loaded(command.entry) if isinstance(command, ListedCommand) else command, rest


def loaded(entry: OperationRow) -> Any:
    """A command or a group of commands as its module registers it."""
    module = import_module(entry.module)
    if entry.module.startswith(OPERATIONS) and entry.name not in {one.name for one in app.registered_commands}:
        from api.cli.made import command, plain
        from api.operations.definition import Operation

        made = (one for one in vars(module).values() if isinstance(one, Operation))
        command(next(one for one in made if one.name == entry.name and one.shown))(plain)
    told: dict[str, Any] = {"pretty_exceptions_short": True, "rich_markup_mode": MARKUP}
    for group in app.registered_groups:
        if group.name == entry.name:
            return in_our_words(get_group_from_info(group, suggest_commands=True, **told))
    named = {
        one.name or get_command_name(one.callback.__name__): one for one in app.registered_commands if one.callback
    }
    return in_our_words(get_command_from_info(named[entry.name], **told))


def root() -> Commands:
    """The command `engramlog`."""
    frame = typer.Typer(
        name="engramlog",
        cls=Commands,
        callback=_engramlog,
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=MARKUP,
        help="An event-sourced memory store for AI agents: one log, many readings, and a reason for every weight.",
        epilog="Start with `engramlog demo`. Every command takes `--json`. Exit codes: 0 done, 1 failed, 2 bad input,"
        " 3 partly done.",
    )
    command = get_command(frame)
    assert isinstance(command, Commands)
    return command


def _version(asked: bool) -> None:
    if asked:
        from api.version import program_version

        typer.echo(f"engramlog {program_version()}")
        raise typer.Exit


def _engramlog(
    _version_asked: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version and end.", is_eager=True, callback=_version),
    ] = False,
) -> None:
    """Options of `engramlog` itself."""


def whole() -> Commands:
    """The same with every command loaded, for those who look through all of them."""
    command = root()
    command.commands = {name: loaded(entry) for name, entry in entries().items()}
    return command
