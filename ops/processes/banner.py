"""What `engramlog up` shows once it serves: where, what to try, and how it ends. Lines of at most 80 columns where paths allow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from engramlog_server.api.choices import CURL
from engramlog_server.projections.shapes import ListeningTold


class ConsoleLink(NamedTuple):
    """What opens the console, once."""

    url: str
    ends_in: int
    """Seconds."""
    state: Callable[[], str]
    """What became of its code: `waits`, `used`, `over`, `unknown`."""


class Served(NamedTuple):
    """What serves, and where."""

    url: str
    version: str
    data: Path | None
    """The data folder, where it is not the default one: other terminals must be told."""
    owner: str | None
    """An owner that has memories, to try things on; None in an empty store."""
    console: ConsoleLink | None = None
    listening: ListeningTold | None = None
    """How it is asked, where it is open to others."""


def banner(served: Served) -> str:
    """The text, with a line end."""
    owner = quote(served.owner or "alice")
    first = [] if served.owner else ['engramlog add alice "I drink coffee every morning"']
    other = [f"export ENGRAMLOG_DATA={quote(str(served.data))}"] if served.data else []
    agent = (
        f"engramlog mcp --owner {owner} --config"
        if served.data
        else f"claude mcp add memory -- engramlog mcp --owner {owner}"
    )
    link = []
    if served.console is not None:
        link = ["  console  opens once, within 10 minutes; later: engramlog console", f"  {served.console.url}", ""]
    looks = f"{CURL} {served.url}/v1/status" if served.listening is None else "engramlog status"
    tries = [*other, *first, f'engramlog search {owner} "coffee"', agent, looks]
    return "\n".join(
        [
            "",
            f"  Engramlog {served.version} serves at {served.url}",
            *([] if served.listening is None else [f"  {_way(served.listening)}"]),
            "",
            *link,
            f"  docs  {served.url}/docs",
            "  try   in another terminal:",
            *(f"        {line}" for line in tries),
            "  stop  Ctrl-C",
            "",
            "",
        ]
    )


def _way(told: ListeningTold) -> str:
    """In which way it is open to others."""
    by = "through its declared proxy" if told["by"] == "proxy" else "by TLS"
    ends = f"; its certificate ends {told['certificate_ends'][:10]}" if told["certificate_ends"] else ""
    return f"open to others {by}, with a key{ends}"
