"""Commands that take older records in and give an owner's memories out: import records, export."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from api.cli.app import opened, print_json, progress, show
from api.cli.commands.writing import import_app
from api.cli.files import counting, end
from api.cli.made import Call, command
from api.cli.show import records as render_records
from api.cli.unknown import is_unknown, tell_unknown
from api.exchange.lines import open_lines
from api.operations.records import EXPORT_REVEALED, FILE, IMPORT_RECORDS, OUT, WHOSE
from events.errors import EngramlogError, OutputCut, refused

if TYPE_CHECKING:
    from api.exchange.records import Export


STEP = 500
"""Memories between two looks at the progress bar."""


@command(IMPORT_RECORDS, more=(FILE, WHOSE), subject=(), on=import_app, name="records")
def records(call: Call) -> None:
    """As many as the file has: a bad line stops there."""
    from api.exchange.everything.taking_in import look_through
    from api.exchange.importing_records import RecordOptions

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
    show(answer.as_dict(), call.json, render_records.imported)
    end(answer.imported.done, "of the records", answer.exit_code)


@command(EXPORT_REVEALED, more=OUT)
def export(call: Call) -> None:
    """Written as it is read: into a file that appears once it is whole, or as it comes."""
    from api.exchange.exporting import ExportOptions
    from api.revealing import By

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
        render_records.exported(answer, None if target is None else file)
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
