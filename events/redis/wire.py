"""Connections to Redis without retries and without reply handling.

redis-py retries a command ten times, writes included, which is wrong for all that is not idempotent; and its reply handling
costs more than Redis's own work on long replies. A `Wire` sends and receives RESP2 lists of bytes, distinguishes a broken
connection from a refusal, and counts its connections: after a reconnect nothing remembered may be trusted.

Whole tables are read in pages: nothing blocks Redis, and every field that stays comes at least once.
"""

from __future__ import annotations

import errno
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha1
from itertools import chain
from queue import Empty, LifoQueue
from typing import Any

import hiredis
import redis
from redis.exceptions import AskError, ClusterDownError, MovedError, TryAgainError

from engramlog_server.events.errors import EngramlogError, StoreError, StoreFull, StoreUnavailable, UnderReplicated
from engramlog_server.events.keys import SEALED_FIELD, Seals
from engramlog_server.events.partitions import STORE_KEY

Argument = bytes | str | int | float
AGAIN = "the same request can be sent again safely"
_AT_ONCE = 500
"""The most commands in one write."""
TOGETHER_BYTES = 64 * 1024
"""Commands of several partitions share one write up to this size: each write wakes Redis up, which then writes to its append-only
file. Larger ones are sent alone, so that Redis works on them while the next is made."""


class StoreClient(redis.Redis):
    """A client of a store's Redis, with the keys of its seals."""

    seals: Seals

    def open_wire(self) -> Wire:
        """A wire of its own; nothing is connected yet."""
        return ServerWire(self)

    @classmethod
    def of(cls, url: str, seals: Seals, **options: Any) -> StoreClient:
        """A client for a URL, as redis-py makes one."""
        found = cls.from_url(url, **options)
        assert isinstance(found, cls)
        found.seals = seals
        seals.read_check = found.read_check
        return found

    def close(self) -> None:
        """Close every connection, and the key store."""
        super().close()
        if hasattr(self, "seals"):
            self.seals.close()

    def read_check(self) -> bytes | None:
        """The check line of the store; None if there is none, or Redis does not answer."""
        try:
            found = self.hget(STORE_KEY, SEALED_FIELD)
        except (redis.RedisError, OSError, StoreError):
            return None
        return found if isinstance(found, bytes) else None


class Script:
    """A Lua script, known by its SHA1."""

    def __init__(self, name: str, body: str) -> None:
        self.name = name
        self.body = body
        self.sha = sha1(body.encode(), usedforsecurity=False).hexdigest()


def forgotten(script: Script) -> StoreUnavailable:
    """The error if Redis does not know a script right after it was loaded."""
    return StoreUnavailable(f"Redis forgets its scripts at once ({script.name}); {AGAIN}")


_NO_ROOM = os.strerror(errno.ENOSPC)
_PASSING = frozenset({"LOADING", "MASTERDOWN", "BUSY", "CLUSTERDOWN", "TRYAGAIN"})
"""Refusals that end by themselves or after an operator acts."""
_WITHIN = re.compile(r"\A([A-Z]+) |: -([A-Z]+) ")
"""Redis 7 gives a script's refusal its own code; 6.2 wraps it: "Error running script (call to f_..): ..: -OOM command"."""


def refusal_code(error: Exception) -> str:
    """The code of a refusal, such as OOM, READONLY or NOSCRIPT; "" if there is none. redis-py cuts it off the text."""
    told = getattr(error, "status_code", None)
    if told and told != "ERR":
        return str(told)
    found = _WITHIN.search(str(error))
    return found[1] or found[2] if found else ""


READS = frozenset(
    [
        "AUTH",
        "EXISTS",
        "GET",
        "GETRANGE",
        "HEXISTS",
        "HGET",
        "HGETALL",
        "HKEYS",
        "HLEN",
        "HMGET",
        "HSCAN",
        "INFO",
        "LINDEX",
        "LRANGE",
        "PING",
        "SCAN",
        "SCARD",
        "SMEMBERS",
        "SSCAN",
        "STRLEN",
        "TIME",
        "TTL",
        "TYPE",
        "XINFO",
        "XLEN",
        "XRANGE",
        "XREAD",
        "XREVRANGE",
        "ZCARD",
        "ZRANGE",
        "ZSCAN",
    ]
)
"""Commands that write nothing. If the answer to another one is lost, it may have been carried out."""


def as_store_error(error: Exception, *, reading: bool = False) -> EngramlogError:  # noqa: PLR0911 - a table of refusals
    """A redis-py error as one of ours, which says what to do. `reading`: the failed command cannot have written anything."""
    text = str(error)
    if isinstance(error, AskError | TryAgainError | ClusterDownError):  # MOVED is an ASK to redis-py
        told = "lies on another node" if isinstance(error, MovedError) else "is being moved to another node"
        what = (
            "the cluster cannot serve now" if isinstance(error, ClusterDownError) else f"a slot of the cluster {told}"
        )
        about = getattr(error, "about", {})
        return StoreUnavailable(f"{what} ({text}); {AGAIN}", not_done=True, retry_after=1, **about)
    unknown = AGAIN if reading else f"whether it was written is not known, {AGAIN}"
    code = refusal_code(error)
    if code == "OOM":
        return StoreFull(
            f"Redis is at its maxmemory ({text}); free memory or raise maxmemory, then {AGAIN}", retry_after=5
        )
    if code == "NOREPLICAS":
        return StoreUnavailable(
            f"Redis takes no writes ({text}): the disk of its data folder is full, or replicas are lacking; `engramlog alarms` says"
            f" which, {AGAIN}",
            retry_after=5,
        )
    if code == "MISCONF":
        kind = StoreFull if _NO_ROOM in text else StoreUnavailable
        return kind(f"Redis cannot write to its disk ({text}): make room or repair the disk; {AGAIN}", retry_after=5)
    if code == "READONLY":
        return StoreUnavailable(
            f"Redis is read-only ({text}): it is a replica now; {AGAIN} against the primary", retry_after=1
        )
    if code in _PASSING or text.startswith("max number of clients"):
        return StoreUnavailable(f"Redis cannot serve now ({text}); {AGAIN}", retry_after=1)
    if isinstance(error, redis.AuthenticationError):
        return StoreUnavailable(f"Redis does not let us in ({text}): check the user and password of its URL")
    if isinstance(error, redis.TimeoutError):
        return StoreUnavailable(f"Redis did not answer in time ({text}); {unknown}", retry_after=1)
    if isinstance(error, redis.ConnectionError | OSError):
        return StoreUnavailable(f"no connection to Redis ({text}); {unknown}", retry_after=1)
    return StoreUnavailable(f"Redis refused: {text}")


packed: Callable[[tuple[Argument, ...]], bytes] = hiredis.pack_command  # type: ignore[assignment]
"""The bytes of a command. The type stub of hiredis only accepts tuples of one."""


class Wire(ABC):
    """A connection to the servers of a store: one server (`ServerWire`), or the nodes of a Cluster (`ClusterWire`).

    Not for two threads at once."""

    seals: Seals
    """Seals and opens what goes through it; the same for all wires of a client."""
    generation: int
    """Grows with every new connection, and with every slot of a Cluster that moved: nothing remembered may be trusted then."""
    many: bool = False
    """Whether keys are on several servers: the nodes of a Cluster."""
    patience: float = 0.0
    """Seconds for which commands that surely were not carried out are sent again; for one server none are."""
    answer_seconds: float = 0.0
    """How long a node of a Cluster may take to answer; one server may take as long as the client lets it."""

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether a connection of this generation is open; else the next call makes another."""

    @abstractmethod
    def connect(self) -> None:
        """Connect if it is not; a call that follows is sent on this connection, or fails. Raises StoreUnavailable."""

    @abstractmethod
    def close(self) -> None:
        """Drop all connections; the next call makes new ones."""

    @abstractmethod
    def refresh(self) -> None:
        """Drop connections that were cut while they were idle, before anything is sent."""

    @abstractmethod
    def send(self, *arguments: Argument) -> None:
        """Send one command; `receive` returns its answer, in order."""

    @abstractmethod
    def send_together(self, commands: Sequence[bytes]) -> None:
        """Send EVALSHAs that `packed` made, in one write for each server; `receive` returns their answers, in order."""

    @abstractmethod
    def receive(self, *, timeout: float | None = None) -> Any:
        """The next answer. Raises StoreUnavailable on a broken connection, `redis.ResponseError` on a refusal."""

    @abstractmethod
    def call(self, *arguments: Argument) -> Any:
        """One command and its answer; a refusal becomes a StoreError."""

    @abstractmethod
    def pipeline(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """Many commands in one write for each server; the answer to a refused one is its `redis.ResponseError`."""

    def answers(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """The answers to all of these commands, in their order; 500 in one write. Raises StoreError at the first refusal."""
        found: list[Any] = []
        for start in range(0, len(commands), _AT_ONCE):
            for answer in self.pipeline(commands[start : start + _AT_ONCE]):
                if isinstance(answer, redis.ResponseError):
                    raise as_store_error(answer)
                found.append(answer)
        return found

    @abstractmethod
    def load(self, script: Script) -> None:
        """Load a script if its server has not seen it. Raises StoreError."""

    @abstractmethod
    def load_again(self, script: Script) -> None:
        """Load a script that a server does not know any more. Raises StoreError."""

    @abstractmethod
    def evalsha(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> list[Argument]:
        """The command that runs a script, which is loaded first if the server of its keys has not seen it."""

    @abstractmethod
    def run(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> Any:
        """Run a script and return its answer; a refusal becomes a StoreError."""

    @abstractmethod
    def node_of(self, key: Argument) -> str:
        """The server that holds a key: host:port of a node, "" for one server. Raises StoreUnavailable."""

    @abstractmethod
    def servers(self) -> list[tuple[str, ServerWire]]:
        """Every server that holds keys of the store, by name, and the wire to it: for commands about a server. One that cannot be
        reached raises StoreUnavailable once it is asked."""

    @abstractmethod
    def at(self, key: Argument) -> ServerWire:
        """The wire to the server that holds a key, for a command about that server. Raises StoreUnavailable."""

    @abstractmethod
    def standing(self, key: Argument) -> object:
        """The connection to the server that holds a key, as an object that is another after each loss."""

    @abstractmethod
    def about(self, keys: Sequence[Argument], commands: Sequence[Sequence[Argument]]) -> list[list[Any]]:
        """For each key the answers of its server to commands about all that was written through this wire (WAIT, WAITAOF): a
        refusal as its error, nothing of a server that was lost. Raises StoreUnavailable."""


def open_wire(client: redis.Redis) -> Wire:
    """A wire to the server or the Cluster of a client. Nothing is connected yet."""
    return client.open_wire() if isinstance(client, StoreClient) else ServerWire(client)


class ServerWire(Wire):
    """One connection to one server."""

    def __init__(self, client: redis.Redis) -> None:
        self._pool = client.connection_pool
        self.seals = getattr(client, "seals", None) or Seals()
        self._connection: Any = None
        self._loaded: set[str] = set()
        self._outstanding = 0
        self._reading = True
        """Whether all commands without an answer only read."""
        self.generation = 0

    @property
    def is_open(self) -> bool:
        """See `Wire`."""
        return self._connection is not None

    @property
    def peer(self) -> str:
        """The server at the other end, host:port; "" without a connection, or through a socket of this machine."""
        host, port = (getattr(self._connection, name, None) for name in ("host", "port"))
        return f"{host}:{port}" if host else ""

    def _open(self) -> Any:
        if self._connection is None:
            self._loaded.clear()
            self._outstanding = 0
            # Not `make_connection`: the pool counts what it ever made, and refuses for good after a hundred reconnects.
            connection = self._pool.connection_class(**self._pool.connection_kwargs)
            connection.connect()
            self._connection = connection
            self.generation += 1
        return self._connection

    def connect(self) -> None:
        """See `Wire`."""
        try:
            self._open()
        except (redis.RedisError, OSError) as error:
            self.close()
            raise as_store_error(error, reading=True) from error

    def _ready(self, commands: Iterable[Argument]) -> Any:
        """The connection for these commands. Raises StoreUnavailable, with nothing sent."""
        if self._connection is None:
            self.connect()
        if self._outstanding == 0:
            self._reading = True
        self._reading = self._reading and all(command in READS for command in commands)
        return self._connection

    def close(self) -> None:
        """See `Wire`."""
        connection, self._connection = self._connection, None
        self._outstanding = 0
        if connection is not None:
            connection.disconnect()

    def refresh(self) -> None:
        """See `Wire`."""
        try:
            if self._connection is not None and self._connection.can_read():
                self.close()
        except (redis.RedisError, OSError):
            self.close()

    def send(self, *arguments: Argument) -> None:
        """See `Wire`."""
        connection = self._ready(arguments[:1])
        try:
            connection.send_packed_command([packed(arguments)])
            self._outstanding += 1
        except (redis.RedisError, OSError) as error:
            self.close()
            raise as_store_error(error, reading=self._reading) from error

    def send_together(self, commands: Sequence[bytes]) -> None:
        """See `Wire`."""
        connection = self._ready(("EVALSHA",))
        try:
            connection.send_packed_command([b"".join(commands)])
            self._outstanding += len(commands)
        except (redis.RedisError, OSError) as error:
            self.close()
            raise as_store_error(error, reading=self._reading) from error

    def receive(self, *, timeout: float | None = None) -> Any:
        """See `Wire`."""
        connection = self._connection
        if connection is None:
            raise StoreUnavailable(f"the connection to Redis was lost before it answered; {AGAIN}", retry_after=1)
        try:
            answer = connection.read_response() if timeout is None else connection.read_response(timeout=timeout)
        except redis.ResponseError:
            self._outstanding -= 1
            raise
        except (redis.RedisError, OSError) as error:
            self.close()
            raise as_store_error(error, reading=self._reading) from error
        self._outstanding -= 1
        return answer

    def answers_within(self, seconds: float) -> bool:
        """Whether an answer begins to arrive within so many seconds, or the connection broke. Reads nothing."""
        try:
            return self._connection is None or bool(self._connection.can_read(timeout=seconds))
        except (redis.RedisError, OSError):
            return True  # `receive` says how

    def call(self, *arguments: Argument) -> Any:
        """See `Wire`."""
        self.send(*arguments)
        try:
            return self.receive()
        except redis.ResponseError as error:
            raise as_store_error(error) from error

    def send_all(self, commands: Sequence[Sequence[Argument]]) -> None:
        """Send many commands in one write; `receive` returns their answers, in order."""
        connection = self._ready(one[0] for one in commands)
        try:
            connection.send_packed_command([b"".join([packed(tuple(one)) for one in commands])])
            self._outstanding += len(commands)
        except (redis.RedisError, OSError) as error:
            self.close()
            raise as_store_error(error, reading=self._reading) from error

    def pipeline(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """See `Wire`."""
        self.send_all(commands)
        answers = []
        for _ in commands:
            try:
                answers.append(self.receive())
            except redis.ResponseError as error:
                answers.append(error)
        return answers

    def load(self, script: Script) -> None:
        """See `Wire`."""
        if script.sha not in self._loaded or self._connection is None:
            self.load_again(script)

    def load_again(self, script: Script) -> None:
        """See `Wire`."""
        self.call("SCRIPT", "LOAD", script.body)
        self._loaded.add(script.sha)

    def evalsha(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> list[Argument]:
        """See `Wire`."""
        self.load(script)
        return ["EVALSHA", script.sha, len(keys), *keys, *arguments]

    def run(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> Any:
        """See `Wire`."""
        for _ in range(2):
            self.send(*self.evalsha(script, keys, arguments))
            try:
                return self.receive()
            except redis.ResponseError as error:
                if refusal_code(error) != "NOSCRIPT":
                    raise as_store_error(error) from error
                self._loaded.discard(script.sha)
        raise forgotten(script)

    def node_of(self, key: Argument) -> str:  # noqa: ARG002
        """See `Wire`."""
        return ""

    def servers(self) -> list[tuple[str, ServerWire]]:
        """See `Wire`."""
        return [("", self)]

    def at(self, key: Argument) -> ServerWire:  # noqa: ARG002
        """See `Wire`."""
        return self

    def standing(self, key: Argument) -> object:  # noqa: ARG002
        """See `Wire`."""
        return self.generation

    def about(self, keys: Sequence[Argument], commands: Sequence[Sequence[Argument]]) -> list[list[Any]]:
        """See `Wire`."""
        return [self.pipeline(commands)] * len(keys) if keys else []


_OF_ONE_NODE = {"node", "slot"}
"""Fields of an error that is about a part of a Cluster."""


class WirePool:
    """Wires for threads that each need one for the length of a call."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._idle: LifoQueue[Wire] = LifoQueue()

    @contextmanager
    def wire(self) -> Iterator[Wire]:
        """A wire for one caller. After an error its connection is dropped, because its state is unknown."""
        try:
            wire = self._idle.get_nowait()
            wire.refresh()
        except Empty:
            wire = open_wire(self._client)
        try:
            yield wire
        except UnderReplicated:  # all was answered
            raise
        except BaseException as error:
            wire.close()
            if isinstance(error, StoreUnavailable) and not error.context.keys() & _OF_ONE_NODE:
                self.close()  # the other connections are broken too
            raise
        finally:
            self._idle.put(wire)

    def close(self) -> None:
        """Close every idle connection; the next calls make new ones."""
        idle = []
        with suppress(Empty):
            while True:
                idle.append(self._idle.get_nowait())
        for wire in idle:
            wire.close()
            self._idle.put(wire)


def server_run(wire: Wire) -> bytes | None:
    """The id of the server process behind a wire, another after each restart; None if it does not say."""
    wire.send("INFO", "server")
    try:
        answer = wire.receive()
    except redis.ResponseError:
        return None
    lines = answer.splitlines() if isinstance(answer, bytes) else []
    return next((line[7:] for line in lines if line.startswith(b"run_id:")), None)


def all_runs(wire: Wire) -> bytes | None:
    """The ids of all servers together, other ones after each restart and failover; None if one does not say."""
    runs = [server_run(one) for _, one in wire.servers()]
    return b" ".join(run for run in runs if run) if all(runs) else None


def run_many(wire: Wire, script: Script, asked: Sequence[tuple[Sequence[Argument], Sequence[Argument]]]) -> list[Any]:
    """The answers to a script run for each (keys, arguments), in their order. Raises StoreError at the first refusal; what was
    sent with it may have been carried out.
    """
    found: list[Any] = []
    for start in range(0, len(asked), _AT_ONCE):
        some = asked[start : start + _AT_ONCE]
        answers = wire.pipeline([wire.evalsha(script, keys, arguments) for keys, arguments in some])
        for (keys, arguments), answer in zip(some, answers, strict=True):
            if isinstance(answer, redis.ResponseError):
                if refusal_code(answer) != "NOSCRIPT":
                    raise as_store_error(answer) from answer
                found.append(wire.run(script, keys, arguments))  # the server forgot it; `run` loads it anew
            else:
                found.append(answer)
    return found


@contextmanager
def in_haste(wire: Wire, seconds: float = 0.0) -> Iterator[None]:
    """What is asked down a wire waits so long at most for what a Cluster cannot do yet; of one server nothing ever does."""
    patience, wire.patience = wire.patience, min(seconds, wire.patience)
    try:
        yield
    finally:
        wire.patience = patience


PAGE = 500
TABLES_AT_ONCE = 32


def pairs(wire: Wire, key: str) -> Iterator[tuple[bytes, bytes]]:
    """Fields and values of a hash."""
    for page in _pages(wire, "HSCAN", key):
        yield from zip(page[::2], page[1::2], strict=True)


def tables(wire: Wire, keys: Sequence[str]) -> Iterator[tuple[str, list[tuple[bytes, bytes]]]]:
    """Each of these hashes with its fields and values; the first pages of several are asked for at once."""
    for at in range(0, len(keys), TABLES_AT_ONCE):
        some = keys[at : at + TABLES_AT_ONCE]
        for key, (cursor, first) in zip(
            some, wire.answers([["HSCAN", key, 0, "COUNT", PAGE] for key in some]), strict=True
        ):
            pages = chain([first], _pages(wire, "HSCAN", key, cursor=cursor) if cursor != b"0" else ())
            yield key, [pair for page in pages for pair in zip(page[::2], page[1::2], strict=True)]


def members(wire: Wire, key: str) -> Iterator[tuple[bytes, bytes]]:
    """Members and scores of a sorted set, scores as Redis writes them."""
    for page in _pages(wire, "ZSCAN", key):
        yield from zip(page[::2], page[1::2], strict=True)


def elements(wire: Wire, key: str) -> Iterator[bytes]:
    """Members of a set."""
    for page in _pages(wire, "SSCAN", key):
        yield from page


def keys_like(wire: Wire, pattern: str) -> Iterator[tuple[bytes, bytes]]:
    """Keys and their types."""
    seen: set[bytes] = set()
    for page in chain.from_iterable(_pages(one, "SCAN", None, "MATCH", pattern) for _, one in wire.servers()):
        fresh = [key for key in page if key not in seen]
        seen.update(fresh)
        if fresh:
            yield from zip(fresh, wire.pipeline([["TYPE", key] for key in fresh]), strict=True)


def _pages(wire: Wire, command: str, key: str | None, *more: Argument, cursor: bytes = b"0") -> Iterator[list[bytes]]:
    while True:
        cursor, page = wire.call(command, *([] if key is None else [key]), cursor, *more, "COUNT", PAGE)
        yield page
        if cursor == b"0":
            return
