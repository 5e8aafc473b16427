"""The command `engramlog cleanup`: lifecycle jobs by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from api.cli.app import err, opened, out, progress, show
from api.cli.made import PARTLY, Call, command
from api.cli.show.tables import Column, ident, instant, tabulate, words
from api.operations.definition import Option, Parameter
from api.operations.reports import CLEANUP
from events.errors import InputError, refused

if TYPE_CHECKING:
    from api.services import cleaning


DONE = {
    "compress": "compressed",
    "delete": "deleted",
    "purge": "purged",
    "promote": "promoted",
    "keep": "kept",
    "merge": "merged",
    "link": "linked",
    "replay": "replayed",
    "raise": "raised",
    "abstract": "abstracted",
    "suggest": "suggested",
}
"""What was done, by action."""
EMBED = "embed"
LONG = 64
"""Texts from which a bar is shown."""
COLOURS = {"delete": "red", "purge": "red", "promote": "green"}


MORE = """**sweep** compresses, deletes softly and purges what was deleted 30 days ago; **review** promotes, keeps or deletes
(tiered profile; by rule, or by a model where ENGRAMLOG_REVIEWER says so); **merge**, **link**, **replay**,
**levels** (what newer rules of sensitivity find in old entries), **abstract** (patterns of what was said on several days;
what is not certain waits in the inbox) and **suggest** (what says the same or belongs together by meaning, where an embedder
is configured: it waits in the inbox) run only when named. **embed**, alone, computes the vectors that semantic search lacks: what
is there is not computed again, and vectors of contents that were revised, purged or made secret are dropped; *with `openai:`
contents leave this machine*, but for secret ones.
Deletions can be undone for 30 days (`restore`). A purge takes the content out of every record, view, search, export and
history; *the log still holds the text*."""


@command(
    CLEANUP.but(more=MORE, example="Example: `engramlog cleanup alice --dry-run`, then `engramlog cleanup alice`"),
    more=(
        Parameter("owner", str | None, "Whose memories: a user, an agent, a team.", None, option=Option(argument=True)),
        Parameter("everybody", bool, "Every owner of the store.", False, option=Option(("--all",))),
    ),
    subject=(),
)
def cleanup(call: Call) -> None:
    """One owner, or all of them; exit code 3 where something was not done."""
    owner, everybody = call.take("owner", "everybody")
    if (owner is None) is not everybody:
        raise InputError("cleanup: name an owner, or give --all for every owner, and not both", field="owner")
    if EMBED in call.given["jobs"]:
        if call.given["jobs"] != [EMBED] or call.given["dry_run"]:
            raise refused("job", ", ".join(call.given["jobs"]), f"{EMBED} alone, and no --dry-run")
        _embed(call, owner)
    with opened(call.context) as application:
        if owner is not None:
            with progress("decisions", call.json) as advance:
                answer = application.cleaner.clean(owner, **call.given, on_progress=advance)
            call.print(answer, _one)
            _uncompared(answer["compared"], owner)
            raise typer.Exit(PARTLY if _failures([answer]) else 0)
        with _bar(call.json) as advance:
            everyone = application.cleaner.clean_all(**call.given, on_progress=advance)
    call.print(everyone, _everyone)
    _uncompared(everyone["compared"], "OWNER")
    stopped = _failures(everyone["decided"])
    raise typer.Exit(PARTLY if everyone["failed"] or stopped else 0)


def _embed(call: Call, owner: str | None) -> None:
    with opened(call.context) as application:
        if owner is None:
            with progress("texts", call.json, 0) as advance:
                answer = application.embeddings.embed_all(on_progress=advance)
        else:
            with progress("texts", call.json, LONG) as advance:
                answer = application.embeddings.embed(owner, on_progress=advance)
    show(answer, call.json, _embedded)
    raise typer.Exit(PARTLY if answer["failed"] or answer["left"] else 0)


def _embedded(answer: Mapping[str, Any]) -> None:
    by = ", ".join(answer.get("models", ())) or answer["model"]
    done = Text.assemble(("done ", "bold green"), f"{answer['embedded']:,} texts embedded by {by}")
    done.append(f", {answer['already']:,} had been, {answer['left']:,} left; {answer['dropped']:,} vectors dropped")
    out.print(done)
    for one in answer["failed"]:
        where = " ".join(one[name] for name in ("owner", "id") if name in one)
        out.print(Text.assemble((where, "yellow"), f": {one['message']}"))


def _failures(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why models could not be asked, or answers not be used; each once."""
    told = [
        one for answer in answers for one in (answer["failure"], (answer["abstraction"] or {}).get("failure")) if one
    ]
    return list(dict.fromkeys(told))


SHOWN = 200
"""Decisions shown in a table."""


@contextmanager
def _bar(as_json: bool) -> Iterator[cleaning.Progress]:
    """A bar over owners on standard error, where somebody looks on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=as_json or not err.is_terminal) as bar:
        number = bar.add_task("owners", total=None)
        yield lambda done, total: bar.update(number, completed=done, total=total)


def _one(answer: Mapping[str, Any]) -> None:
    if answer["dry_run"]:
        _planned([answer], several=False)
    _counted(answer["counts"], answer["dry_run"], [answer])
    _reviewed([answer], answer["dry_run"])
    if not answer["dry_run"] and answer["counts"].get("delete"):
        _restorable(f"{answer['kept_days']:g} days", Text(answer["owner"]))
    _purged(answer)


def _everyone(answer: Mapping[str, Any]) -> None:
    if answer["dry_run"]:
        _planned(answer["decided"], several=True)
    _counted(answer["counts"], answer["dry_run"], answer["decided"])
    _reviewed(answer["decided"], answer["dry_run"])
    touched, owners = len(answer["decided"]), answer["owners"]
    out.print(f"[dim]{touched:,} of {owners:,} owner{'' if owners == 1 else 's'}[/]")
    if answer["left_out"]:
        out.print(f"[dim]{answer['left_out']:,} more decisions are counted and not told one by one[/]")
    if not answer["dry_run"] and answer["counts"].get("delete"):
        _restorable("30 days, or as long as its owner's deleted_kept_days says", Text("OWNER"))
    _purged(answer)
    for one in answer["failed"]:
        out.print(Text.assemble((one["owner"], "yellow"), f": {one['message']}"))


NOT_COMPARED = {
    "without_vector": "without a vector yet: first `engramlog cleanup {owner} --job embed`",
    "unread": "in letters that the model does not read",
    "older": "older than the newest that are looked at",
}


def _uncompared(compared: Mapping[str, Any] | None, owner: str) -> None:
    """Said on standard error: what was not compared by its vectors, and why."""
    from projections.embedding.compared import KINDS

    if compared is None:
        return
    for kind in KINDS:
        for name, why in NOT_COMPARED.items():
            if count := compared[kind][name]:
                one = kind[:-1] if count == 1 else kind
                err.print(Text(f"{count:,} {one} not compared, {why.format(owner=owner)}", "yellow"))
    if full := compared["full"]:
        whose = "" if full is True else f" of {full:,} owner{'' if full == 1 else 's'}"
        err.print(
            Text(f"As many suggestions{whose} wait as may: answer some in the inbox, then run it again", "yellow")
        )


def _planned(answers: Sequence[Mapping[str, Any]], *, several: bool) -> None:
    """What a run would do, or ask: action, memory, since when it is due, and why."""
    if not any(answer["decisions"] or answer["asked"] for answer in answers):
        return
    columns = [
        Column("action"),
        ident("memory"),
        instant("due since", "due_at"),
        words("why", "reason"),
    ]
    if several:
        columns.insert(0, ident("owner"))
    decisions = [
        (answer["owner"], one)
        for answer in answers
        for one in [*answer["decisions"], *(_question(asked, answer["reviewer"]) for asked in answer["asked"])]
    ]
    rows = [
        {
            **one,
            "owner": owner,
            "action": Text(one["action"], COLOURS.get(one["action"], "")),
            "memory": ", ".join(one["ids"]),
        }
        for owner, one in decisions[:SHOWN]
    ]
    tabulate(columns, rows)
    if len(decisions) > SHOWN:
        out.print(f"[dim]and {len(decisions) - SHOWN:,} more; --json shows all[/]")


def _question(asked: dict[str, Any], reviewer: str) -> dict[str, Any]:
    """A question to a reviewer, as a row among what is decided."""
    why = f"{asked['review']} review by {reviewer}"
    return {"action": "ask", "ids": [asked["id"]], "due_at": asked["due_at"], "reason": why}


def _reviewed(answers: Sequence[Mapping[str, Any]], dry_run: bool) -> None:
    """What a reviewer that is no rule was asked, or would be, and what came of it."""
    asked = sum(len(answer["asked"]) for answer in answers)
    left, held, tokens = (
        sum(answer[name] for answer in answers) for name in ("left_open", "held_back", "input_tokens")
    )
    _found(answers, dry_run)
    if not (asked or left):
        return
    reviewer = answers[0]["reviewer"]
    if dry_run:
        out.print(f"would be asked: {reviewer}, {asked:,} question{'' if asked == 1 else 's'}")
        return
    tokens += sum(answer["output_tokens"] for answer in answers)
    out.print(f"[dim]{reviewer} was asked {asked:,} question{'' if asked == 1 else 's'}, {tokens:,} tokens[/]")
    if left:
        beyond = f", {held:,} of them deletions beyond what one run may delete" if held else ""
        out.print(f"[yellow]{left:,} left open{beyond}: asked again at the next run[/]")
    for failure in dict.fromkeys(answer["failure"] for answer in answers if answer["failure"]):
        out.print(Text(failure, "yellow"))


def _found(answers: Sequence[Mapping[str, Any]], dry_run: bool) -> None:
    """What a model was asked about patterns, or would be."""
    told = [answer["abstraction"] for answer in answers if answer["abstraction"]]
    if not told:
        return
    questions, tokens = (sum(one[name] for one in told) for name in ("questions", "input_tokens"))
    asked = f"{questions:,} question{'' if questions == 1 else 's'} about patterns"
    if dry_run:
        out.print(Text(f"would be asked: model {told[0]['model']}, {asked}"))
        return
    tokens += sum(one["output_tokens"] for one in told)
    out.print(Text(f"model {told[0]['model']} was asked {asked}, {tokens:,} tokens", "dim"))
    for failure in dict.fromkeys(one["failure"] for one in told if one["failure"]):
        out.print(Text(failure, "yellow"))


def _counted(counts: dict[str, int], dry_run: bool, answers: Sequence[Mapping[str, Any]]) -> None:
    if not counts:
        if not any(answer["asked"] for answer in answers):
            out.print("[green]Nothing is due.[/]")
        return
    told = ", ".join(f"{counts[action]:,} {done}" for action, done in DONE.items() if counts.get(action))
    out.print(f"would be done: {told}; nothing was changed" if dry_run else f"[bold green]done[/] {told}")


def _restorable(how_long: str, owner: Text) -> None:
    out.print(
        Text.assemble(f"What was deleted can be brought back for {how_long}: engramlog delete --undo ", owner, " ID")
    )


def _purged(answer: Mapping[str, Any]) -> None:
    if answer["counts"].get("purge"):
        out.print(
            f"What {'would be purged leaves' if answer['dry_run'] else 'was purged is gone from'} every record, view, search,"
            " export and history for good; the log still holds its text."
        )
