"""A wire to all nodes of a cluster behind the face of one: each command goes to the node that holds its key.

What cannot have been carried out (a slot that lies elsewhere, that is being moved, that nobody serves, a node that cannot be
reached) is sent again for as long as `patience` says; whatever was sent and not answered is told, as by a wire to one server.
`generation` grows with every connection that is lost and every slot that lies elsewhere than before: what was remembered of either
may be another history.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

import redis
from redis.exceptions import AskError, ClusterDownError, MovedError, TryAgainError

from events.errors import StoreUnavailable
from events.redis.cluster.routing import (
    Elsewhere,
    ReadMany,
    as_key,
    key_of,
    key_of_packed,
    merged,
    read_many,
    slot_of,
    spread,
    word,
)
from events.redis.cluster.slot_map import Node
from events.redis.wire import AGAIN, Argument, Script, Wire, as_store_error

if TYPE_CHECKING:
    from events.redis.cluster.client import ClusterClient

_T = TypeVar("_T")
PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.02, 0.2
"""Between two tries of what cannot be carried out yet: at first, and at most."""
POLL_SECONDS, POLL_EACH = 0.02, 0.001
"""How often streams of several slots are looked at while none has anything: at least so far apart, and so much for each."""
NOT_DONE = (AskError, TryAgainError, ClusterDownError)
"""Refusals (MOVED is an ASK to redis-py) after which a command was surely not carried out, and may be later."""


class _Lost:
    """An answer that never comes."""

    def __init__(self, error: StoreUnavailable) -> None:
        self.error = error


class _Part:
    """An answer that a node owes."""

    def __init__(self, node: str, link: Wire) -> None:
        self.node = node
        self.link = link


class _Fan:
    """What several nodes owe to one XREAD."""

    def __init__(self, many: ReadMany, parts: list[_Part | _Lost]) -> None:
        self.many = many
        self.parts = parts
        self.until = None if many.block_ms is None else monotonic() + many.block_ms / 1_000


class ClusterWire(Wire):
    """Not for two threads at once, as every wire."""

    many = True

    def __init__(self, client: ClusterClient) -> None:
        self.seals = client.seals
        self.patience = client.patience
        self._map = client.slots
        self._links: dict[str, Wire] = {}
        self._at: dict[int, str] = {}
        """By slot the node that it was used on last: where that changes, what is remembered may be of another history."""
        self._scripts: dict[str, Script] = {}
        """What every node is to know once it is connected."""
        self._owed: deque[_Part | _Lost | _Fan] = deque()
        self.generation = 1

    @property
    def is_open(self) -> bool:
        """Whether any node is connected in this generation."""
        return bool(self._links)

    def connect(self) -> None:
        """Know the cluster's nodes; each is connected once something is sent to it. Raises StoreUnavailable."""
        self._map.primaries()

    def close(self) -> None:
        """Drop all connections."""
        links, self._links = self._links, {}
        self._at.clear()
        self._owed.clear()
        self.generation += bool(links)
        for link in links.values():
            link.close()

    def refresh(self) -> None:
        """Drop connections that were cut while they were idle."""
        for name, link in list(self._links.items()):
            link.refresh()
            if not link.is_open:
                self._lose(name)

    def node_of(self, key: Argument) -> str:
        """The node that holds a key, host:port. Raises StoreUnavailable."""
        return self._map.node_of(slot_of(as_key(key))).name

    def servers(self) -> list[tuple[str, Wire]]:
        """Each primary by name and the wire to it. Raises StoreUnavailable where nobody tells the nodes."""
        found = []
        for node in self._map.primaries():
            try:
                found.append((node.name, self._linked(node)))
            except StoreUnavailable:
                found.append((node.name, Wire(node.client)))  # which says so once it is asked
        return found

    def beside(self, name: str) -> Wire:
        """A wire of one's own to a node that holds no slots, such as a replica, for a command about that server."""
        return Wire(self._map.beside(name))

    def at(self, key: Argument) -> Wire:
        """The wire to the node that holds a key, for a command about that server. Raises StoreUnavailable."""
        return self._patient(lambda: self._link(slot_of(as_key(key)))[1])

    # What is sent now and answered later: nothing is sent again.

    def send(self, *arguments: Argument) -> None:
        """Send one command; its answer is had by `receive`, in order."""
        many = read_many(arguments)
        if many is None or (len(many.streams) == 1 and many.block_ms is None):
            self._owed.append(self._sent(arguments))
        else:
            self._owed.append(_Fan(many, self._ask_all(many)))

    def send_together(self, commands: Sequence[bytes]) -> None:
        """Send packed EVALSHAs, in one write a node."""
        by_node: dict[str, tuple[Wire, list[bytes]]] = {}
        owed: list[_Part | _Lost] = []
        for command in commands:
            try:
                name, link = self._link(slot_of(key_of_packed(command)))
            except StoreUnavailable as error:
                owed.append(_Lost(error))
                continue
            by_node.setdefault(name, (link, []))[1].append(command)
            owed.append(_Part(name, link))
        self._owed.extend(owed)
        for name, (link, some) in by_node.items():
            try:
                link.send_together(some)
            except StoreUnavailable as error:
                self._lose(name, error)

    def receive(self, *, timeout: float | None = None) -> Any:
        """The next answer. Raises StoreUnavailable where its node was lost, `redis.ResponseError` on a refusal."""
        if not self._owed:
            raise StoreUnavailable(f"the connection to Redis was lost before it answered; {AGAIN}", retry_after=1)
        owed = self._owed.popleft()
        if isinstance(owed, _Fan):
            return self._read_all(owed, timeout)
        answer = self._answer(owed, timeout)
        if isinstance(answer, Exception):
            raise answer
        return answer

    # What is sent and answered at once: sent again where it cannot have been carried out.

    def call(self, *arguments: Argument) -> Any:
        """One command and its answer; a refusal becomes a StoreError."""

        def once() -> Any:
            if read_many(arguments) is not None:
                self.send(*arguments)
                return self.receive()
            parts = spread(arguments)
            owed = [self._sent(part) for part in parts]
            answer = merged([self._answer(one) for one in owed])
            if isinstance(answer, Exception):
                raise answer
            return answer

        try:
            return self._patient(once)
        except redis.ResponseError as error:
            raise as_store_error(error) from error

    def pipeline(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """Many commands in one write a node; an answer that is a refusal stands as its `redis.ResponseError`."""
        answers = self._pipelined(commands)
        end, pause = monotonic() + self.patience, PAUSE_SECONDS
        while again := self._not_done(commands, answers):
            if monotonic() >= end:
                if lost := next((one for one in answers if isinstance(one, StoreUnavailable)), None):
                    raise lost
                break
            pause = self._wait(pause, [answers[i] for i in again])
            for i, answer in zip(again, self._pipelined([commands[i] for i in again]), strict=True):
                answers[i] = answer
        return answers

    def load(self, script: Script) -> None:
        """Have every node know a script once it is connected. Raises StoreError."""
        self._scripts[script.sha] = script
        for name, link in list(self._links.items()):
            try:
                link.load(script)
            except StoreUnavailable as error:
                self._lose(name, error)

    def load_again(self, script: Script) -> None:
        """Load a script that a node did not know any more."""
        self._scripts[script.sha] = script
        for name, link in list(self._links.items()):
            try:
                link.load_again(script)
            except StoreUnavailable as error:
                self._lose(name, error)

    def evalsha(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> list[Argument]:
        """The command that runs a script, which is loaded on the node of its keys."""
        name, link = self._link(slot_of(as_key(keys[0])))
        try:
            link.load(script)
        except StoreUnavailable as error:
            self._lose(name, error)
            raise self._told(name, error) from error
        return ["EVALSHA", script.sha, len(keys), *keys, *arguments]

    def run(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> Any:
        """Run a script and give its answer; a refusal becomes a StoreError."""
        slot = slot_of(as_key(keys[0]))

        def once() -> Any:
            name, link = self._link(slot)
            try:
                return link.run_once(script, keys, arguments)
            except StoreUnavailable as error:
                self._lose(name, error)
                raise self._told(name, error) from error

        try:
            return self._patient(once)
        except redis.ResponseError as error:
            raise as_store_error(error) from error

    def about(self, keys: Sequence[Argument], commands: Sequence[Sequence[Argument]]) -> list[list[Any]]:
        """For each key what its node answers to commands about all that was written down this wire; nothing of one that was
        lost."""
        names = [self._at.get(slot_of(as_key(key)), "") for key in keys]
        asked: dict[str, list[_Part | _Lost]] = {}
        for name in dict.fromkeys(names):
            if (link := self._links.get(name)) is not None:
                asked[name] = [self._sent_on(name, link, command) for command in commands]
        told = {name: [self._answer(one) for one in owed] for name, owed in asked.items()}
        return [[] if _is_lost(told.get(name, ())) else told.get(name, []) for name in names]

    # How it is done.

    def _link(self, slot: int) -> tuple[str, Wire]:
        """The node of a slot and a connection to it. Raises StoreUnavailable, with nothing sent."""
        node = self._map.node_of(slot)
        before = self._at.get(slot)
        if before is not None and before != node.name:
            self._at.clear()
            self.generation += 1
            raise StoreUnavailable(
                f"slot {slot} of the cluster lies on {node.name} now, and no more on {before}; {AGAIN}",
                retry_after=1,
                not_done=True,
            )
        link = self._linked(node)
        self._at[slot] = node.name
        return node.name, link

    def _linked(self, node: Node) -> Wire:
        """A connection to a node. Raises StoreUnavailable, with nothing sent."""
        link = self._links.get(node.name)
        if link is not None and link.is_open:
            return link
        if link is not None:  # it broke while somebody asked about the server
            self._lose(node.name)
        link = Wire(node.client)
        link.seals = self.seals
        try:
            link.connect()
            for script in self._scripts.values():
                link.load(script)
        except StoreUnavailable as error:
            link.close()
            self._map.refresh()
            raise self._told(node.name, error, not_done=True) from error
        self._links[node.name] = link
        return link

    def _told(self, name: str, error: StoreUnavailable, *, not_done: bool = False) -> StoreUnavailable:
        if error.context.get("node") == name:
            return error
        told = {"retry_after": 1, **error.context, "node": name}
        found = StoreUnavailable(f"node {name} of the cluster: {error.message}", not_done=not_done, **told)
        found.__cause__ = error
        return found

    def _lose(self, name: str, error: StoreUnavailable | None = None) -> None:
        """Drop a node's connection; what it owes never comes."""
        link = self._links.pop(name, None)
        if link is None:
            return
        link.close()
        self.generation += 1
        lost = self._told(name, error or StoreUnavailable(f"the connection was cut; {AGAIN}", retry_after=1))
        self._owed = deque(_lost_of(one, name, lost) for one in self._owed)
        self._map.refresh()

    def _sent(self, command: Sequence[Argument]) -> _Part | _Lost:
        key = key_of(command)
        if key is None:
            raise Elsewhere(f"{word(command[0])} is about a server: say which, by `servers` or `at`")
        try:
            name, link = self._link(slot_of(key))
        except StoreUnavailable as error:
            return _Lost(error)
        return self._sent_on(name, link, command)

    def _sent_on(self, name: str, link: Wire, command: Sequence[Argument]) -> _Part | _Lost:
        try:
            link.send(*command)
        except StoreUnavailable as error:
            self._lose(name, error)
            return _Lost(self._told(name, error))
        return _Part(name, link)

    def _answer(self, owed: _Part | _Lost, timeout: float | None = None) -> Any:
        """What a node answers; a refusal or a loss as its error."""
        if isinstance(owed, _Lost):
            return owed.error
        if self._links.get(owed.node) is not owed.link:
            return self._told(owed.node, StoreUnavailable(f"the connection was lost before it answered; {AGAIN}"))
        try:
            return owed.link.receive() if timeout is None else owed.link.receive(timeout=timeout)
        except redis.ResponseError as error:
            self._heard(error)
            return error
        except StoreUnavailable as error:
            self._lose(owed.node, error)
            return self._told(owed.node, error)

    def _heard(self, error: redis.ResponseError) -> None:
        """Take in what a refusal tells of the cluster."""
        if isinstance(error, MovedError):
            self._map.moved(error)
        elif isinstance(error, ClusterDownError):
            self._map.refresh()

    def _patient(self, once: Callable[[], _T]) -> _T:
        """Do it, and again while it cannot be carried out. Raises `redis.ResponseError` or StoreUnavailable."""
        end, pause = monotonic() + self.patience, PAUSE_SECONDS
        while True:
            try:
                return once()
            except NOT_DONE as error:
                self._heard(error)
                if monotonic() >= end:
                    raise
                found: Exception = error
            except StoreUnavailable as error:
                if not error.not_done or monotonic() >= end:
                    raise
                found = error
            pause = self._wait(pause, [found])

    def _wait(self, pause: float, found: Sequence[Any]) -> float:
        """Wait before a command is sent again: not at all where a slot lies elsewhere. Gives how long to wait the next time."""
        if all(isinstance(one, MovedError) for one in found):
            return max(pause, PAUSE_SECONDS)
        sleep(pause)
        self._map.refresh()
        return min(2 * pause, MOST_PAUSE_SECONDS)

    def _pipelined(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """All answers; a refusal or a loss as its error."""
        placed = [self._placed(parts) for parts in self._taken_apart(commands)]
        by_node: dict[str, tuple[Wire, list[Sequence[Argument]]]] = {}
        for parts in placed:
            for owed, command in parts:
                if isinstance(owed, _Part):
                    by_node.setdefault(owed.node, (owed.link, []))[1].append(command)
        for name, (link, some) in by_node.items():
            try:
                link.send_all(some)
            except StoreUnavailable as error:
                self._lose(name, error)
        answers = [[self._answer(owed) for owed, _ in parts] for parts in placed]
        return [merged(some) for some in answers]

    def _taken_apart(self, commands: Sequence[Sequence[Argument]]) -> list[list[tuple[bytes, Sequence[Argument]]]]:
        """Of each command its parts and the key by which each goes; MULTI and EXEC go with what stands between them."""
        found: list[list[tuple[bytes, Sequence[Argument]]]] = []
        together = b""
        for number, command in enumerate(commands):
            name = word(command[0])
            if name == "MULTI":
                together = key_of(commands[number + 1]) or b""
            if name in ("MULTI", "EXEC") or together:
                found.append([(together, command)])
            else:
                found.append([(_needed(part), part) for part in spread(command)])
            if name == "EXEC":
                together = b""
        return found

    def _placed(
        self, parts: Sequence[tuple[bytes, Sequence[Argument]]]
    ) -> list[tuple[_Part | _Lost, Sequence[Argument]]]:
        found: list[tuple[_Part | _Lost, Sequence[Argument]]] = []
        for key, command in parts:
            try:
                found.append((_Part(*self._link(slot_of(key))), command))
            except StoreUnavailable as error:
                found.append((_Lost(error), command))
        return found

    def _not_done(self, commands: Sequence[Sequence[Argument]], answers: Sequence[Any]) -> list[int]:
        """The commands that were surely not carried out, and may be sent again in their order. Raises StoreUnavailable where one
        was sent and not answered.

        None of a slot of which a later one was carried out, and none between MULTI and EXEC: their order would be another.
        """
        refused = [number for number, answer in enumerate(answers) if _surely_not(answer)]
        for answer in answers:
            if isinstance(answer, StoreUnavailable) and not answer.not_done:
                raise answer
        if not refused or any(word(command[0]) == "MULTI" for command in commands):
            lost = next((one for one in answers if isinstance(one, StoreUnavailable)), None)
            if lost is not None:
                raise lost
            return []
        first: dict[int, int] = {}
        for number in refused:
            first.setdefault(slot_of(_needed(commands[number])), number)
        done = (n for n, one in enumerate(answers) if not _surely_not(one))
        mixed = {slot for n in done if first.get(slot := slot_of(_needed(commands[n])), n) < n}
        return [number for number in refused if slot_of(_needed(commands[number])) not in mixed]

    def _ask_all(self, many: ReadMany) -> list[_Part | _Lost]:
        return [self._sent(["XREAD", *many.options, "STREAMS", stream, after]) for stream, after in many.streams]

    def _read_all(self, fan: _Fan, timeout: float | None) -> list[Any] | None:
        """What there is on any of these streams; waits, by looking, until there is something or the time is over."""
        pause = max(POLL_SECONDS, POLL_EACH * len(fan.many.streams))
        while True:
            answers = [self._answer(owed, timeout) for owed in fan.parts]
            if wrong := next((one for one in answers if isinstance(one, Exception)), None):
                raise wrong
            found = [one for answer in answers for one in answer or ()]
            left = 0.0 if fan.until is None or self._owed else fan.until - monotonic()
            if found or left <= 0:
                return found or None
            sleep(min(pause, left))
            fan.parts = self._ask_all(fan.many)


def _needed(command: Sequence[Argument]) -> bytes:
    key = key_of(command)
    if key is None:
        raise Elsewhere(f"{word(command[0])} is about a server: say which, by `servers` or `at`")
    return key


def _is_lost(answers: Sequence[Any]) -> bool:
    return any(isinstance(one, StoreUnavailable) for one in answers)


def _surely_not(answer: Any) -> bool:
    return isinstance(answer, NOT_DONE) or (isinstance(answer, StoreUnavailable) and answer.not_done)


def _lost_of(owed: _Part | _Lost | _Fan, name: str, lost: StoreUnavailable) -> _Part | _Lost | _Fan:
    if isinstance(owed, _Part):
        return _Lost(lost) if owed.node == name else owed
    if isinstance(owed, _Fan):
        owed.parts = [_Lost(lost) if isinstance(one, _Part) and one.node == name else one for one in owed.parts]
    return owed
