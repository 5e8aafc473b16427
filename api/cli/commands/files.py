"""Commands that read or write files: `engramlog append`, `import turns`, `import records` and `export`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn, Protocol

import orjson
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from engramlog_server.api.choices import LEAVE
from engramlog_server.api.cli.app import Json, app, complain, err, opened, out, print_json, progress, show
from engramlog_server.api.cli.command import Call, command, is_unknown, tell_unknown, typer_option
from engramlog_server.api.cli.parser import Registry
from engramlog_server.api.cli.show import generic
from engramlog_server.api.cli.show.memories import times_of
from engramlog_server.api.operations.records import (
    EXPORT_REVEALED,
    FILE,
    IMPORT_RECORDS,
    LONG_TURNS,
    OUT,
    TURNS_ONLY,
    WHOSE,
)
from engramlog_server.events.errors import EngramlogError, InputError, OutputCut, StoreFull, refused
from engramlog_server.events.text import many
from engramlog_server.projections.choices import AGED

if TYPE_CHECKING:
    from engramlog_server.api.application import Application
    from engramlog_server.api.exchange.records import Export
    from engramlog_server.api.exchange.turns import AppendReport, ImportOptions, ImportReport
    from engramlog_server.events.log import EventLog

File = Annotated[str, typer_option(FILE)]
LongTurns = Annotated[str, typer_option(LONG_TURNS)]
TurnsOnly = Annotated[bool, typer_option(TURNS_ONLY)]


class Advance(Protocol):
    """Call with the lines done so far (None: no change), and with a name if another task begins."""

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
    from engramlog_server.api.exchange.turns import paced as paced_log

    def told(begins: bool) -> None:
        advance(None, "folding" if begins else None)

    return paced_log(application.log, application.writer.settle_positions, told)


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


@app.command(epilog="Example: `engramlog append events.jsonl` or `producer | engramlog append - --json`")
def append(context: typer.Context, file: File, json: Json = False) -> None:
    """Append events from JSON Lines of envelopes. Sending the same file again is always safe."""
    from engramlog_server.api.exchange.files import open_lines
    from engramlog_server.api.exchange.turns import append_lines

    with open_lines(file) as lines, opened(context) as application, counting("appending", file, json) as advance:
        refused, note = application.writer.rejected_among, application.views.unjudged.note
        answer = append_lines(paced(application, advance), lines, advance, refused, note)
        advance(len(answer.positions), "folding")
        fold_appended(application, answer)
    show(answer.as_dict(), json, print_counts)
    end(answer)


STEP = 500
"""Memories between two looks at the progress bar."""
import_app = Registry(no_args_is_help=True, help="Import conversations, exported chats and older records.")
app.add_typer(import_app, name="import")


@import_app.command(
    epilog="Example: `engramlog import turns turns.jsonl --owner alice`, or `engramlog import turns chats.json --shape auto --owner"
    " alice` of an export"
)
def turns(
    context: typer.Context,
    file: File,
    owner_from: Annotated[str, typer.Option("--owner-from", help="The field that names the owner.")] = "conversation",
    owner: Annotated[str | None, typer.Option("--owner", help="One owner for all turns.", show_default=False)] = None,
    kind: Annotated[str, typer.Option(help="Kind of the memories.")] = "episode",
    tier: Annotated[str, typer.Option(help="Tier: fact or episode.")] = "fact",
    category: Annotated[
        str, typer.Option(help="identity, stable_preference, short_term_preference, fact, skill or temporary.")
    ] = "fact",
    turns_only: TurnsOnly = False,
    long_turns: LongTurns = LEAVE,
    shape: Annotated[
        str, typer.Option(help="lines of turns; or an export of chats: auto, or one of its shapes.")
    ] = "lines",
    since: Annotated[
        str | None,
        typer.Option(help="When conversations without times began, RFC 3339 with a zone.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Import turns: lines of {turn_id, occurred_at, text, speaker?, session?, conversation?}. A second import appends nothing.

    With `--shape` exported chats: conversations of OpenAI messages, ChatGPT or Claude. A conversation is a session. System prompts,
    tools, hidden messages, abandoned branches, attachments and what cannot be read are left out, and counted by reason. A bad
    line of turns stops there; what stood before it is imported.
    """
    from engramlog_server.api.exchange.files import again, open_lines
    from engramlog_server.api.exchange.turns import ImportOptions, check_way, import_turns, look_through

    options = ImportOptions(
        owner=owner,
        owner_from=owner_from,
        kind=kind,
        tier=tier,
        category=category,
        memories=not turns_only,
        long_turns=check_way(long_turns),
    )
    if shape != "lines":
        import_chat_file(context, file, shape, since, options, json)
        return
    if since is not None:
        raise refused("since", since, "nothing of lines, which have times")
    with again(file) as lines:
        look_through(lines, options)
    with open_lines(file) as lines, opened(context) as application, counting("importing", file, json) as advance:
        answer = import_turns(paced(application, advance), lines, options, advance)
        advance(answer.turns + answer.skipped, "folding")
        fold_appended(application, answer.done)
        extract_imported(application, answer)
        old = 0 if json else long_ago_in(application, answer)
    show(answer.as_dict(), json, lambda told: print_turns(told, old))
    end(answer.done)


@command(IMPORT_RECORDS, more=(FILE, WHOSE), subject=(), on=import_app, name="records")
def records(call: Call) -> None:
    """As many as the file has: a bad line stops there."""
    from engramlog_server.api.exchange.export import look_through
    from engramlog_server.api.exchange.files import open_lines
    from engramlog_server.api.exchange.records import RecordOptions

    (file,) = call.take("file")
    options = RecordOptions(**call.given)

    def look(lines: Iterator[bytes], complete: bool) -> None:
        look_through(lines, options.shape, complete=complete)

    with (
        open_lines(file, whole=True, look=look) as lines,
        opened(call.context) as application,
        counting("importing", file, call.json) as advance,
    ):
        answer = application.records.take_in(lines, options, advance)
    show(answer.as_dict(), call.json, print_records)
    end(answer.imported.done, "of the file's records", answer.exit_code)


@command(EXPORT_REVEALED, more=OUT)
def export(call: Call) -> None:
    """Written as it is read: into a file that appears once it is whole, or as it comes."""
    from engramlog_server.api.access import By
    from engramlog_server.api.exchange.export import ExportOptions

    file, force, include, reveal, actor, reason = call.take("file", "force", "include", "reveal", "actor", "reason")
    everything, ids = call.take("everything", "ids")
    json = call.json
    target = None if file == "-" else _target(file, force)
    included = [one for told in include for one in told.split(",")]
    with opened(call.context) as application:  # until all is written: the log is read while it is
        named = [application.named(call.given["owner"], one) for one in ids]
        options = ExportOptions(include=included, reveal=reveal, everything=everything, ids=named)
        by = By("command", actor, reason)
        found, revealed = EXPORT_REVEALED.ask(application, call.given | {"options": options, "by": by})
        answer = found.as_dict() | ({"revealed": revealed} if revealed else {})
        unknown = is_unknown(lambda one, told: one.ask(application, told), found.owner, answer)
        if target is not None:
            with progress("exporting", json) as advance, _whole_file(target) as stream:
                _write(found, stream, advance)
        elif json:
            answer |= _whole(found)
        else:
            with progress("exporting", sys.stdout.isatty()) as advance:
                sys.stdout.flush()
                _write(found, sys.stdout.buffer, advance)
                sys.stdout.buffer.flush()
    if json:
        print_json(answer | {"file": None if target is None else str(target)})
    else:
        print_export(answer, None if target is None else file)
        if unknown:
            tell_unknown(found.owner)


def _whole(found: Export) -> dict[str, Any]:
    """All of an export in one answer."""
    if found.text is not None:
        return {"text": "".join(found.text)}
    return {"records": [orjson.loads(piece) for piece in found.pieces()]}


def _write(found: Export, stream: BinaryIO, advance: Callable[[int, int], None]) -> None:
    number, many = 0, found.pieces_about
    try:
        for number, piece in enumerate(found.pieces(), 1):
            stream.write(piece)
            if number % STEP == 0:
                advance(min(number, many), many)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputCut(
            f"what is written ends before its end, after about {number:,} of {many:,} lines ({error.strerror}); make room and"
            " export again",
            owner=found.owner,
        ) from None
    except EngramlogError as error:
        stream.write(found.cut(error))
        stream.flush()
        raise


def _target(file: str, force: bool) -> Path:
    """The file to write, where it leads; InputError where that cannot be, or where it is there and not to be replaced."""
    try:
        path = Path(os.path.realpath(file))
        if not path.parent.is_dir():
            raise refused("out", file, "a file in a folder that exists")
        if path.exists() and not path.is_file():
            raise refused("out", file, "a file, or - for standard output")
        if path.exists() and not force:
            raise refused("out", file, "a new file; --force replaces the one that is there")
    except (OSError, ValueError) as error:
        raise refused("out", file, f"a file that can be written ({error})") from None
    return path


@contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under its name once everything is in it. Raises InputError where it cannot be written."""
    temporary = None
    try:
        descriptor, name = mkstemp(dir=path.parent, prefix=".engramlog-")
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as stream:
            try:
                yield stream
            except OutputCut:
                with suppress(OSError):  # what is in its buffer has no room either
                    stream.close()
                raise
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise refused("out", str(path), f"a file that can be written ({error.strerror})") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def import_chat_file(
    context: typer.Context, file: str, shape: str, since: str | None, options: ImportOptions, json: bool
) -> None:
    """Import all that can be read of an export, and print what was left out."""
    from engramlog_server.api.checks import parse_instant
    from engramlog_server.api.exchange.chat_shapes import LINES
    from engramlog_server.api.exchange.chats import import_chats
    from engramlog_server.api.exchange.files import MAX_DOCUMENT, again, open_chats, open_lines
    from engramlog_server.api.exchange.turns import look_through

    began = None if since is None else parse_instant(since, "since")
    try:
        with open_lines(file, MAX_DOCUMENT + 1, archive=True) as lines:
            chats = open_chats(lines, shape)
            if chats.shape == LINES:
                with again(file) as turns:
                    look_through(turns, options)
            unit = "lines" if chats.shape == LINES else "conversations"
            with (
                opened(context) as application,
                counting("importing", file, json, unit, chats.total) as advance,
            ):
                answer = import_chats(paced(application, advance), chats, options, began, advance)
                fold_appended(application, answer.imported.done)
                extract_imported(application, answer.imported)
                old = 0 if json else long_ago_in(application, answer.imported)
    except InputError as problem:
        raise _named(file, problem) from None
    done = answer.imported.done
    if isinstance(done.error, InputError):
        done.error = _named(file, done.error)
    show(answer.as_dict(), json, lambda told: print_turns(told, old))
    end(done, f"events of {file}")


def _named(file: str, problem: InputError) -> InputError:
    """The error with the file's name in front, unless it is of the file's name."""
    if problem.message.startswith(f"file: got {file!r}"):
        return problem
    return InputError(f"{file}: {problem.message}", **problem.context)


SHOWN = 10
"""Rows of what stayed out; --json has all."""
ALWAYS = frozenset({"appended", "already_appended"})
"""Counts that are printed even if they are 0."""
HOW_TO_INCLUDE = {
    "sensitive": " (--reveal)",
    "purged": " (nothing is left of it)",
    "unknown": " (no memory has the id)",
}
OF_EVENTS: Mapping[str, str] = {
    "conflicts": "{:,} ids are taken by other content, and nothing for their partitions was written: correct or remove these"
    " lines, then send the whole file again",
    "failed": "{:,} events were not written",
    "rejected": "{:,} say what a person rejected, and change nothing",
    "too_long": "{:,} turns of more than 64 KiB left out: `--long-turns cut` keeps their beginning",
    "cut": "{:,} turns of more than 64 KiB cut",
    "ignored_fields": "{:,} fields not read: are they misspelt?",
}
"""Fields of an answer, each with its meaning and what to do about it; `{:,}` is the count."""
OF_RECORDS: Mapping[str, str] = {
    "conflicts": "{:,} were imported before with other content, and stay as they were then",
    "duplicates": "{:,} say something else than an earlier line: the first holds",
    "failed": "{:,} were not written",
    "ids_taken": "{:,} ids had a memory already, which stays as it is",
    "rejected": "{:,} say what was rejected, so they became no memories",
    "rejections": "{:,} rejected values carried over: they are not remembered again",
    "rejections_left_out": "rejected values were not carried over: reject them here",
    "said_withheld": "{:,} turns without words: they were withheld from the export",
    "of_the_log": "these parts describe the log from which they come, and are skipped",
    "ignored_fields": "{:,} fields that no memory has a place for",
    "flagged": "{:,} possible conflicts: both statements stay, and `engramlog list` shows them",
    "made_ordinary": "ordinary memories now, because only an operator can put one into every prompt:"
    " `engramlog edit OWNER ID --tier core`, or `import records --core` for a whole file",
    "associations_left_out": "{:,} associations beyond the strongest 32 of their record were left out",
}


def print_counts(answer: Mapping[str, Any], hints: Mapping[str, str] = OF_EVENTS) -> None:
    """Print what an import did: counts above 0, the first rows that were left out, and what to do about them."""
    shown = {name: value or "0" for name, value in answer.items() if value or name in ALWAYS}
    shown = {name: value[:SHOWN] if isinstance(value, list) else value for name, value in shown.items()}
    shown.pop("positions", None)
    shown.pop("error", None)
    generic.answer(shown)
    for name, hint in hints.items():
        if value := answer.get(name):
            out.print(Text(hint.format(value if isinstance(value, int) else len(value)), "yellow"), soft_wrap=True)


def print_records(answer: Mapping[str, Any]) -> None:
    """Print what an import of records did."""
    print_counts(answer, OF_RECORDS)


def print_turns(answer: Mapping[str, Any], old: int) -> None:
    """Print what an import of turns or chats did. `old`: memories of the first owner that are withheld only for their age."""
    print_counts(answer)
    if old:
        out.print(
            f"[dim]{many(old, 'memory is', 'memories are')} old: the newest turn is of"
            f" {answer['newest_turn']}. Searches mark them as long ago. Add --as-of just after that day to search as of then.[/]"
        )


def print_export(answer: Mapping[str, Any], file: str | None) -> None:
    """On standard error: how much was exported, and what was left out, with the way to have it."""
    counted = many(answer["count"], "memory", "memories")
    said = f"{counted} of {answer['owner']} at {answer['position']}{times_of(answer)}"
    said += f" written to {file}" if file is not None else ""
    left_out = [
        f"{count:,} {reason}{HOW_TO_INCLUDE.get(reason, f' (--include {reason})')}"
        for reason, count in sorted(answer["left_out"].items())
    ]
    said += f"; left out: {', '.join(left_out)}" if left_out else ""
    err.print(Text(said, "dim"), soft_wrap=True)
    if stuck := answer.get("quarantined"):
        err.print(
            f"[yellow]This owner is quarantined at {stuck['position']}: what follows there is not in it"
            " (`engramlog dead`)[/]",
            soft_wrap=True,
        )
