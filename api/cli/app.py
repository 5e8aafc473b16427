"""The command line's frame: what every command takes, how answers, errors and progress are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from textwrap import indent
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, cast

import typer
from rich.console import Console
from rich.text import Text

from engramlog_server.api.cli import completion, parser
from engramlog_server.api.cli.completion import Names
from engramlog_server.api.cli.output import Terminal, exact_json, exact_line, visible_in
from engramlog_server.api.cli.parser import in_options
from engramlog_server.api.cli.service import Ask, nobody
from engramlog_server.events.errors import EngramlogError, refused
from engramlog_server.events.text import many

if TYPE_CHECKING:
    from engramlog_server.api.application import Application, Opener


app = parser.app
"""Where a module registers its commands."""
ReplayAll = Callable[..., Mapping[str, Any]]
"""Replays every owner of the store: takes the question by its names, the number of processes, and whether the answer is JSON."""
Shape = TypeVar("Shape", bound=Mapping[str, object])
"""What an operation answers, and its renderer takes."""
CUT = "…"
"""Ends an id that a narrow table has cut; no id can hold it."""
PIPE_WIDTH = 140
"""Columns of output that goes to a pipe or a file, at least: these have no width of their own."""
LONG_FOLD = 5_000
"""Events from which folding the past shows a progress bar: about a quarter of a second."""
LINE_SECONDS = 10.0
"""Between two lines that tell how far work is, where nobody looks on."""


def _console(*, stderr: bool = False) -> Console:
    console = Terminal(stderr=stderr, highlight=False, emoji=False)
    if not console.is_terminal:
        asked = os.environ.get("COLUMNS", "")
        console.width = max(PIPE_WIDTH, int(asked) if asked.isdigit() else 0)
    return console


out = _console()
err = _console(stderr=True)


def _decoded(value: str) -> str:
    from engramlog_server.api.choices import decoded_id

    return decoded_id(value) if value else value


def _whole_id(value: str) -> str:
    if value.endswith(CUT):
        raise refused(
            "id",
            value,
            "the whole id: a narrow table cut this one; --json has it, so has `| cat`, and TAB completes it",
        )
    return _decoded(value)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Owner = Annotated[
    str,
    typer.Argument(
        metavar="OWNER",
        help="Whose memories: a user, an agent, a team.",
        show_default=False,
        callback=_decoded,
        autocompletion=completion.owners,
    ),
]
MemoryId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="A memory's id.", show_default=False, callback=_whole_id, autocompletion=completion.memories
    ),
]


class Joined(NamedTuple):
    """What `ops` hands to every command."""

    opener: Opener
    names: Names | None = None
    """Where a TAB looks up owners and ids."""
    ask: Ask = nobody
    """Who may answer in the place of a store that is opened for the question."""
    replay_all: ReplayAll | None = None


def joined(context: typer.Context) -> Joined:
    """What `ops` handed over."""
    return cast("Joined", context.obj)


def opened(context: typer.Context) -> AbstractContextManager[Application]:
    """The application for this command's duration."""
    return joined(context).opener()


def show(answer: Shape, as_json: bool, render: Callable[[Shape], None]) -> None:
    """Print an answer as JSON or through its renderer, which gets every text with its controls made visible."""
    if as_json:
        print_json(answer)
        return
    answer = visible_in(answer)
    render(answer)
    if isinstance(behind := answer.get("behind"), int) and behind:
        out.print(
            f"[yellow]This answer lacks up to {many(behind, 'newer event')} of this owner"
            " (`engramlog status` shows the lag)[/]"
        )
    if isinstance(stuck := answer.get("quarantined"), dict):
        out.print(
            f"[yellow]This owner is quarantined at {stuck['position']}: what follows there waits, and is not in this answer"
            " (`engramlog dead`)[/]"
        )
    if gap := answer.get("log_gap"):
        out.print(f"[yellow]Careful: {gap}. This answer is what was folded before (`engramlog alarms`)[/]")


def print_json(answer: Any) -> None:
    """One JSON object on standard output, in UTF-8 whatever the locale; Chinese stays readable, controls are escaped."""
    text = exact_json(answer)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()


def print_json_line(answer: Any) -> None:
    """One JSON object in one line, as `print_json` prints it."""
    sys.stdout.buffer.write(exact_line(answer).encode("utf-8", "backslashreplace") + b"\n")


def print_pages(pages: Iterator[Mapping[str, Any]], items: str) -> None:
    """One JSON object of all pages, as `print_json` prints it, written as they come: `items` of all, the rest of the last."""
    sys.stdout.flush()
    write, first, rest = sys.stdout.buffer.write, True, next(pages)  # what cannot be asked is told before anything
    write(b'{\n  "%s": [' % items.encode())
    for page in chain([rest], pages):
        for one in page[items]:
            text = indent(exact_json(one), "    ")
            write((("" if first else ",") + "\n" + text).encode("utf-8", "backslashreplace"))
            first = False
        rest = page
    write(b"]" if first else b"\n  ]")
    for name, value in rest.items():
        if name == items:
            continue
        write(f",\n  {exact_json(name)}: {exact_json(value)}".encode("utf-8", "backslashreplace"))
    write(b"\n}\n")
    sys.stdout.buffer.flush()


def complain(error: EngramlogError) -> None:
    """The error in one line on standard error: what happened, to what, what to do."""
    told = told_of(error)
    err.print(
        Text.assemble((told["error"], "bold red"), ": ", _printable(in_options(error, told["message"]))), soft_wrap=True
    )


def told_of(error: EngramlogError) -> Mapping[str, Any]:
    """The error as it may be shown."""
    if error.told is not None:
        return error.told
    from engramlog_server.api.checks import safe_refusal

    return safe_refusal(error)


def _printable(text: str) -> str:
    """The text with what UTF-8 cannot carry (bytes of a broken argument) spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


@contextmanager
def progress(task: str, as_json: bool, long: int = LONG_FOLD) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error for work of (done, total) steps, once that is long; where nobody looks on a line now and then."""
    if not as_json and not err.is_terminal:
        yield _lines(task, long)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=as_json) as bar:
        number = bar.add_task(task, total=None, visible=False)

        def advance(done: int, total: int) -> None:
            bar.update(number, completed=done, total=total, visible=total > long)

        yield advance


def _lines(task: str, long: int) -> Callable[[int, int], None]:
    """Tells how far long work is in a line, at first after a while."""
    at = monotonic() + LINE_SECONDS

    def advance(done: int, total: int) -> None:
        nonlocal at
        if total > long and monotonic() >= at:
            at = monotonic() + LINE_SECONDS
            err.print(f"{task}: {done:,} of {total:,}", soft_wrap=True)

    return advance
