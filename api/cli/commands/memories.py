"""Questions about memories: `engramlog search`, `get`, `list`, `history`, `why` and `stats`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rich.markup import escape

from engramlog_server.api.choices import MOST_CHANGES
from engramlog_server.api.cli.app import opened, out, print_pages, progress
from engramlog_server.api.cli.command import Call, argument, command
from engramlog_server.api.cli.show.memories import aside, changes, reasons
from engramlog_server.api.cli.show.search import explained, results
from engramlog_server.api.operations.definition import ACTOR, REASON, TRACED, Given, Operation, Parameter
from engramlog_server.api.operations.reading import (
    COUNTS,
    GET,
    HISTORY,
    LIST,
    OWNER_STATS,
    PROVENANCE,
    SEARCH,
    USES,
    WHY,
)
from engramlog_server.projections.shapes import History, Why

ALL = Parameter("everything", bool, "Also entries that only name a memory and change nothing.", False)


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


@command(HISTORY, more=(argument("memory_id", "[ID]", "A memory; the whole owner without."), ALL), subject=("owner",))
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
    changes(answer["changes"], everything=everything, title=title)
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
    call.print(answer, lambda told: reasons(told, everything=everything))
    if not call.json and not answer["above"]:
        _more(answer)


@command(OWNER_STATS, more=(argument("owner", "[OWNER]", "One owner; the whole store without."),), subject=())
def stats(call: Call) -> None:
    """Of the store where no owner is named."""
    call.print(call.answer())


@command(LIST, more=(Parameter("counts", bool, "Count the memories by each filter, and by law.", False),))
def list_(call: Call) -> None:
    """A page, or counts."""
    (counts,) = call.take("counts")
    call.turn_to(COUNTS if counts else LIST, "--counts")


HELP = {
    "query": "Text to search for, in any language.",
    "mode": "normal, review (also what faded) or debug (all).",
    "limit": "Number of results, 1 to 100.",
    "search_mode": "hybrid, keyword or semantic.",
    "associations": "Also show associated memories.",
    "kinds": "Only this kind; repeatable.",
    "tags": "Only this context tag; repeatable.",
    "speaker": "Only statements of this speaker.",
    "owners": "Also this owner's memories; repeatable.",
    "since": "Created at or after: a day, 'last week'.",
    "until": "Created before the end of this.",
    "as_of": "Use what had happened by this time.",
    "known": "Use what was recorded by this time.",
    "at": "Compute weights at this time.",
}
"""The options of the command; HTTP has more."""
TRACES = {
    "trace": "Count as recall: results gain weight.",
    "no_trace": "Record nothing about this search.",
}


def _short(parameter: Parameter, text: str) -> Parameter:
    assert parameter.option is not None
    return parameter.but(option=parameter.option._replace(help=text, panel=None))


@command(
    SEARCH.but(
        question=tuple(_short(one, HELP[one.name]) for one in SEARCH.question if one.name in HELP),
        traces=tuple(_short(one, TRACES[one.name]) for one in TRACED if one.name in TRACES),
    ),
    more=(Parameter("explain", bool, "Show the parts of each score.", False),),
)
def search(call: Call) -> None:
    """If nothing is found, say whether the owner has any memory."""
    from engramlog_server.api.operations.reading import LIST

    (explain,) = call.take("explain")
    past = {name: call.given[name] for name in ("as_of", "known", "at")}
    with call.asking() as ask:
        answer = ask(SEARCH, call.given | {"reasons": explain or call.json})
        nobody = (
            not (call.json or answer["results"])
            and not ask(LIST, {"owner": call.given["owner"], "mode": "debug", "limit": 1, **past})["total"]
        )
    call.print(answer, explained if explain else results)
    if nobody and not answer["behind"]:
        then = (
            " as of then"
            if past["as_of"] is not None or past["known"] is not None
            else "; `engramlog stats` names owners that have some"
        )
        out.print(f"Owner [cyan]{escape(call.given['owner'])}[/] has no memories{then}.", soft_wrap=True)
