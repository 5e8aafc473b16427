"""`engramlog search`."""

from __future__ import annotations

from rich.markup import escape

from api.cli.app import out
from api.cli.made import Call, command
from api.cli.show import search as render
from api.operations.definition import Parameter
from api.operations.searching import SEARCH


@command(SEARCH, more=(Parameter("explain", bool, "Show what each score is made of.", False),))
def search(call: Call) -> None:
    """Where nothing is found, whether the owner has anything at all."""
    from api.operations.reading import LIST

    (explain,) = call.take("explain")
    past = {name: call.given[name] for name in ("as_of", "known", "at", "after")}
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
