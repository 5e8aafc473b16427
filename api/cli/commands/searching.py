"""`engramlog search`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from api.cli.app import AfterOption, AsOfOption, AtOption, Json, KnownOption, Owner, app, opened, out, progress, show
from api.cli.commands.reading import FOLDING, InspectOption, ModeOption, NoTraceOption, TraceOption, traced_as
from api.cli.show import search as render_search
from projections.choices import RANKINGS, SEARCH_MODES

FILTERS = "Filters"
"""Panel of the help text."""


def _some(name: str, text: str) -> Any:
    """A repeatable filter."""
    return typer.Option(name, help=f"{text}; repeatable.", show_default=False, rich_help_panel=FILTERS)


def _one(name: str, text: str) -> Any:
    return typer.Option(name, help=text, show_default=False, rich_help_panel=FILTERS)


@app.command(
    epilog='Examples: `engramlog search conv-26 "When did Caroline go to the support group?" --mode review -k 3`,'
    " `engramlog search alice 咖啡 --since 2026-05-01 --speaker Alice --search-mode keyword`,"
    " `engramlog search alice coffee --as-of 2026-03-03 --known 2026-03-03`"
)
def search(
    context: typer.Context,
    owner: Owner,
    query: Annotated[str, typer.Argument(help="What to look for, in any language.", show_default=False)],
    mode: ModeOption = "normal",
    search_mode: Annotated[
        str,
        typer.Option(help=f"{', '.join(SEARCH_MODES)}; hybrid goes by words where no embedder is configured."),
    ] = "hybrid",
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many results a page, 1 to 100.")] = 5,
    cursor: Annotated[
        str | None, typer.Option(help="The next page: what `next` said, the question unchanged.", show_default=False)
    ] = None,
    ranking: Annotated[
        str,
        typer.Option(
            help="conversation (text and its place), text, published (seed 001's score), overlap (seed 004's) or"
            " associative (what activation reaches)."
        ),
    ] = RANKINGS[0],
    keyword: Annotated[list[str] | None, _some("--keyword", "Only what has this keyword")] = None,
    kind: Annotated[list[str] | None, _some("--kind", "Only this kind of memory (fact, lesson ...)")] = None,
    category: Annotated[list[str] | None, _some("--category", "Only this category (identity, skill ...)")] = None,
    tag: Annotated[list[str] | None, _some("--tag", "Only what has this context tag (late_night ...)")] = None,
    feeling: Annotated[str | None, _one("--feeling", "Only what is positive, negative or urgent.")] = None,
    session: Annotated[str | None, _one("--session", "Only from this session.")] = None,
    project: Annotated[str | None, _one("--project", "Only of this project.")] = None,
    speaker: Annotated[str | None, _one("--speaker", "Only what this speaker said.")] = None,
    since: Annotated[
        str | None,
        _one(
            "--since",
            'Created then or later: 2026-05-01, an instant, or words such as "last week", 上周; of a range its beginning.',
        ),
    ] = None,
    until: Annotated[
        str | None, _one("--until", "Created up to the end of that; the same forms. The answer tells both.")
    ] = None,
    min_relevance: Annotated[float, _one("--min-relevance", "Only at least so relevant, 0 to 1.")] = 0.0,
    min_weight: Annotated[float | None, _one("--min-weight", "Only of at least this weight.")] = None,
    near_project: Annotated[
        str | None, typer.Option(help="This project's memories stand higher under overlap.", show_default=False)
    ] = None,
    associations: Annotated[
        bool, typer.Option("--associations", help="Also what the hits bring to mind, and how.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    trace: TraceOption = False,
    no_trace: NoTraceOption = False,
    inspect: InspectOption = False,
    json: Json = False,
) -> None:
    """Find memories; each tells why it stands where it stands, and the answer tells what was withheld."""
    from api.requests.searching import SearchTerms

    terms = SearchTerms(
        ranking=ranking,
        search_mode=search_mode,
        keywords=keyword or [],
        kinds=kind or [],
        categories=category or [],
        tags=tag or [],
        feeling=feeling,
        session=session,
        project=project,
        near_project=near_project,
        speaker=speaker,
        since=since,
        until=until,
        min_relevance=min_relevance,
        min_weight=min_weight,
        associations=associations,
    )
    present = mode == "normal" and as_of is None and known is None and at is None
    traced = traced_as(trace=trace, no_trace=no_trace, inspect=inspect, present=present)
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.reader.search(
            owner,
            query,
            mode=mode,
            limit=limit,
            cursor=cursor,
            as_of=as_of,
            known=known,
            at=at,
            after=after,
            trace=traced.trace,
            inspect=traced.inspect,
            on_progress=advance,
            **terms,
        )
        empty = (
            not (json or answer["results"])
            and not application.reader.list(owner, mode="debug", limit=1, as_of=as_of, known=known, at=at, after=after)[
                "total"
            ]
        )
    show(answer, json, render_search.explained if explain else render_search.results)
    if empty and not answer["behind"]:
        then = (
            " as of then"
            if as_of is not None or known is not None
            else "; `engramlog stats` names owners that have some"
        )
        out.print(f"Owner [cyan]{escape(owner)}[/] has no memories{then}.", soft_wrap=True)
