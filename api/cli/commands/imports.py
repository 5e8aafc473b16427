"""`engramlog import turns`, `import records` and `export`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import orjson
import typer

from engramlog_server.api.choices import LEAVE
from engramlog_server.api.cli.app import Json, app, opened, print_json, progress, show
from engramlog_server.api.cli.command import Call, command, is_unknown, tell_unknown
from engramlog_server.api.cli.files import (
    File,
    LongTurns,
    TurnsOnly,
    counting,
    end,
    extract_imported,
    fold_appended,
    long_ago_in,
    paced,
)
from engramlog_server.api.cli.parser import Registry
from engramlog_server.api.cli.show import imports as render
from engramlog_server.api.operations.records import EXPORT_REVEALED, FILE, IMPORT_RECORDS, OUT, WHOSE
from engramlog_server.events.errors import EngramlogError, InputError, OutputCut, refused

if TYPE_CHECKING:
    from engramlog_server.api.exchange.records import Export
    from engramlog_server.api.exchange.turns import ImportOptions


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
    show(answer.as_dict(), json, lambda told: render.turns(told, old))
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
    show(answer.as_dict(), call.json, render.imported)
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
        render.exported(answer, None if target is None else file)
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
    show(answer.as_dict(), json, lambda told: render.turns(told, old))
    end(done, f"events of {file}")


def _named(file: str, problem: InputError) -> InputError:
    """The error with the file's name in front, unless it is of the file's name."""
    if problem.message.startswith(f"file: got {file!r}"):
        return problem
    return InputError(f"{file}: {problem.message}", **problem.context)
