"""The command line's frame: the Typer application, how answers and errors are printed, and exit codes.

Exit codes: 0 done, 1 failed, 2 bad input, 3 partly done.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any, cast

import orjson
import typer
from rich.console import Console

from api.application import Application, Opener
from events.errors import EngramlogError

app = typer.Typer(
    name="engramlog",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="An event-sourced memory store for AI agents: one log, many readings, and a reason for every weight.",
    epilog="Start with `engramlog demo`. Every command takes `--json`. Exit codes: 0 done, 1 failed, 2 bad input, 3 partly done.",
)
out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Owner = Annotated[str, typer.Argument(help="Whose memories: a user, an agent, a team.", show_default=False)]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="A memory's id.", show_default=False)]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        help="Answer as of an instant (2023-10-22T12:00:00Z: what had happened by then) or a position (3:128: what was known).",
        show_default=False,
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option("--at", help="Compute weights at this instant, past or future, instead of now.", show_default=False),
]
AfterOption = Annotated[
    str | None,
    typer.Option(
        "--after", help="Wait until this position of the owner is folded: read your writes.", show_default=False
    ),
]
ActorOption = Annotated[str, typer.Option("--actor", help="Who says so: user, assistant, judge, system or operator.")]
OccurredOption = Annotated[
    str | None,
    typer.Option("--occurred-at", help="When it happened, if not now: RFC 3339 with a zone.", show_default=False),
]


def opened(context: typer.Context) -> AbstractContextManager[Application]:
    """The application for this command's duration."""
    return cast("Opener", context.obj)()


def show(answer: dict[str, Any], as_json: bool, render: Callable[[dict[str, Any]], None]) -> None:
    """Print an answer as JSON or through its renderer."""
    if as_json:
        print_json(answer)
    else:
        render(answer)


def print_json(answer: Any) -> None:
    """One JSON object on standard output; Chinese stays readable."""
    sys.stdout.write(orjson.dumps(answer, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode() + "\n")


def run(opener: Opener, arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives its exit code. Every error of ours is one line that says what to do."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=arguments, obj=opener)
    except EngramlogError as error:
        if "--json" in arguments:
            sys.stdout.write(json.dumps(error.as_dict(), ensure_ascii=False, default=str) + "\n")
        err.print(f"[bold red]{type(error).__name__}[/]: {_escaped(error.message)}")
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")
