"""Keys, grants, and who looked at what, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from api.cli.app import err, out
from api.cli.show.memories import told_at, when
from api.cli.show.tables import Cell, Column, tabulate
from projections import shapes

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
    rows = [row for one in answer["principals"] for row in _keys_of(one, console)]
    if not rows:
        console.print(
            "no keys: nobody but this user opens the store. The first: engramlog key new NAME --can use --owners NAME"
            " --speak-as user,assistant --trust asserted"
        )
        return
    columns = (
        Column("principal"), Column("key", "cyan"), Column("state"), Column("made", if_room=True, is_time=True),
        Column("ends", is_time=True), Column("may", takes_rest=True),
    )  # fmt: skip
    tabulate(columns, rows, console)


def _keys_of(one: shapes.PrincipalKnown, console: Console) -> list[dict[str, Cell]]:
    known: dict[str, Cell] = {"principal": Text(one["principal"]), "may": all_in_words(one["grants"])}
    if not one["keys"]:
        return [{**known, "key": "-", "state": Text("no key", "dim"), "made": "-", "ends": "-"}]
    return [
        {
            **known,
            "key": key["key_id"],
            "state": Text(key["state"], STATES[key["state"]]),
            "made": when(key["issued_at"], console),
            "ends": _end(key, console),
        }
        for key in one["keys"]
    ]


def _end(key: shapes.KeyKnown, console: Console) -> str:
    """When it ended or ends, whichever is first."""
    ends = [one for one in (key["revoked_at"], key["expires_at"]) if one is not None]
    return when(min(ends), console) if ends else "-"


def access(answer: shapes.AccessTold, console: Console = out) -> None:
    """Who may do what, and who said so."""
    console.print(Text(f"as of {told_at(answer['at'], console)}", "dim"))
    if not answer["principals"]:
        console.print("nobody but this user opens the store")
        return
    rows: list[dict[str, Cell]] = [
        {
            "principal": Text(one["principal"]),
            "live keys": ", ".join(key["key_id"] for key in one["keys"] if key["state"] == "live") or "-",
            "may": all_in_words(one["grants"]),
        }
        for one in answer["principals"]
    ]
    tabulate((Column("principal"), Column("live keys", "cyan"), Column("may", takes_rest=True)), rows, console)
    console.print()
    said: list[dict[str, Cell]] = [
        {
            "recorded": when(one["recorded_at"], console),
            "said": EVENTS.get(one["event"], one["event"]),
            "principal": Text(one["principal"] or "-"),
            "key": one["key"] or "-",
            "by": Text(one["by"] or "-"),
            "reason": Text(one["reason"]),
        }
        for one in answer["events"]
    ]
    columns = (
        Column("recorded", is_time=True), Column("said"), Column("principal"), Column("key", "cyan", if_room=True),
        Column("by"), Column("reason", takes_rest=True),
    )  # fmt: skip
    tabulate(columns, said, console)


def reads(answer: shapes.ReadsTold, console: Console = out) -> None:
    """A page of who looked at what, and who was refused."""
    if not answer["reads"]:
        console.print("nobody looked at anything that is recorded, and nobody was refused")
    else:
        rows: list[dict[str, Cell]] = [
            {
                "recorded": when(one["recorded_at"], console),
                "principal": Text(one["principal"] or "-"),
                "key": one["key_id"] or "-",
                "token": Text(one["token"] or ""),
                "what": Text(one["what"] or "-", "red" if one["what"] == "denied" else ""),
                "call": one["call"] or "-",
                "whose": Text(one["whose"] or "-"),
                "times": f"{one['times']:,}",
            }
            for one in answer["reads"]
        ]
        columns = (
            Column("recorded", is_time=True), Column("principal"), Column("key", "cyan", if_room=True),
            Column("token", if_room=True), Column("what"), Column("call", if_room=True), Column("whose", takes_rest=True),
            Column("times", right=True),
        )  # fmt: skip
        tabulate(columns, rows, console)
    if answer["next"] is not None:
        console.print(Text(f"more: --cursor {answer['next']}", "dim"), soft_wrap=True)
