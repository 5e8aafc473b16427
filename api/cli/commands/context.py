"""Commands about what stands in a prompt: context, uses."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from api.choices import BUDGET
from api.cli.app import (
    AfterOption,
    AsOfOption,
    Json,
    KnownOption,
    MemoryId,
    Owner,
    app,
    err,
    opened,
    out,
    progress,
    show,
)
from api.cli.commands.reading import FOLDING, NoTraceOption, traced_as
from api.cli.show.memories import part_of, plain, shortened, times_of, when
from api.cli.show.tables import Cell, Column, tabulate
from projections.choices import MOST_SEARCHES, THRESHOLD, WORKING_MESSAGES


@app.command(
    "context", epilog='Example: `engramlog context alice "What should I drink tonight?" --session s1 --budget 800`'
)
def context_(
    context: typer.Context,
    owner: Owner,
    text: Annotated[str, typer.Argument(help="The turn that is to be answered.", show_default=False)],
    session: Annotated[
        str | None,
        typer.Option(help="The session it stands in; that of the newest turn if not given.", show_default=False),
    ] = None,
    turn: Annotated[
        str | None,
        typer.Option("--turn", help="The turn's id: what is injected is recorded for it, once.", show_default=False),
    ] = None,
    budget: Annotated[int, typer.Option(help="Tokens the block may take, as estimated.")] = BUDGET,
    no_proactive: Annotated[bool, typer.Option("--no-proactive", help="Do not search for what may matter.")] = False,
    threshold: Annotated[float, typer.Option(help="How close a memory must be to the turn, 0 to 1.")] = THRESHOLD,
    searches: Annotated[int, typer.Option(help="Searches at the most, 1 to 10.")] = MOST_SEARCHES,
    messages: Annotated[
        int, typer.Option(help=f"Messages of the conversation so far, 0 to {WORKING_MESSAGES}.")
    ] = WORKING_MESSAGES,
    sensitive: Annotated[
        bool, typer.Option("--sensitive", help="Also addresses, telephone numbers and the like; secrets never.")
    ] = False,
    language: Annotated[
        str | None, typer.Option(help="Of titles: en or zh; the turn's if not given.", show_default=False)
    ] = None,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    after: AfterOption = None,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace", help="Record it as put into a prompt: the memories gain by it. Without it this only looks."
        ),
    ] = False,
    no_trace: NoTraceOption = False,
    json: Json = False,
) -> None:
    """The block to put into a prompt: time, core, the conversation so far, memories that may matter, what tools found.

    The block alone goes to standard output; what was left out is said on standard error.
    """
    traced = traced_as(trace=trace, no_trace=no_trace, inspect=False, present=True)
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.contexts.context(
            owner,
            text,
            session=session,
            turn_id=turn,
            budget=budget,
            proactive=not no_proactive,
            threshold=threshold,
            searches=searches,
            messages=messages,
            sensitive=sensitive,
            language=language,
            trace=traced.trace,
            inspect=traced.inspect,
            as_of=as_of,
            known=known,
            after=after,
            on_progress=advance,
        )
    show(answer, json, _block)


def _block(answer: dict[str, Any], console: Console = out) -> None:
    console.print(Text(answer["block"]), soft_wrap=True)
    said = [f"{answer['tokens']:,} of {answer['budget']:,} tokens, position {answer['position']}{times_of(answer)}"]
    if answer["dropped"]:
        said.append(f"no room for: {plain(answer['dropped'])}")
    if answer["left_out"]:
        said.append(f"left out: {plain(answer['left_out'])}")
    if answer["searches"] and not answer["parts"]["retrieved"] and (withheld := answer["searches"][0]["withheld"]):
        said.append(f"normal mode withholds matches: {plain(withheld)}")
    err.print(Text("; ".join(said), "dim"), soft_wrap=True)


@app.command(epilog="Example: `engramlog uses alice coffee`")
def uses(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many, 1 to 1000.")] = 20,
    offset: Annotated[int, typer.Option(help="How many to pass over.", min=0)] = 0,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """Which answers used a memory: the turns for which it was put into a prompt, and what was replied. Leaves no trace."""
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.uses.uses(
            owner,
            memory_id,
            limit=limit,
            offset=offset,
            as_of=as_of,
            known=known,
            after=after,
            on_progress=advance,
        )
    show(answer, json, used)


def used(answer: dict[str, Any], console: Console = out) -> None:
    """Which answers used a memory."""
    found, total = answer["uses"], answer["total"]
    console.print(Text.assemble((answer["id"], "bold cyan"), " ", answer["memory"]))
    several = "answer" if total == 1 else "answers"
    part = part_of(answer["offset"], len(found), total)
    console.print(Text(f"used for {part}{total:,} {several}, position {answer['position']}{times_of(answer)}", "dim"))
    if not found:
        return
    columns = (
        Column("turn", is_id=True),
        Column("session", if_room=True),
        Column("injected", "dim"),
        Column("asked", takes_rest=True),
        Column("replied", takes_rest=True),
    )
    rows: list[dict[str, Cell]] = [
        {
            "turn": Text(use["turn_id"] or "-"),
            "session": Text(use["session"] or "-"),
            "injected": when(use["injected_at"], console),
            "asked": shortened(use["turn"]["text"]) if use["turn"] else Text("-"),
            "replied": shortened("\n".join(reply["text"] for reply in use["replies"]) or "-"),
        }
        for use in found
    ]
    tabulate(columns, rows, console)
