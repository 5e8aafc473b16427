"""Commands that take older records in and give an owner's memories out: import records, export."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from api.choices import ASKED_FOR
from api.cli.app import (
    ActorOption,
    AfterOption,
    AsOfOption,
    Json,
    KnownOption,
    Owner,
    app,
    opened,
    print_json,
    progress,
    show,
)
from api.cli.commands.writing import File, import_app
from api.cli.files import counting, end
from api.cli.show import records as render_records
from api.exchange.lines import open_lines
from events.errors import refused

if TYPE_CHECKING:
    from api.exchange.records import Export


STEP = 500
"""Memories between two looks at the progress bar."""


@import_app.command(epilog="Example: `engramlog import records memories.jsonl --owner alice`")
def records(
    context: typer.Context,
    file: File,
    owner: Annotated[str, typer.Option("--owner", help="Whose memories the records are.", show_default=False)],
    shape: Annotated[
        str,
        typer.Option(
            help="engramlog (what `export` writes), ebbinghaus (id, content, createdAt ...), consolidating (id, content,"
            " created_at ...), or auto: as the fields of each line show.",
        ),
    ] = "auto",
    assume_utc: Annotated[
        bool, typer.Option("--assume-utc", help="Times without a zone are in UTC; else they are refused.")
    ] = False,
    core: Annotated[
        bool,
        typer.Option(
            "--core", help="Records of tier core and system stay so: you answer for what they put into prompts."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Import older records, a JSON object a line: each becomes a memory with its counters. A second import appends nothing.

    A bad line stops there; what stood before it is imported. Exit code 3 where some records stayed out: changed since they
    were imported, two of one id, or an id that the owner had a memory of already. Records of tier core or system become
    ordinary memories, and are counted, unless `--core` says that you stand for them.
    """
    from api.exchange.importing_records import RecordOptions

    options = RecordOptions(owner=owner, shape=shape, assume_utc=assume_utc, core=core)
    with (
        open_lines(file) as lines,
        opened(context) as application,
        counting("importing", file, json) as advance,
    ):
        answer = application.records.take_in(lines, options, advance)
    show(answer.as_dict(), json, render_records.imported)
    end(answer.imported.done, "of the records", answer.exit_code)


@app.command(
    epilog="Example: `engramlog export alice --out alice.jsonl` or `engramlog export alice | engramlog import records -"
    " --owner alice-again`"
)
def export(
    context: typer.Context,
    owner: Owner,
    file: Annotated[
        str, typer.Option("--out", metavar="FILE|-", help="Where to; standard output if not given.", show_default=False)
    ] = "-",
    form: Annotated[
        str, typer.Option("--format", help="jsonl, which `import records` reads again, or text, for people.")
    ] = "jsonl",
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include", help=f"What else than what stands: {', '.join(ASKED_FOR)}; repeatable.", show_default=False
        ),
    ] = None,
    reveal: Annotated[bool, typer.Option("--reveal", help="Also secret memories (sensitivity 3).")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    after: AfterOption = None,
    actor: ActorOption = "user",
    reason: Annotated[str, typer.Option("--reason", help="With --reveal: why, which is recorded.")] = "",
    json: Json = False,
) -> None:
    """An owner's memories, oldest first, as lines to import again or as a text. What is left out is told by reason.

    A file is written whole or not at all, readable by its owner alone. What is purged is never exported.
    Leaves no trace but for --reveal: which secrets are shown is recorded first.
    """
    from api.exchange.exporting import ExportOptions
    from api.revealing import By

    target = None if file == "-" else _target(file, force)
    options = ExportOptions(include=[one for told in include or () for one in told.split(",")], reveal=reveal)
    with opened(context) as application:  # until all is written: what the lines hold is read as they are
        found, revealed = application.revealer.export(
            owner, options, By("command", actor, reason), form, as_of=as_of, known=known, after=after
        )
        answer = found.as_dict() | ({"revealed": revealed} if revealed else {})
        if target is not None:
            with progress("exporting", json) as advance, _whole_file(target) as stream:
                _write(found, stream, advance)
        elif json:
            answer |= {"records": list(found.records())} if form == "jsonl" else {"text": "".join(found.text or ())}
        else:
            with progress("exporting", sys.stdout.isatty()) as advance:
                sys.stdout.flush()
                _write(found, sys.stdout.buffer, advance)
                sys.stdout.buffer.flush()
    if json:
        print_json(answer | {"file": None if target is None else str(target)})
    else:
        render_records.exported(answer, None if target is None else file)


def _write(found: Export, stream: BinaryIO, advance: Callable[[int, int], None]) -> None:
    for number, piece in enumerate(found.pieces(), 1):
        stream.write(piece)
        if number % STEP == 0:
            advance(min(number, len(found.memories)), len(found.memories))


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
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise refused("out", str(path), f"a file that can be written ({error.strerror})") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
