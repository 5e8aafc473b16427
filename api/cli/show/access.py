"""Keys, grants, and who looked at what, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from api import shapes
from api.cli.app import err, out
from api.cli.show.memories import told_at
from api.cli.show.tables import Column, Row, tabulate, words

STATES = {"live": "green", "expired": "yellow", "revoked": "red"}
EVENTS = {"KeyIssued": "key made", "KeyRevoked": "key revoked", "GrantsSet": "grants set"}
"""Types of events in words."""


def in_words(grant: shapes.GrantHeld) -> str:
    """A grant in a line: what, of whom, and what is not as it is unless told."""
    parts = [f"{', '.join(grant['verbs'])} of {', '.join(grant['owners'])}"]
    if grant["modes"] != ["normal"]:
        parts.append(f"by {', '.join(grant['modes'])}")
    if grant["sensitivity"] != 2:
        parts.append(f"up to sensitivity {grant['sensitivity']}")
    parts.append(f"as {', '.join(grant['actors']) or 'nobody'}, {grant['trust']} at most")
    return "; ".join(parts)


def all_in_words(grants: Sequence[shapes.GrantHeld]) -> Text:
    """Grants, one a line."""
    return Text("\n".join(map(in_words, grants)) or "nothing", "" if grants else "yellow")


def made(answer: shapes.KeyMade, console: Console = out, aside: Console = err) -> None:
    """The key alone, once, and aside what to do with it: `key new NAME > FILE` leaves a file that holds a key."""
    name = answer["principal"]
    console.print(Text(answer["key"], "bold"), soft_wrap=True)
    ends = "" if answer["expires_at"] is None else f" It ends {told_at(answer['expires_at'], aside)}."
    aside.print(
        Text(
            f"The key of {name}, {answer['key_id']}, told this once: give it to him by a way that nobody else reads.{ends}\n"
            f"He shows it as `Authorization: Bearer ...`, as ENGRAMLOG_TOKEN of the client, or makes tokens of it that do less:"
            " `engramlog key narrow`."
        ),
        soft_wrap=True,
    )
    _may(name, answer["grants"], aside)
    if not answer["grants"]:
        aside.print(Text(f"Say what: engramlog grant {name} --can read --owners NAME", "dim"), soft_wrap=True)


def granted(answer: shapes.GrantsTold, console: Console = out) -> None:
    """What he may do from here on."""
    if answer["position"] is None:
        console.print(Text("So it was already.", "dim"))
    _may(answer["principal"], answer["grants"], console)


def _may(name: str, grants: Sequence[shapes.GrantHeld], console: Console) -> None:
    if not grants:
        console.print(Text(f"{name} may do nothing.", "yellow"), soft_wrap=True)
        return
    console.print(Text(f"{name} may, from the next request on:"), soft_wrap=True)
    for one in grants:
        console.print(Text(f"  {in_words(one)}"), soft_wrap=True)


def revoked(answer: shapes.KeyRevokedTold, console: Console = out) -> None:
    """Whether it was revoked by this."""
    told = f"the key {answer['key_id']} of {answer['principal']}"
    if answer["revoked"]:
        console.print(
            Text.assemble(("revoked", "green"), f": {told}, and every token made of it, opens nothing any more")
        )
    else:
        console.print(Text(f"{told} was revoked before", "dim"))


def keys(answer: shapes.AccessTold, console: Console = out) -> None:
    """Every key of every principal; who has none is told by his name alone."""
    rows = [row for one in answer["principals"] for row in _keys_of(one)]
    if not rows:
        console.print(
            "no keys: nobody but this user opens the store. The first: engramlog key new NAME --can use --owners NAME"
            " --speak-as user,assistant --trust asserted"
        )
        return
    columns = (
        Column("principal"),
        Column("key", "key_id", style="cyan"),
        Column("state", show=lambda state: Text(state, STATES.get(state, "dim"))),
        Column("made", "issued_at", if_room=True, is_time=True),
        Column("ends", is_time=True),
        words("may", "grants", all_in_words),
    )
    tabulate(columns, rows, console)


def _keys_of(one: shapes.PrincipalKnown) -> list[Row]:
    no_key = {"key_id": None, "state": "no key", "issued_at": None, "ends": None}
    return [{**one, **key, "ends": _end(key)} for key in one["keys"]] or [{**one, **no_key}]


def _end(key: shapes.KeyKnown) -> str | None:
    """When it ended or ends, whichever is first."""
    return min((one for one in (key["revoked_at"], key["expires_at"]) if one is not None), default=None)


def access(answer: shapes.AccessTold, console: Console = out) -> None:
    """Who may do what, and who said so."""
    console.print(Text(f"as of {told_at(answer['at'], console)}", "dim"))
    if not answer["principals"]:
        console.print("nobody but this user opens the store")
        return
    live = Column("live keys", "keys", _live, style="cyan")
    tabulate((Column("principal"), live, words("may", "grants", all_in_words)), answer["principals"], console)
    console.print()
    columns = (
        Column("recorded", "recorded_at", is_time=True),
        Column("said", "event", lambda event: EVENTS.get(event, event)),
        Column("principal"),
        Column("key", style="cyan", if_room=True),
        Column("by"),
        words("reason"),
    )
    tabulate(columns, answer["events"], console)


def _live(keys: Sequence[shapes.KeyKnown]) -> str:
    return ", ".join(key["key_id"] for key in keys if key["state"] == "live") or "-"
