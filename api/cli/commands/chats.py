"""The command that takes exported chats in: chat-import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.choices import SHAPE_NAMES
from api.cli.app import Json, app, opened, out, show
from api.cli.commands.writing import fold_appended, has_faded
from api.cli.files import LongTurns, counting, end, paced
from api.cli.show.files import render_turns
from api.exchange.lines import again, open_lines
from api.exchange.long_texts import LEAVE
from events.errors import InputError

if TYPE_CHECKING:
    from api.exchange.importing_chats import ImportedChats


@app.command(
    "chat-import", epilog="Example: `engramlog chat-import conversations.json --owner alice` or `... --shape claude`"
)
def chat_import(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="An export of chats, or - for standard input.", show_default=False)
    ],
    owner: Annotated[str | None, typer.Option("--owner", help="One owner for all turns.", show_default=False)] = None,
    owner_from: Annotated[
        str,
        typer.Option("--owner-from", help="The field of a conversation (of a line, in lines) that names the owner."),
    ] = "conversation",
    shape: Annotated[str, typer.Option(help=f"{', '.join(SHAPE_NAMES)}; auto: as the beginning shows.")] = "auto",
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="When conversations without times began, RFC 3339 with a zone; each message is a minute after the last.",
            show_default=False,
        ),
    ] = None,
    turns_only: Annotated[
        bool, typer.Option("--turns-only", help="Record the turns without making memories of them.")
    ] = False,
    long_turns: LongTurns = LEAVE,
    json: Json = False,
) -> None:
    """Import exported chats: JSON Lines of turns, or conversations of OpenAI messages, ChatGPT, Claude or ShareGPT.

    A conversation is a session. System prompts, tools, hidden messages, abandoned branches and attachments are left out, and
    counted. A second import appends nothing. A bad message stops there; what stood before it is imported.
    """
    from api.exchange.chat_file import MAX_DOCUMENT, open_chats
    from api.exchange.chat_shapes import LINES
    from api.exchange.importing import ImportOptions, look_through
    from api.exchange.importing_chats import import_chats
    from api.exchange.long_texts import check_way
    from api.requests.checks import parse_instant

    began = None if since is None else parse_instant(since, "from")
    options = ImportOptions(
        owner=owner, owner_from=owner_from, memories=not turns_only, long_turns=check_way(long_turns)
    )
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
                faded = not json and has_faded(application, answer.imported)
    except InputError as problem:
        raise _named(file, problem) from None
    done = answer.imported.done
    if isinstance(done.error, InputError):
        done.error = _named(file, done.error)
    show(answer.as_dict(), json, lambda _: _render(answer, faded))
    end(done, f"events of {file}")


def _named(file: str, problem: InputError) -> InputError:
    """The error with the file's name in front, unless it is of the file's name."""
    if problem.message.startswith(f"file: got {file!r}"):
        return problem
    return InputError(f"{file}: {problem.message}", **problem.context)


def _render(answer: ImportedChats, faded: bool) -> None:
    from api.exchange.chat_shapes import LINES

    left_out = ", ".join(
        f"{count:,} {reason.replace('_', ' ')}"
        for reason, count in sorted(answer.left_out.items())
        if count and reason != "too_long"  # told with the turns, and what to do about them
    )
    many = "" if answer.conversations == 1 else "s"
    told = f"{answer.conversations:,} conversation{many} of the shape " if answer.shape != LINES else "shape "
    out.print(f"{told}[bold]{answer.shape}[/]" + (f"; messages left out: {left_out}" if left_out else ""))
    render_turns(answer.as_dict(), answer.imported.done, faded=faded)
