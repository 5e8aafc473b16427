"""The life of memories and settings of an owner: `engramlog cleanup`, `extract`, `episodes`, `review`, `profile`, `synonyms` ..."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.text import Text

from engramlog_server.api.choices import MODEL, RULES
from engramlog_server.api.cli.app import err, opened, out, progress, show
from engramlog_server.api.cli.command import PARTLY, Call, argument, command
from engramlog_server.api.cli.show import generic
from engramlog_server.api.operations.definition import ACTOR, Option, Parameter
from engramlog_server.api.operations.knowledge import (
    CHOOSE,
    GRADE,
    LAWS,
    PARAMETERS,
    PROFILE,
    REVIEW,
    SYNONYM,
    SYNONYMS,
)
from engramlog_server.api.operations.reports import CLEANUP, EPISODES, EXTRACT
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.text import many

EMBED = "embed"
LONG = 64
"""Texts from which a bar is shown."""


MORE = (
    "**sweep** records levels, deletes, and purges what was deleted 30 days ago. **review** promotes, keeps or deletes"
    " (tiered\nprofile; by rule, or by a model if ENGRAMLOG_REVIEWER says so). These run only if named: **merge**,"
    " **link**, **replay**,\n**levels** (newer rules of sensitivity on old entries), **abstract** (patterns of several"
    " days; uncertain ones wait in the\ninbox) and **suggest** (merges and links by meaning; they wait in the inbox)."
    " **embed**, alone, computes missing vectors and drops\nthose of texts that were revised, purged or made secret;"
    " *with `openai:` texts leave this machine*, except for secrets.\nDeletions can be undone for 30 days (`delete"
    " --undo`). A purge removes the text from every record, view, search, export and\nhistory; *the log still holds the"
    " text*."
)


@command(
    CLEANUP.but(more=MORE, example="Example: `engramlog cleanup alice --dry-run`, then `engramlog cleanup alice`"),
    more=(
        argument("owner", None, "Whose memories: a user, an agent, a team."),
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
        with progress("owners", call.json, 0) as advance:
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
        out.print(f"Deleted memories can be restored for {days}: engramlog delete --undo OWNER ID")
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
    from engramlog_server.projections.embedding.choosing import KINDS

    if compared is None:
        return
    for kind in KINDS:
        for name, why in NOT_COMPARED.items():
            if count := compared[kind][name]:
                one = kind[:-1] if count == 1 else kind
                err.print(Text(f"{count:,} {one} not compared, {why.format(owner=owner)}", "yellow"))
    if full := compared["full"]:
        whose = "" if full is True else f" of {many(full, 'owner')}"
        err.print(
            Text(f"As many suggestions{whose} wait as may: answer some in the inbox, then run it again", "yellow")
        )


@command(
    EXTRACT.but(
        more="Turns stay as they are. A repeated statement is a mention; a statement that is taken back is negated."
        " Questions, suppositions, quotations and words of an assistant assert nothing. Nothing is done twice. A dry"
        " run by a model covers the next ten turns. Exit code 3: the model failed, and the remaining turns wait for"
        " the next run.",
        example="Example: `engramlog extract alice --dry-run`, then `engramlog extract alice`",
    ),
    more=(
        Parameter(
            "again",
            bool,
            "With --dry-run: show what today's rules would make of all turns, also of those already read.",
            False,
        ),
    ),
)
def extract(call: Call) -> None:
    """By rules or by the model of the settings."""
    owner, dry_run, by, again = call.take("owner", "dry_run", "by", "again")
    if again and not dry_run:
        raise refused(
            "again", "no --dry-run", "with --dry-run alone: what another reading made, a person may have changed since"
        )
    if again and by == MODEL:
        raise refused("by", by, f"{RULES} with --again: a model is asked about what nobody has read")
    with opened(call.context) as application:
        if again:
            answer = application.extractor.read_again(owner)
        elif dry_run:
            answer = application.extractor.rehearse(owner, by)
        else:
            with progress("turns" if by == MODEL else "decisions", call.json) as advance:
                answer = application.extractor.extract(owner, by, on_progress=advance)
    call.print(answer, _told)
    if answer.get("trouble"):
        raise typer.Exit(PARTLY)


def _told(answer: Mapping[str, Any]) -> None:
    apart = {"decisions", "trouble"} | ({"usage"} if answer["by"] == RULES else set())
    shown = {name: value for name, value in answer.items() if name not in apart}
    if answer.get("again"):
        shown["statements"] = [one for one in answer["statements"] if one["operation"] != "SKIP"]
    if not shown.get("by_rules"):
        shown.pop("by_rules", None)
    generic.answer(shown)
    if by_rules := answer.get("by_rules"):
        out.print(
            f"{len(by_rules):,} turn{' was' if len(by_rules) == 1 else 's were'} read by rules: the model had no usable answer",
            style="yellow",
        )
    if not answer["counts"] and not answer.get("trouble"):
        out.print("nothing would change" if answer["dry_run"] else "nothing new", style="yellow")
    if answer.get("trouble"):
        err.print(Text.assemble(("stopped ", "bold red"), answer["trouble"]))


@command(
    EPISODES.but(
        more="Also notes which memories the assistant's replies rested on: those put before it of which a reply says what nothing"
        " else there said. Turns stay as they are. Running it again does nothing twice.",
        example="Example: `engramlog episodes alice --dry-run`, then `engramlog episodes alice`",
    )
)
def episodes(call: Call) -> None:
    """Exit code 3 where the model is down."""
    owner, dry_run = call.take("owner", "dry_run")
    with opened(call.context) as application:
        if dry_run:
            answer = application.episodes.make(owner, dry_run=True)
        else:
            with progress("decisions", call.json) as advance:
                answer = application.episodes.make(owner, on_progress=advance)
    call.print(answer)
    if answer["down"]:
        raise typer.Exit(PARTLY)


SAID = ("actor", "occurred_at", "key")


@command(
    REVIEW,
    GRADE,
    more=(argument("memory_id", "[ID]", "A memory to grade; what is due without."),),
)
def review(call: Call) -> None:
    """List memories due for review, or grade one."""
    given = call.given
    owner, memory_id, grade = given["owner"], given["memory_id"], given["grade"]
    if memory_id is None and grade is not None:
        raise refused("ID", None, f"a memory to grade: engramlog review {owner} ID --grade {grade}")
    if memory_id is not None and grade is None:
        raise refused("grade", None, f"0 to 5: engramlog review {owner} {memory_id} --grade 4")
    if memory_id is None:
        call.take("memory_id", "grade", *SAID)
        call.print(call.answer())
        return
    for field in ("at", "as_of", "known"):
        if given[field] is not None:
            raise refused(field, given[field], "not together with --grade; --occurred-at gives the time of the review")
    call.take(*(one.name for one in REVIEW.question))
    call.operation = GRADE
    call.print(call.answer())


@command(PROFILE, CHOOSE.but(question=(ACTOR.but(default="operator"), *CHOOSE.question)))
def profile(call: Call) -> None:
    """The law as it is, or another from here on."""
    given = call.given
    name, settings = given["profile"], given["parameters"]
    chosen = name is not None or bool(settings)
    for field in ("as_of", "known"):
        if given[field] is not None and chosen:
            raise refused(
                field, given[field], "nothing where a profile or a parameter is chosen: that holds from here on"
            )
    if chosen:
        call.take("as_of", "known", "after")
        call.operation = CHOOSE
    else:
        call.take("profile", "parameters", *SAID)
    answer = call.answer()
    call.show(answer)
    if name is not None and not call.json:
        look = f"`engramlog cleanup {given['owner']} --dry-run` shows what it would do"
        out.print(Text(f"The next sweep decides by the {name} law: {look}", "dim"))
    call.end(answer)


@command(
    PARAMETERS,
    more=(
        Parameter("all", bool, "List all of them.", False),
        Parameter("laws", bool, "Show the laws instead: formula, factors and thresholds.", False),
    ),
)
def parameters(call: Call) -> None:
    """The parameters that are recommended, or all."""
    from engramlog_server.api.parameters import RECOMMENDED

    everything, laws = call.take("all", "laws")
    if laws:
        call.operation = LAWS
        call.print(call.answer())
        return
    answer = call.answer()
    if not everything:
        answer = {"parameters": [one for one in answer["parameters"] if one["name"] in RECOMMENDED]}
    call.print(answer)


@command(
    SYNONYMS,
    more=(
        argument("word", "[WORD]", "With SYNONYM: the word to define."),
        argument("synonym", "[SYNONYM]", "What the word also means."),
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
