"""Exported chats, taken in by `engramlog import turns`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from api.cli.app import opened, out, show
from api.cli.files import counting, end, extract_imported, fold_appended, long_ago_in, paced
from api.cli.show.files import render_turns
from api.exchange.lines import again, open_lines
from events.errors import InputError

if TYPE_CHECKING:
    from api.exchange.importing import ImportOptions
    from api.exchange.importing_chats import ImportedChats


def import_chat_file(
    context: typer.Context, file: str, shape: str, since: str | None, options: ImportOptions, json: bool
) -> None:
    """As many as the file has: what stands before a bad message is imported."""
    from api.exchange.chat_file import MAX_DOCUMENT, open_chats
    from api.exchange.chat_shapes import LINES
    from api.exchange.importing import look_through
    from api.exchange.importing_chats import import_chats
    from api.requests.checks import parse_instant

    began = None if since is None else parse_instant(since, "from")
    try:
        with open_lines(file, MAX_DOCUMENT + 1) as lines:
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
    show(answer.as_dict(), json, lambda _: _render(answer, old))
    end(done, f"events of {file}")


def _named(file: str, problem: InputError) -> InputError:
    """The error with the file's name in front, unless it is of the file's name."""
    if problem.message.startswith(f"file: got {file!r}"):
        return problem
    return InputError(f"{file}: {problem.message}", **problem.context)


def _render(answer: ImportedChats, old: int) -> None:
    from api.exchange.chat_shapes import LINES

    left_out = ", ".join(
        f"{count:,} {reason.replace('_', ' ')}"
        for reason, count in sorted(answer.left_out.items())
        if count and reason != "too_long"  # told with the turns, and what to do about them
    )
    many = "" if answer.conversations == 1 else "s"
    told = f"{answer.conversations:,} conversation{many} of the shape " if answer.shape != LINES else "shape "
    out.print(f"{told}[bold]{answer.shape}[/]" + (f"; messages left out: {left_out}" if left_out else ""))
    render_turns(answer.as_dict(), answer.imported.done, old)
