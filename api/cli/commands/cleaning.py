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
from api.cli.show import generic
from api.operations.definition import Option, Parameter
from api.operations.reports import CLEANUP
from events.errors import InputError, refused

if TYPE_CHECKING:
    from api.services import cleaning


EMBED = "embed"
LONG = 64
"""Texts from which a bar is shown."""


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
            call.print(answer, _printed)
            _uncompared(answer["compared"], owner)
            raise typer.Exit(PARTLY if _failures([answer]) else 0)
        with _bar(call.json) as advance:
            everyone = application.cleaner.clean_all(**call.given, on_progress=advance)
    call.print(everyone, _printed)
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


@contextmanager
def _bar(as_json: bool) -> Iterator[cleaning.Progress]:
    """A bar over owners on standard error, where somebody looks on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=as_json or not err.is_terminal) as bar:
        number = bar.add_task("owners", total=None)
        yield lambda done, total: bar.update(number, completed=done, total=total)


def _printed(answer: Mapping[str, Any]) -> None:
    """Print what was done, or would be, decision by decision, and what can be undone."""
    counts, dry_run = answer["counts"], answer["dry_run"]
    parts = {name: value for name, value in answer.items() if name not in ("compared", "jobs", "kept_days", "decided")}
    if "decided" in answer:
        parts["decisions"] = [one | {"owner": each["owner"]} for each in answer["decided"] for one in each["decisions"]]
    generic.answer(parts)
    if not counts and not any(one["asked"] for one in answer.get("decided", [answer])):
        out.print("[green]Nothing is due.[/]")
    if counts.get("delete") and not dry_run:
        days = (
            f"{answer['kept_days']:g} days"
            if "kept_days" in answer
            else "as long as its owner's deleted_kept_days says"
        )
        out.print(f"What was deleted can be brought back for {days}: engramlog delete --undo OWNER ID")
    if counts.get("purge"):
        out.print(
            "A purge takes the content out of every record, view, search, export and history; the log still holds its text."
        )


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
