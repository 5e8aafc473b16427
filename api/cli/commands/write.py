"""Commands that change memories: `engramlog delete`, `edit`, `mention` and `inbox`. They return once all is folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import typer

from engramlog_server.api.cli.app import complain, opened, out, progress, show
from engramlog_server.api.cli.command import Call, argument, command, text_of
from engramlog_server.api.cli.show.generic import answer as generic
from engramlog_server.api.operations.definition import Option, Parameter, without
from engramlog_server.api.operations.inbox import ACCEPT, AMEND, INBOX, REJECT
from engramlog_server.api.operations.writing import (
    CONFIRM,
    DELETE,
    DELETE_MANY,
    EDIT,
    MENTION,
    PROMOTE,
    RESTORE,
    RESTORE_MANY,
    SENSITIVITY,
    TEXT,
)
from engramlog_server.events.errors import refused

MORE = (
    "Everything made only of a memory is deleted and restored with it (typed memories of a turn, episodes, merges). Core"
    " and system\nmemories need `--core`. Exit code 3: some ids were not deleted; each is listed with the reason. If"
    " nothing is deleted: 2 if\nevery id is unknown, purged or merged, else 1. `--undo` has the same exit codes."
)
IDS = Parameter(
    "ids",
    list[str],
    "Memories' ids, separated by commas, spaces or newlines in any mixture; - reads them from standard input.",
    option=Option(argument=True, metavar="ID|-"),
)


@command(
    DELETE_MANY.but(
        name="delete",
        help=DELETE.help,
        more=MORE,
        example='Example: `engramlog delete alice coffee`, `engramlog delete alice "m1, m2" m3 --undo` or'
        " `... | engramlog delete alice -`",
    ),
    more=(IDS, Parameter("undo", bool, "Restore them, with what their deletion took along.", False)),
)
def delete(call: Call) -> None:
    """One or several: what of them was done, and what not, is told for each."""
    from engramlog_server.api.services.deleting import split_ids
    from engramlog_server.projections.views.query import moment

    (undo,) = call.take("undo")
    given, dry_run = call.given, call.given["dry_run"]
    given["ids"] = split_ids(_texts_of(given["ids"]))
    if undo:
        _restore(call, given["ids"])
        return
    with opened(call.context) as application, progress("deleting", call.json) as advance:
        answer = DELETE_MANY.ask(application, given | {"by_name": len(given["ids"]) == 1, "on_progress": advance})
    if len(answer.ids) > 1 or (dry_run and answer.refusal is None):
        show(answer.as_dict(), call.json, generic)
    elif answer.refusal is not None:
        raise answer.refusal
    else:
        show(answer.as_effects(), call.json, generic)
    if answer.error is not None:
        complain(answer.error)
    if answer.done and not call.json and not dry_run:
        out.print(
            f"[dim]Restorable until {moment(answer.restorable_until)}, then purged."
            " The text itself stays in the log.[/]"
        )
    raise typer.Exit(answer.exit_code)


def _restore(call: Call, ids: list[str]) -> None:
    """Restore one or several memories; print for each of several whether it was restored."""
    call.only(RESTORE_MANY, "--undo")
    given = call.given | {"ids": ids}
    if len(ids) == 1 and not given["dry_run"]:
        one = {name: value for name, value in given.items() if name not in ("ids", "dry_run")}
        with call.asking() as ask:
            answer = ask(RESTORE, one | {"memory_id": ids[0]})
        call.print(answer)
        return
    with opened(call.context) as application, progress("restoring", call.json) as advance:
        report = RESTORE_MANY.ask(application, given | {"on_progress": advance})
    if report.refusal is not None and len(report.ids) == 1:
        raise report.refusal
    show(report.as_dict(), call.json, generic)
    if report.error is not None:
        complain(report.error)
    raise typer.Exit(report.exit_code)


def _texts_of(ids: Iterable[str]) -> Iterator[str]:
    return (text_of(one, "ids", "ids in UTF-8, at most 1 MiB together") for one in ids)


@command(
    EDIT.but(question=without(EDIT.question, "content")),
    SENSITIVITY.but(question=without(SENSITIVITY.question, "level", "reason")),
    PROMOTE.but(question=without(PROMOTE.question, "to")),
    more=(
        Parameter("content", str | None, "The whole new text.", None, option=TEXT._replace(metavar="[TEXT|-]")),
        Parameter("sensitivity", int | None, "0 public, 1 general, 2 sensitive, 3 secret: as a person says.", None),
        Parameter(
            "tier",
            str | None,
            "As an operator: core or system puts it into every prompt; fact or episode removes it.",
            None,
        ),
    ),
)
def edit(call: Call) -> None:
    """New words, a sensitivity or a tier."""
    level, tier = call.take("sensitivity", "tier")
    content = call.given["content"]
    if (content is not None) + (level is not None) + (tier is not None) != 1:
        raise refused("TEXT", content, "exactly one of TEXT, --sensitivity and --tier")
    if level is not None and not call.given["reason"]:
        raise refused("reason", None, "why, with --sensitivity")
    if level is not None:
        call.turn_to(SENSITIVITY, "--sensitivity", level=level)
    elif tier is not None:
        call.turn_to(PROMOTE, "--tier", to=tier)
    else:
        call.turn_to(EDIT, "a new text")


@command(MENTION, more=(Parameter("confirm", bool, "Confirm it: also undo its negation, by any source.", False),))
def mention(call: Call) -> None:
    """A mention, or a confirmation."""
    (confirm,) = call.take("confirm")
    call.turn_to(CONFIRM if confirm else MENTION, "--confirm")


@command(
    INBOX,
    more=(
        argument("item", "[ITEM]", "The item to answer; list the inbox without."),
        argument("content", "[TEXT]", "The new text of the memory, in your own words."),
        Parameter("accept", bool, "Accept the item: you say so yourself.", False),
        Parameter("reject", bool, "Reject the item: nothing changes, or the proposal goes.", False),
        *(one for one in ACCEPT.question if one.name != "item"),
    ),
)
def inbox(call: Call) -> None:
    """A page, or the answer to one item."""
    accept, reject = call.take("accept", "reject")
    item, content = call.given["item"], call.given["content"]
    if item is None:
        if accept or reject:
            raise refused("ITEM", None, f"an item: engramlog inbox {call.given['owner']} ITEM --accept")
        call.turn_to(INBOX, "the list of the inbox")
    elif accept + reject + (content is not None) != 1:
        raise refused("ITEM", item, "an item together with one of --accept, --reject or TEXT")
    else:
        call.turn_to(ACCEPT if accept else REJECT if reject else AMEND, "the answer to an item")
