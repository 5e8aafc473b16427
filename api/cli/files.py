"""Commands that read a file of lines: the progress bar, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn, Protocol

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from engramlog_server.api.cli.app import complain, err
from engramlog_server.api.cli.command import told_as
from engramlog_server.api.operations.records import FILE, LONG_TURNS, TURNS_ONLY
from engramlog_server.events.errors import EngramlogError, StoreFull
from engramlog_server.projections.choices import AGED

if TYPE_CHECKING:
    from engramlog_server.api.application import Application
    from engramlog_server.api.exchange.turns import AppendReport, ImportReport
    from engramlog_server.events.log import EventLog


File = Annotated[str, told_as(FILE)]
LongTurns = Annotated[str, told_as(LONG_TURNS)]
TurnsOnly = Annotated[bool, told_as(TURNS_ONLY)]


class Advance(Protocol):
    """Told the lines done so far (None: as many as before), and a new name for what is under way where it changes."""

    def __call__(self, done: int | None, name: str | None = None) -> None: ...


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
            from engramlog_server.api.exchange.files import count_lines

            total = count_lines(file)
        number = bar.add_task(task, total=total, rate="")

        def advance(done: int | None, name: str | None = None) -> None:
            speed = bar.tasks[0].speed
            bar.update(number, completed=done, rate=f"{speed:,.0f} {unit}/s" if speed else "", description=name or task)

        yield advance


def paced(application: Application, advance: Advance) -> EventLog:
    """The log for a file of events: it waits for their folding, and the bar says so."""
    from engramlog_server.api.exchange import turns

    def told(begins: bool) -> None:
        advance(None, "folding" if begins else None)

    return turns.paced(application.log, application.writer.settle_positions, told)


def end(done: AppendReport, what: str = "of the file's events", code: int | None = None) -> NoReturn:
    """End the command; where something stopped it, print how much of the file is in the log, and how to go on."""
    there = f"The log has {done.appended + done.already_appended:,} {what}"
    if done.error is not None:
        complain(done.error)
        if isinstance(done.error, StoreFull):
            then = (
                " and answers from them. The rest did not fit. Give the store more memory (ENGRAMLOG_REDIS_MAXMEMORY; CONFIG SET"
                " maxmemory on a Redis of your own), then send the same file again: events that are in the log are skipped."
            )
        else:
            then = ". Correct the file and send all of it again: nothing is appended twice."
        err.print(there + then, soft_wrap=True)
    raise typer.Exit(done.exit_code if code is None else code)


def fold_appended(application: Application, answer: AppendReport) -> None:
    """Wait for the fold; what was written stays said where that fails."""
    from engramlog_server.events.log import positions_by_partition

    try:
        application.writer.settle_positions(positions_by_partition(p for p in answer.positions if p))
    except EngramlogError as problem:
        answer.error = answer.error or problem


def extract_imported(application: Application, imported: ImportReport) -> None:
    """Have the turns of all imported owners extracted before the command ends."""
    for owner in imported.owners:
        application.turns_written(owner)


def long_ago_in(application: Application, imported: ImportReport) -> int:
    """How many memories of the first owner of an import normal mode withholds for their age alone."""
    owner = next(iter(imported.owners), None)
    if owner is None or imported.done.error is not None:
        return 0
    withheld = application.reader.list(owner, limit=1)["withheld"]
    return sum(one["count"] for one in withheld if one["reason"] in AGED)
