"""`engramlog search`."""

from __future__ import annotations

from rich.markup import escape

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.command import Call, command
from engramlog_server.api.cli.show import search as render
from engramlog_server.api.operations.definition import TRACED, Parameter
from engramlog_server.api.operations.reading import SEARCH

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
    """Where nothing is found, whether the owner has anything at all."""
    from engramlog_server.api.operations.reading import LIST

    (explain,) = call.take("explain")
    past = {name: call.given[name] for name in ("as_of", "known", "at")}
    with call.asking() as ask:
        answer = ask(SEARCH, call.given | {"reasons": explain or call.json})
        nobody = (
            not (call.json or answer["results"])
            and not ask(LIST, {"owner": call.given["owner"], "mode": "debug", "limit": 1, **past})["total"]
        )
    call.print(answer, render.explained if explain else render.results)
    if nobody and not answer["behind"]:
        then = (
            " as of then"
            if past["as_of"] is not None or past["known"] is not None
            else "; `engramlog stats` names owners that have some"
        )
        out.print(f"Owner [cyan]{escape(call.given['owner'])}[/] has no memories{then}.", soft_wrap=True)
