"""Commands on how memories live on: health, fading, reinforce, review, profile."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from api.cli import completing
from api.cli.app import (
    ActorOption,
    AfterOption,
    AsOfOption,
    AtOption,
    Json,
    KeyOption,
    KnownOption,
    MemoryId,
    OccurredOption,
    Owner,
    app,
    opened,
    out,
    progress,
    show,
)
from api.cli.show import living as render_living
from events.errors import refused

FOLDING = "folding the past"
LimitOption = Annotated[int, typer.Option("-k", "--limit", help="How many, 1 to 1000.")]
OffsetOption = Annotated[int, typer.Option(help="How many to pass over.", min=0)]


@app.command(epilog="Example: `engramlog health alice` or `engramlog health alice --at 2027-01-01T00:00:00Z`")
def health(
    context: typer.Context,
    owner: Owner,
    limit: LimitOption = 50,
    offset: OffsetOption = 0,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """All live memories by how well they are held (Ebbinghaus strength, whatever the profile), strongest first.

    Green from 70, yellow from 30, red below. Where the owner's law archives or deletes by itself, also when. Leaves no trace.
    """
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.living.health(
            owner, limit=limit, offset=offset, as_of=as_of, known=known, at=at, after=after, on_progress=advance
        )
    show(answer, json, render_living.health)


@app.command(epilog="Example: `engramlog fading alice --limit 20`")
def fading(
    context: typer.Context,
    owner: Owner,
    limit: LimitOption = 50,
    offset: OffsetOption = 0,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """Live memories that are nearly forgotten (Ebbinghaus strength under 30), weakest first. Leaves no trace."""
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.living.fading(
            owner, limit=limit, offset=offset, as_of=as_of, known=known, at=at, after=after, on_progress=advance
        )
    show(answer, json, render_living.fading)


@app.command(
    epilog="Example: `engramlog reinforce alice coffee` or `engramlog reinforce alice coffee --outcome used --from-memory tea`"
)
def reinforce(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    outcome: Annotated[
        str,
        typer.Option(
            "--outcome",
            help="used, task_success, task_failure or manual_review. Stability x 1.2, 2.0, 0.8 or 1.5; `used` also adds 0.3 to"
            " the importance (at most once in two hours), and a task grades a review 5 or 2.",
        ),
    ] = "manual_review",
    from_memory: Annotated[
        str | None,
        typer.Option(
            "--from-memory",
            help="The memory that led there: with used and manual_review their association grows.",
            show_default=False,
        ),
    ] = None,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """It was put to use, or looked at again: hold it better. Tells what each law reads before and after."""
    with opened(context) as application:
        answer = application.living.reinforce(
            owner, memory_id, outcome=outcome, from_memory=from_memory, actor=actor, occurred_at=occurred_at, key=key
        )
    show(answer, json, render_living.reinforced)
    if "quarantined" in answer:
        raise typer.Exit(3)


@app.command(
    epilog="Example: `engramlog review alice` to see what is due, then `engramlog review alice coffee --grade 4`"
)
def review(
    context: typer.Context,
    owner: Owner,
    memory_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A memory to grade; what is due without.", show_default=False),
    ] = None,
    grade: Annotated[
        int | None,
        typer.Option("--grade", help="How well it was known, 0 (forgotten) to 5 (at once).", show_default=False),
    ] = None,
    min_importance: Annotated[
        float,
        typer.Option(
            "--min-importance",
            help="Least importance, 0 to 1: 0.4 confidence + 0.3 consolidation + 0.3 |emotion|. At confidence 0.6 the default"
            " leaves out most.",
        ),
    ] = 0.5,
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many that are due, 1 to 100.")] = 10,
    kind: Annotated[str | None, typer.Option("--kind", help="Only memories of this kind.", show_default=False)] = None,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """What is due for review, the most pressing first; or grade one, which says when it is due again.

    Before its first grade a memory is due a day after it was made, and after accesses 2, 4, 8 ... days (at most 90) after the
    last; from the first grade on the owner's scheduler decides: sm2, or fsrs
    (`engramlog profile OWNER --set scheduler=fsrs`). Looking at the list leaves no trace.
    """
    if memory_id is None and grade is not None:
        raise refused("ID", "nothing", f"a memory to grade: engramlog review {owner} ID --grade {grade}")
    if memory_id is not None and grade is None:
        raise refused("grade", "nothing", f"0 to 5: engramlog review {owner} {memory_id} --grade 4")
    if memory_id is None or grade is None:
        with opened(context) as application, progress(FOLDING, json) as advance:
            answer = application.living.review(
                owner,
                min_importance=min_importance,
                limit=limit,
                kind=kind,
                as_of=as_of,
                known=known,
                at=at,
                after=after,
                on_progress=advance,
            )
        show(answer, json, render_living.due)
        return
    for field, when in (("at", at), ("as_of", as_of), ("known", known)):
        if when is not None:
            raise refused(field, when, "nothing beside --grade; --occurred-at says when")
    with opened(context) as application:
        answer = application.living.grade(owner, memory_id, grade, actor=actor, occurred_at=occurred_at, key=key)
    show(answer, json, render_living.graded)
    if "quarantined" in answer:
        raise typer.Exit(3)


@app.command(
    epilog="Example: `engramlog profile alice`, `engramlog profile alice ebbinghaus` or"
    " `engramlog profile alice --set initial_stability=48 --set failure_restarts_clock=true`"
)
def profile(
    context: typer.Context,
    owner: Owner,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A law to live by; `engramlog laws` lists them.",
            show_default=False,
            autocompletion=completing.laws,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A parameter, name=value; as often as needed. To undo one, set its default again: `profile OWNER` shows it.",
            show_default=False,
        ),
    ] = None,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    after: AfterOption = None,
    actor: ActorOption = "operator",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """The law that an owner's recall and lifecycle go by, with its parameters; or choose another from here on.

    It changes the owner, not its memories: any law can read any history, so another choice loses nothing.
    """
    from api.services.replaying import parse_settings

    settings = parse_settings(set_ or ())
    for field, place in (("as_of", as_of), ("known", known)):
        if place is not None and (name is not None or settings):
            raise refused(field, place, "nothing where a profile or a parameter is chosen: that holds from here on")
    with opened(context) as application:
        if name is None and not settings:
            answer = application.living.profile(owner, as_of=as_of, known=known, after=after)
        else:
            answer = application.living.choose(
                owner, profile=name, parameters=settings, actor=actor, occurred_at=occurred_at, key=key
            )
    show(answer, json, render_living.profile)
    if name is not None and not json:
        look = f"`engramlog cleanup {owner} --dry-run` shows what it would do"
        out.print(Text(f"The next sweep decides by the {name} law: {look}", "dim"))
    if "changes" in answer and "quarantined" in answer:
        raise typer.Exit(3)
