"""Commands by which one thing is told: add, edit, mention; and ground, by which a producer reports what memories rest on."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from api.cli.app import (
    ActorOption,
    Json,
    KeyOption,
    MemoryId,
    OccurredOption,
    Owner,
    app,
    opened,
    out,
    show,
)
from api.cli.commands.writing import done
from events.errors import refused
from projections.memory.defaults import CATEGORY, KIND

MOST_BYTES = 1024 * 1024
"""Read from standard input at the most; a memory holds 64 KiB."""
Words = Annotated[
    str, typer.Argument(metavar="TEXT|-", help="The text, or - to read it from standard input.", show_default=False)
]
Summary = Annotated[str | None, typer.Option("--summary", help="What it says, shorter.", show_default=False)]
Keywords = Annotated[
    list[str] | None,
    typer.Option("--keyword", help="A word to find it by; as often as needed.", show_default=False),
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", help="A tag of your own; as often as needed.", show_default=False)
]
Because = Annotated[str | None, typer.Option("--because", help="Why it is kept, in words.", show_default=False)]
Session = Annotated[str | None, typer.Option("--session", help="Id of the conversation.", show_default=False)]


def text_of(words: str) -> str:
    """The words of an argument, or of standard input where that is `-`, without the newline at its end."""
    if words != "-":
        return words
    read = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(read) > MOST_BYTES:
        raise refused("TEXT", f"more than {MOST_BYTES:,} bytes", "a text of at most 64 KiB")
    try:
        return read.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise refused("TEXT", "-", f"a text in UTF-8 on standard input ({error})") from None


@app.command(
    epilog='Example: `engramlog add alice "I drink tea every morning" --kind preference` or'
    " `fortune | engramlog add alice - --json`"
)
def add(
    context: typer.Context,
    owner: Owner,
    text: Words,
    category: Annotated[
        str,
        typer.Option(
            help="identity, stable_preference, short_term_preference, fact, skill or temporary: how fast it fades."
        ),
    ] = CATEGORY,
    kind: Annotated[str, typer.Option(help="A word for what it is: preference, lesson, note ...")] = KIND,
    source: Annotated[
        str | None,
        typer.Option(help="user, assistant, judge, system or import; who says so if not given.", show_default=False),
    ] = None,
    memory_id: Annotated[
        str | None, typer.Option("--id", help="Its id; made up if not given.", show_default=False)
    ] = None,
    summary: Summary = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it, by name.", show_default=False)] = None,
    keywords: Keywords = None,
    tags: Tags = None,
    importance: Annotated[
        float | None, typer.Option(help="0 to 10; by its category if not given.", show_default=False)
    ] = None,
    confidence: Annotated[float | None, typer.Option(help="0 to 1; 0.6 if not given.", show_default=False)] = None,
    project: Annotated[str | None, typer.Option(help="The project that it belongs to.", show_default=False)] = None,
    task: Annotated[str | None, typer.Option(help="The task that it belongs to.", show_default=False)] = None,
    turns: Annotated[
        list[str] | None,
        typer.Option("--source-turn", help="A turn that says it; as often as needed.", show_default=False),
    ] = None,
    because: Because = None,
    session: Session = None,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Remember one thing, as it is told: a memory of kind and category `fact` unless you say otherwise.

    Its words are looked at: a password or a number of papers makes it a secret, whose text is shown by `get --reveal` alone.
    Where it is no longer so, `negate` it; to say it better, `edit` it; a conversation goes in by `import turns`.
    """
    content = text_of(text)
    with opened(context) as application:
        answer = application.rememberer.add(
            owner,
            content,
            memory_id=memory_id,
            category=category,
            kind=kind,
            source=source,
            summary=summary,
            speaker=speaker,
            keywords=keywords or (),
            tags=tags or (),
            importance=importance,
            confidence=confidence,
            project=project,
            task=task,
            source_turns=turns or (),
            because=because,
            session=session,
            actor=actor,
            occurred_at=occurred_at,
            key=key,
        )
    done(answer, json)


@app.command(epilog='Example: `engramlog edit alice coffee "I drink coffee at eight every morning"`')
def edit(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    text: Words,
    summary: Summary = None,
    keywords: Keywords = None,
    tags: Tags = None,
    because: Because = None,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Say the same thing better: new words under the same id, the older ones stay readable. Saying the same writes nothing.

    Keywords, tags and the reason replace those before where they are given, and stay where not. Where it became untrue,
    `negate` it.
    """
    content = text_of(text)
    with opened(context) as application:
        answer = application.rememberer.edit(
            owner,
            memory_id,
            content,
            summary=summary,
            keywords=keywords or None,
            tags=tags or None,
            because=because,
            actor=actor,
            occurred_at=occurred_at,
            key=key,
        )
    done(answer, json)


@app.command(epilog="Example: `engramlog mention alice coffee --turn-id D4:7`")
def mention(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    similarity: Annotated[
        float | None, typer.Option(help="How alike what was said is to it, 0 to 1.", show_default=False)
    ] = None,
    turn_id: Annotated[
        str | None, typer.Option("--turn-id", help="The turn in which it was said.", show_default=False)
    ] = None,
    session: Session = None,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Somebody came back to it: it is active from here on, and fades more slowly. Where the user did, a negation is undone."""
    with opened(context) as application:
        answer = application.writer.mention(
            owner,
            memory_id,
            similarity=similarity,
            turn_id=turn_id,
            session=session,
            actor=actor,
            occurred_at=occurred_at,
            key=key,
        )
    done(answer, json)


@app.command(epilog="Example: `engramlog ground alice https://wiki.example.org/flats sha256:9f86d081884c7d65`")
def ground(
    context: typer.Context,
    owner: Owner,
    uri: Annotated[str, typer.Argument(metavar="URI", help="What memories rest on.", show_default=False)],
    digest: Annotated[str, typer.Argument(metavar="DIGEST", help="The digest it has now.", show_default=False)],
    limit: Annotated[int, typer.Option("-k", "--limit", help="Memories at the most, 1 to 1000.")] = 1_000,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Something has this digest now: memories that rest on another one are withheld from normal mode, those on this one come back.

    Reported again it changes nothing. Where more memories rest on it than the limit, the answer says how many are left.
    """
    with opened(context) as application:
        answer = application.grounds.report(
            owner, uri, digest, limit=limit, actor=actor, occurred_at=occurred_at, key=key
        )
    show(answer, json, _reported)
    if "quarantined" in answer:
        raise typer.Exit(3)


def _reported(answer: dict[str, Any], console: Console = out) -> None:
    for name, style in (("withheld", "yellow"), ("back", "green")):
        if answer[name]:
            console.print(Text.assemble((f"{name}: ", style), ", ".join(answer[name])))
    if not answer["withheld"] and not answer["back"]:
        console.print(Text("Nothing changed: no memory rests on it with anything else to know", "dim"))
    if answer["left"]:
        console.print(Text(f"{answer['left']:,} more rest on it: report it again", "yellow"))
    if answer["newer"]:
        console.print(Text(f"of {answer['newer']:,} something newer is known", "dim"))
    console.print(Text(f"position {answer['position']}", "dim"))
