"""A new key and grants, printed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from engramlog_server.api.cli.app import err, out
from engramlog_server.api.cli.show.generic import in_words
from engramlog_server.api.cli.show.memories import told_at
from engramlog_server.projections import shapes


def made(answer: shapes.KeyMade, console: Console = out, aside: Console = err) -> None:
    """The key alone, once, and aside what to do with it: `key new NAME > FILE` leaves a file that holds a key."""
    name = answer["principal"]
    console.print(Text(answer["key"], "bold"), soft_wrap=True)
    ends = "" if answer["expires_at"] is None else f" It ends {told_at(answer['expires_at'], aside)}."
    aside.print(
        Text(
            f"The key of {name}, {answer['key_id']}. It is shown only once: send it over a private channel.{ends}\nUse it"
            " as `Authorization: Bearer ...`, as ENGRAMLOG_TOKEN of the client, or make narrower tokens from it:"
            " `engramlog key narrow`."
        ),
        soft_wrap=True,
    )
    _may(name, answer["grants"], aside)
    if not answer["grants"]:
        aside.print(Text(f"Give it some: engramlog grant {name} --can read --owners NAME", "dim"), soft_wrap=True)


def granted(answer: shapes.GrantsTold, console: Console = out) -> None:
    """Print the grants that a principal has now."""
    if answer["position"] is None:
        console.print(Text("So it was already.", "dim"))
    _may(answer["principal"], answer["grants"], console)


def _may(name: str, grants: Sequence[shapes.GrantHeld], console: Console) -> None:
    if not grants:
        console.print(Text(f"{name} has no grants.", "yellow"), soft_wrap=True)
        return
    console.print(Text(f"{name} may, from the next request on:"), soft_wrap=True)
    for one in grants:
        console.print(Text(f"  {in_words(one)}"), soft_wrap=True)
