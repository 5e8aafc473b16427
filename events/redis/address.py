"""Where a store's Redis is, by its URL: one server, or the nodes of a Cluster."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

Kind = Literal["server", "cluster"]
SCHEMES: dict[str, tuple[Kind, bool]] = {
    "redis": ("server", False),
    "rediss": ("server", True),
    "unix": ("server", False),
    "redis+cluster": ("cluster", False),
    "rediss+cluster": ("cluster", True),
}
"""The schemes of a URL: what is there, and whether by TLS."""
PORT = 6379
MOST_NODES = 64
"""Addresses that a URL names at most; the others are found by asking these."""
EXAMPLES = (
    "redis://localhost:6379/0 or redis+cluster://a:6379,b:6379;"
    " in a user or password @ is written %40, / %2F, : %3A, # %23"
)


class ServerPlace(NamedTuple):
    """A host and its port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class StoreAddress(NamedTuple):
    """What a URL says."""

    kind: Kind
    places: tuple[ServerPlace, ...]
    """Nodes to begin with; none of one server, whose URL redis-py reads."""
    options: dict[str, Any]
    """For redis-py: username, password, db, and the options of the URL's query."""
    tls: bool


def read_address(url: str) -> StoreAddress:
    """The address that a URL tells. Raises ValueError, whose text quotes nothing of it: it may hold a password."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in SCHEMES:
        raise ValueError(f"a URL that begins with {'://, '.join(list(SCHEMES)[:-1])}:// or {list(SCHEMES)[-1]}://")
    kind, tls = SCHEMES[scheme]
    try:
        if kind == "server":
            _parsed(url)
            _ = urlsplit(url).port
            return StoreAddress(kind, (), {}, tls)
        return _nodes(tls, rest)
    except _Wrong as error:
        raise ValueError(f"{error}; in a URL such as {EXAMPLES}") from None
    except ValueError:
        raise ValueError(f"a URL such as {EXAMPLES}") from None


def _parsed(url: str) -> dict[str, Any]:
    """What redis-py reads of the URL of one server."""
    from redis.connection import parse_url  # noqa: PLC0415 - settings name a server seldom, and redis-py takes 60 ms

    return dict(parse_url(url))  # type: ignore[no-untyped-call]


class _Wrong(ValueError):
    """Something of a URL that is named without quoting it."""


def _nodes(tls: bool, rest: str) -> StoreAddress:
    split = urlsplit(f"{'rediss' if tls else 'redis'}://{rest}")
    if split.fragment or "@" in split.path + split.query:
        raise _Wrong("no # and, after the addresses, no @: a password with /, ? or # is cut there")
    who, _, listed = split.netloc.rpartition("@")
    places = tuple(_place(one) for one in listed.split(","))
    if not 1 <= len(places) <= MOST_NODES:
        raise _Wrong(f"1 to {MOST_NODES} addresses")
    if split.path.lstrip("/") not in ("", "0"):
        raise _Wrong("a Cluster has the database 0 alone")
    return StoreAddress("cluster", places, _options(split, tls, who, places[0]), tls)


def _options(split: SplitResult, tls: bool, who: str, first: ServerPlace) -> dict[str, Any]:
    """User, password, database and query, as redis-py reads them of one server."""
    scheme, user = ("rediss" if tls else "redis"), f"{who}@" if who else ""
    query = f"?{split.query}" if split.query else ""
    options: dict[str, Any] = _parsed(f"{scheme}://{user}{first}/{query}")
    if "db" in options:
        raise _Wrong("the database in the path, and none in the query")
    options["db"] = 0
    for name in ("host", "port", "connection_class"):
        options.pop(name, None)
    return options


def _place(text: str) -> ServerPlace:
    split = urlsplit(f"redis://{text}")
    if not split.hostname or split.path or split.query or split.fragment or split.username is not None:
        raise _Wrong("a host, or host:port, between commas")
    return ServerPlace(split.hostname, split.port if split.port is not None else PORT)
