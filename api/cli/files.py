"""Files of JSON Lines that commands read, and the progress bar over their lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, NoReturn, Protocol

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from api.cli.app import complain, err
from api.cli.standard_input import standard_input
from api.exchange.long_texts import WAYS
from api.exchange.spooled import spooled
from events.errors import InputError, StoreFull

if TYPE_CHECKING:
    from api.application import Application
    from api.exchange.appending import AppendReport
    from api.work.pacing import PacedLog


LongTurns = Annotated[
    str,
    typer.Option(
        "--long-turns", help=f"A turn over 64 KiB: {' or '.join(WAYS)}; left out it is counted, cut it ends with …"
    ),
]


class Advance(Protocol):
    """Told the lines done so far (None: as many as before), and a new name for what is under way where it changes."""

    def __call__(self, done: int | None, name: str | None = None) -> None: ...


@contextmanager
def open_lines(file: str, longest: int = -1) -> Iterator[Iterator[bytes]]:
    """The lines of a file, or of standard input for `-`. Raises InputError where it cannot be read, also half-way.

    A line longer than `longest` bytes comes in pieces, so that one line never fills the memory. A byte order mark is passed over.
    What is no file on a disk is `spooled` first, so that a store is opened only after this.
    """
    with ExitStack() as closing:
        try:
            stream = standard_input("file") if file == "-" else closing.enter_context(Path(file).open("rb"))
            on_disk = file != "-" and Path(file).is_file()
            streams = [stream] if on_disk else [closing.enter_context(spooled(file, stream, longest)), stream]
        except (OSError, ValueError) as error:
            raise _unreadable(file, error) from None
        yield _lines(file, streams, longest)


@contextmanager
def again(file: str) -> Iterator[Iterator[bytes]]:
    """The lines of a file for a look before it is read; none of standard input and of pipes, which are read once."""
    if file == "-" or not Path(file).is_file():
        yield iter(())
        return
    with open_lines(file) as lines:
        yield lines


def _lines(file: str, streams: list[IO[bytes]], longest: int) -> Iterator[bytes]:
    from api.exchange.text_files import CURES, no_text

    try:
        lines = chain.from_iterable(iter(partial(one.readline, longest), b"") for one in streams)
        first = next(lines, b"").removeprefix(codecs.BOM_UTF8)
        if (kind := no_text(first)) is not None:
            raise InputError(
                f"file: got {file!r}: not UTF-8 text, looks like {kind}; allowed: JSON in UTF-8{CURES.get(kind, '')}",
                field="file",
                got=kind,
            )
        yield first
        yield from lines
    except OSError as error:
        raise _unreadable(file, error) from None


def _unreadable(file: str, error: OSError | ValueError) -> InputError:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return InputError(f"file: got {file!r}; allowed: a file that can be read, or - ({why})", field="file", got=file)


@contextmanager
def counting(task: str, file: str, as_json: bool, unit: str = "lines", total: int | None = None) -> Iterator[Advance]:
    """A bar over a file's lines, or `total` of another unit, on standard error; nothing where nobody looks on."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    shown = not as_json and err.is_terminal
    with Progress(*columns, console=err, transient=True, disable=not shown) as bar:
        if total is None and shown:
            total = _count_lines(file)
        number = bar.add_task(task, total=total, rate="")

        def advance(done: int | None, name: str | None = None) -> None:
            speed = bar.tasks[0].speed
            bar.update(number, completed=done, rate=f"{speed:,.0f} {unit}/s" if speed else "", description=name or task)

        yield advance


def paced(application: Application, advance: Advance) -> PacedLog:
    """The log for a file of events: it waits for their folding, and the bar says so."""
    from api.work.pacing import PacedLog

    def told(begins: bool) -> None:
        advance(None, "folding" if begins else None)

    return PacedLog(application.log, application.writer.settle_positions, told)


def end(done: AppendReport, what: str = "events of it", code: int | None = None) -> NoReturn:
    """End the command; where something stopped it, tell what of the file is in the log, and how to go on."""
    there = f"{done.appended + done.already_appended:,} {what} are in the log"
    if done.error is not None:
        complain(done.error)
        if isinstance(done.error, StoreFull):
            then = (
                " and can be asked about; the rest did not fit. Give the store more memory (ENGRAMLOG_REDIS_MAXMEMORY; CONFIG SET"
                " maxmemory on a Redis of your own), then send the same file again: what is there is passed over."
            )
        else:
            then = "; sending the mended file again whole is safe."
        err.print(there + then, soft_wrap=True)
    raise typer.Exit(done.exit_code if code is None else code)


def _count_lines(file: str) -> int | None:
    """How many lines a file has; unknown for standard input and pipes."""
    if file == "-" or not Path(file).is_file():
        return None
    with Path(file).open("rb") as stream:
        return sum(1 for _ in stream)
