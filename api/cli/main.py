"""The command `engramlog`: its commands are listed from the table and loaded when they are called; how one ends.

Exit codes: 0 done, 1 failed, 2 bad input, 3 partly done.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text
from typer._click.exceptions import UsageError
from typer.main import get_command, get_command_from_info, get_command_name, get_group_from_info

from engramlog_server.api.cli.app import Joined, ReplayAll, complain, err, print_json, told_of
from engramlog_server.api.cli.completion import Names
from engramlog_server.api.cli.output import Output, OutputLost
from engramlog_server.api.cli.parser import MARKUP, Command, Group, Registry, app, in_our_words, usage_refusal
from engramlog_server.api.cli.service import Ask, nobody
from engramlog_server.api.operations.table import GROUPS, OperationRow, entries
from engramlog_server.events.errors import EngramlogError

if TYPE_CHECKING:
    from engramlog_server.api.application import Opener


OPERATIONS = "engramlog_server.api.operations."
"""Rooms of operations whose commands are made of them alone."""


class ListedCommand(Command):
    """A command as the listing tells it: enough for `--help` and for completion of its name."""

    def __init__(self, entry: OperationRow, group: str) -> None:
        super().__init__(entry.name, help=entry.help, rich_markup_mode=MARKUP, rich_help_panel=group)
        self.entry = entry


class Commands(Group):
    """All commands. A command is loaded when it is called."""

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
        from engramlog_server.api.cli.command import command, plain
        from engramlog_server.api.operations.definition import Operation

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
    frame = Registry(
        name="engramlog",
        cls=Commands,
        callback=_engramlog,
        no_args_is_help=True,
        add_completion=True,
        help="An event-sourced memory store for AI agents: one log, many readings, and a reason for every weight.",
        epilog="Start with `engramlog demo`. Every command takes `--json`. Exit codes: 0 done, 1 failed, 2 bad input,"
        " 3 partly done.",
    )
    command = get_command(frame)
    assert isinstance(command, Commands)
    return command


def _version(asked: bool) -> None:
    if asked:
        from engramlog_server.api.choices import program_version

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


def run(
    opener: Opener,
    arguments: Sequence[str] | None = None,
    names: Names | None = None,
    ask: Ask = nobody,
    replay_all: ReplayAll | None = None,
) -> int:
    """Run one command; gives its exit code. Every error of ours is one line that says what to do."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    code = 0
    try:
        code = _run(Joined(opener, names, ask, replay_all), arguments)
        sys.stdout.flush()
    except OutputLost as lost:
        if isinstance(sys.stdout, Output):
            sys.stdout.drop()
        return code if lost.left else code or _output_lost(lost)
    except KeyboardInterrupt:
        return 130
    if isinstance(sys.stdout, Output) and sys.stdout.lacking:
        _say(
            f"Standard output is {sys.stdout.encoding}: other characters are printed as \\u codes; --json prints UTF-8"
        )
    return code


def _output_lost(lost: OutputLost) -> int:
    _say(f"Cannot write to standard output: {lost}. Changes that the command made are kept")
    return 1


def _say(line: str) -> None:
    """A line on standard error, if that can be written to."""
    with suppress(OSError):
        err.print(Text(line), soft_wrap=True)


def _run(joined: Joined, arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        code = root().main(arguments, "engramlog", standalone_mode=not as_json, obj=joined)
    except (EngramlogError, UsageError) as problem:
        error = usage_refusal(problem) if isinstance(problem, UsageError) else problem
        with suppress(OSError):
            complain(error)
        if as_json:
            print_json(told_of(error))
        return error.exit_code
    except typer.Abort:
        _say("Aborted")
        return 1
    except SystemExit as stop:
        code = stop.code
    return code if isinstance(code, int) else 1 if isinstance(code, str) else 0
