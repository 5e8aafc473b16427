"""Where a store's Redis is, by its URL: one server, the nodes of a Cluster, or the Sentinels that know the primary."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from redis.connection import parse_url

Kind = Literal["server", "cluster", "sentinel"]
SCHEMES: dict[str, tuple[Kind, bool]] = {
    "redis": ("server", False),
    "rediss": ("server", True),
    "unix": ("server", False),
    "redis+cluster": ("cluster", False),
    "rediss+cluster": ("cluster", True),
    "redis+sentinel": ("sentinel", False),
    "rediss+sentinel": ("sentinel", True),
}
"""The schemes of a URL: what is there, and whether by TLS."""
PORTS: dict[Kind, int] = {"server": 6379, "cluster": 6379, "sentinel": 26379}
MOST_NODES = 64
"""Addresses that a URL names at most; the others are found by asking these."""
EXAMPLES = (
    "redis://localhost:6379/0, redis+cluster://a:6379,b:6379 or redis+sentinel://s1:26379,s2:26379/primary's-name;"
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
    """Nodes or Sentinels to begin with; none of one server, whose URL redis-py reads."""
    options: dict[str, Any]
    """For redis-py: username, password, db, and the options of the URL's query."""
    service: str
    """What Sentinels call the primary; "" else."""
    tls: bool


def read_address(url: str) -> StoreAddress:
    """The address that a URL tells. Raises ValueError, whose text quotes nothing of it: it may hold a password."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in SCHEMES:
        raise ValueError(f"a URL that begins with {'://, '.join(list(SCHEMES)[:-1])}:// or {list(SCHEMES)[-1]}://")
    kind, tls = SCHEMES[scheme]
    try:
        if kind == "server":
            parse_url(url)  # type: ignore[no-untyped-call]
            _ = urlsplit(url).port
            return StoreAddress(kind, (), {}, "", tls)
        return _several(kind, tls, rest)
    except _Wrong as error:
        raise ValueError(f"{error}; in a URL such as {EXAMPLES}") from None
    except ValueError:
        raise ValueError(f"a URL such as {EXAMPLES}") from None


class _Wrong(ValueError):
    """Something of a URL that is named without quoting it."""


def _several(kind: Kind, tls: bool, rest: str) -> StoreAddress:
    split = urlsplit(f"{'rediss' if tls else 'redis'}://{rest}")
    if split.fragment or "@" in split.path + split.query:
        raise _Wrong("no # and, after the addresses, no @: a password with /, ? or # is cut there")
    who, _, listed = split.netloc.rpartition("@")
    places = tuple(_place(one, PORTS[kind]) for one in listed.split(","))
    if not 1 <= len(places) <= MOST_NODES:
        raise _Wrong(f"1 to {MOST_NODES} addresses")
    service = ""
    if kind == "sentinel":
        service, _, db = split.path.lstrip("/").partition("/")
        service = unquote(service)
        if not service:
            raise _Wrong("the name that Sentinels know the primary by, as the path")
        if db and not (db.isascii() and db.isdigit()):
            raise _Wrong("a database's number, or none, after the name that Sentinels know the primary by")
    else:
        db = split.path.lstrip("/")
        if db not in ("", "0"):
            raise _Wrong("a Cluster has the database 0 alone")
    return StoreAddress(kind, places, _options(split, tls, who, places[0], db), service, tls)


def _options(split: SplitResult, tls: bool, who: str, first: ServerPlace, db: str) -> dict[str, Any]:
    """User, password, database and query, as redis-py reads them of one server."""
    scheme, user = ("rediss" if tls else "redis"), f"{who}@" if who else ""
    query = f"?{split.query}" if split.query else ""
    options: dict[str, Any] = dict(parse_url(f"{scheme}://{user}{first}/{query}"))  # type: ignore[no-untyped-call]
    if "db" in options:
        raise _Wrong("the database in the path, and none in the query")
    options["db"] = int(db or 0)
    for name in ("host", "port", "connection_class"):
        options.pop(name, None)
    return options


def _place(text: str, port: int) -> ServerPlace:
    split = urlsplit(f"redis://{text}")
    if not split.hostname or split.path or split.query or split.fragment or split.username is not None:
        raise _Wrong("a host, or host:port, between commas")
    return ServerPlace(split.hostname, split.port if split.port is not None else port)
