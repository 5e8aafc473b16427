"""`engramlog get`, `list`, `history`, `why`, `stats`, `map` and `synonyms`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape

from engramlog_server.api.choices import MOST_CHANGES
from engramlog_server.api.cli.app import opened, out, print_pages, progress
from engramlog_server.api.cli.command import Call, command
from engramlog_server.api.cli.picture_options import LOOK_OPTIONS, look_of
from engramlog_server.api.cli.show import memories as render
from engramlog_server.api.cli.show.memories import aside
from engramlog_server.api.operations.definition import ACTOR, REASON, Given, Operation, Option, Parameter
from engramlog_server.api.operations.knowledge import MAP, SYNONYM, SYNONYMS
from engramlog_server.api.operations.reading import COUNTS, GET, HISTORY, LIST, OWNER_STATS, PROVENANCE, USES, WHY
from engramlog_server.events.errors import refused
from engramlog_server.projections.shapes import History, Why

ALL = Parameter("everything", bool, "Also entries that only name a memory and change nothing.", False)


def _optional(name: str, metavar: str, description: str) -> Parameter:
    return Parameter(name, str | None, description, None, option=Option(argument=True, metavar=metavar))


@command(
    GET,
    more=(
        Parameter("reveal", bool, "Show the text of a secret memory (sensitivity 3).", False),
        ACTOR,
        REASON.but(description="With --reveal: the reason, which is recorded."),
    ),
)
def get(call: Call) -> None:
    """A secret's text is shown by the revealer alone."""
    reveal, actor, reason = call.take("reveal", "actor", "reason")
    if not reveal:
        call.print(call.answer())
        return
    from engramlog_server.api.access import By

    given = {name: value for name, value in call.given.items() if name != "inspect"}
    with opened(call.context) as application, progress(call.operation.task, call.json) as advance:
        owner = given.pop("owner")
        memory_id = application.named(owner, given.pop("memory_id"))
        by = By("command", actor, reason)
        answer = application.revealer.get(owner, memory_id, by, **given, on_progress=advance)
    call.print(answer)


@command(HISTORY, more=(_optional("memory_id", "[ID]", "A memory; the whole owner without."), ALL), subject=("owner",))
def history(call: Call) -> None:
    """A page where one is asked for, else all of them, printed as they come."""
    (everything,) = call.take("everything")
    limit, cursor = call.given["limit"], call.given["cursor"]
    one = limit is not None or cursor is not None
    with call.asking() as ask:
        pages = _pages(ask, call.given | {"limit": MOST_CHANGES if limit is None else limit})
        if one:
            pages = iter([next(pages)])
        if call.json:
            print_pages(pages, "changes")
            return
        for number, answer in enumerate(pages):
            about = escape(call.given["memory_id"] or call.given["owner"])
            title = None if number else f"change log of {about}, {answer['position']}"
            call.print(answer, partial(_changes, title, everything, call.given["law"] is None and not number))
            if limit is not None:
                _more(answer)


def _pages(ask: Callable[[Operation, Given], Any], given: Given) -> Iterator[History]:
    """A page and all after it."""
    while True:
        page = ask(HISTORY, given)
        yield page
        if page["next"] is None:
            return
        given = given | {"cursor": page["next"]}


def _changes(title: str | None, everything: bool, untold: bool, answer: History) -> None:
    if title is not None and not untold:
        title = f"{title}, in the numbers of {answer['law']}"
    if title is not None:
        aside(answer.get("aside"))
    render.changes(answer["changes"], everything=everything, title=title)
    if untold and answer["profile"] != answer["law"]:
        out.print(
            f"[dim]weights are the {answer['law']} law's; this owner's recall goes by {answer['profile']}:"
            f" --law {answer['profile']}[/]"
        )


def _more(answer: History | Why) -> None:
    if answer["next"]:
        out.print(f"[dim]more: --cursor {answer['next']}[/]", soft_wrap=True)


@command(
    WHY,
    more=(
        ALL,
        Parameter("provenance", bool, "Show where it comes from: turns, merges and corrections, as a tree.", False),
        Parameter("uses", bool, "Show which answers used it: the turns and their replies.", False),
    ),
)
def why(call: Call) -> None:
    """All changes unless a page is asked for; with another memory only how both rank."""
    provenance, uses = call.take("provenance", "uses")
    if provenance or uses:
        call.turn_to(PROVENANCE if provenance else USES, "--provenance" if provenance else "--uses")
        return
    (everything,) = call.take("everything")
    if call.given["cursor"] is not None and call.given["limit"] is None:
        call.given["limit"] = MOST_CHANGES
    answer = call.answer()
    call.print(answer, lambda told: render.reasons(told, everything=everything))
    if not call.json and not answer["above"]:
        _more(answer)


@command(OWNER_STATS, more=(_optional("owner", "[OWNER]", "One owner; the whole store without."),), subject=())
def stats(call: Call) -> None:
    """Of the store where no owner is named."""
    call.print(call.answer())


@command(
    MAP,
    more=(
        Parameter("out", Path | None, "Also draw it into this .svg.", None),
        *LOOK_OPTIONS,
    ),
)
def map_(call: Call) -> None:
    """Into a file too, where one is named."""
    (path,) = call.take("out")
    look = look_of(call, path)
    if path is None:
        call.print(call.answer())
        return
    from engramlog_server.api.pictures.map import map_picture
    from engramlog_server.api.pictures.svg import check_file, write_picture

    check_file(path)
    answer = call.answer()
    if not answer["nodes"]:
        raise refused("map", "no memories", "at least one memory; nothing was drawn")
    drawn = map_picture(answer, look)
    write_picture(drawn.root, path)
    call.print(answer | {"drawn": str(path), "remarks": drawn.remarks})


@command(LIST, more=(Parameter("counts", bool, "Count the memories by each filter, and by law.", False),))
def list_(call: Call) -> None:
    """A page, or counts."""
    (counts,) = call.take("counts")
    call.turn_to(COUNTS if counts else LIST, "--counts")


@command(
    SYNONYMS,
    more=(
        _optional("word", "[WORD]", "With SYNONYM: the word to define."),
        _optional("synonym", "[SYNONYM]", "What the word also means."),
        *(one for one in SYNONYM.question if one.name not in ("word", "synonym")),
    ),
)
def synonyms(call: Call) -> None:
    """The owner's pairs, or a new one."""
    if (call.given["word"] is None) is not (call.given["synonym"] is None):
        raise refused("SYNONYM", None, "two words; `--of WORD` shows what a search for a word looks for")
    if call.given["word"] is None:
        call.turn_to(SYNONYMS, "the list of synonyms")
    else:
        call.turn_to(SYNONYM, "a new pair")
