"""A store on a Redis Cluster: one wire to all nodes behind the face of one, each command to the node that holds its key.

redis-py asks the server for a table of keys (COMMAND). Here the table lists what a store uses, so that a command which it lacks is
a fault of ours and no guess.

A command that was surely not carried out (its slot lies elsewhere, is being moved or is served by nobody, its node cannot be
reached) is sent again, in order, for as long as `patience` says. A command that was sent and not answered is reported, as by a
wire to one server. `generation` grows with every lost connection and every slot that moved: what was remembered may be of another
history.

`ClusterClient` is the client for callers that ask for a key without a wire of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from time import monotonic, sleep
from typing import Any, NamedTuple, TypeGuard, TypeVar

import redis
from redis.crc import key_slot
from redis.exceptions import AskError, ClusterDownError, ExecAbortError, MovedError, TryAgainError

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.keys import Seals
from engramlog_server.events.redis.address import StoreAddress
from engramlog_server.events.redis.slot_map import ClusterNode, SlotMap, told_of
from engramlog_server.events.redis.wire import (
    AGAIN,
    READS,
    Argument,
    Script,
    ServerWire,
    StoreClient,
    Wire,
    WirePool,
    as_store_error,
    forgotten,
    refusal_code,
)

SUMMED = frozenset({"EXISTS", "UNLINK", "DEL", "TOUCH"})
"""Commands of many keys, of which each may lie elsewhere: their answers are added up."""
POLL_SECONDS, POLL_EACH = 0.02, 0.001
"""How often streams of several slots are looked at while none has anything: at least so far apart, and so much for each."""
_ABOUT_FILES = {"BGREWRITEAOF", "BGSAVE", "LASTSAVE", "SAVE", "SHUTDOWN", "WAIT", "WAITAOF"}
_ABOUT_A_SERVER = {
    "ACL",
    "ASKING",
    "AUTH",
    "CLIENT",
    "CLUSTER",
    "CONFIG",
    "DEBUG",
    "HELLO",
    "INFO",
    "LATENCY",
    "PING",
    "ROLE",
    "SCRIPT",
    "TIME",
}
OF_NO_KEY = frozenset({"DBSIZE", "SCAN", "SCRIPT", "SLOWLOG"} | _ABOUT_FILES | _ABOUT_A_SERVER)
"""Commands about a server: who sends one says which (`Wire.servers`, `Wire.at`)."""
_SECOND = frozenset({"MEMORY", "OBJECT", "XINFO"})
"""Commands with a word of their own before the key."""
_HEAD = 9
"""Pieces of a packed EVALSHA up to its first key: count, and length and text of four arguments."""
_LOOKED_AT = 512
"""Bytes in which that key ends: it is a partition's tag and a short name."""


class NoNode(ValueError):
    """A command that belongs to no node: a fault of whoever sent it."""


class _ReadMany(NamedTuple):
    """An XREAD of several streams, taken apart."""

    options: tuple[Argument, ...]
    """COUNT and its number, where it has one."""
    block_ms: int | None
    streams: tuple[tuple[Argument, Argument], ...]
    """Each stream with the id to read after."""


@lru_cache(maxsize=65_536)
def slot_of(key: bytes) -> int:
    """The slot, 0 to 16,383, of a key: by what stands between { and } where that is anything."""
    return int(key_slot(key))


def _as_key(argument: Argument) -> bytes:
    """A key as it goes down the wire."""
    return argument if isinstance(argument, bytes) else str(argument).encode()


def word(argument: Argument) -> str:
    """A word of a command: upper case."""
    return (argument.decode() if isinstance(argument, bytes) else str(argument)).upper()


def key_of(command: Sequence[Argument]) -> bytes | None:
    """The key that decides where a command goes; None of one about a server. Raises NoNode."""
    name = word(command[0])
    if name in ("EVALSHA", "EVAL", "FCALL"):
        if not int(command[2]):
            raise NoNode(f"{name} without keys belongs to no node")
        return _as_key(command[3])
    if name == "XREAD":
        return _as_key(command[[word(one) for one in command].index("STREAMS") + 1])
    if name in _SECOND:
        return _as_key(command[2])
    if name in OF_NO_KEY or name in ("MULTI", "EXEC", "DISCARD"):
        return None
    if len(command) < 2:
        raise NoNode(f"{name} belongs to no node")
    return _as_key(command[1])


def key_of_packed(command: bytes) -> bytes:
    """The first key of an EVALSHA that is packed already."""
    pieces = command[:_LOOKED_AT].split(b"\r\n", _HEAD)
    if len(pieces) <= _HEAD or pieces[2] != b"EVALSHA":
        raise NoNode("only a packed EVALSHA with keys is sent to a node")
    return pieces[_HEAD - 1]


def read_many(command: Sequence[Argument]) -> _ReadMany | None:
    """An XREAD of one or more streams in its parts; None of another command."""
    if word(command[0]) != "XREAD":
        return None
    words = [word(one) for one in command]
    at = words.index("STREAMS")
    options = tuple(command[1:at])
    block = next((i for i, one in enumerate(options) if word(one) == "BLOCK"), None)
    block_ms = None if block is None else int(options[block + 1])
    if block is not None:
        options = options[:block] + options[block + 2 :]
    many = (len(command) - at - 1) // 2
    streams, ids = command[at + 1 : at + 1 + many], command[at + 1 + many :]
    return _ReadMany(options, block_ms, tuple(zip(streams, ids, strict=True)))


class _SentGroup(NamedTuple):
    """Commands of a pipeline that are carried out together or not at all: one, or those from MULTI to EXEC."""

    numbers: tuple[int, ...]
    slot: int
    """Of its first key."""
    key: bytes | None
    """Its first key, where it is several commands: all go to the node of that one."""
    writes: bool = True
    """Whether it may change something."""


def poll_seconds(streams: int) -> float:
    """How long after a look at so many streams that found nothing they are looked at again."""
    return max(POLL_SECONDS, POLL_EACH * streams)


def _key_needed(command: Sequence[Argument]) -> bytes:
    """The key that decides where a command goes. Raises NoNode of one about a server."""
    key = key_of(command)
    if key is None:
        raise NoNode(f"{word(command[0])} is about a server: say which, by `servers` or `at`")
    return key


def _grouped(commands: Sequence[Sequence[Argument]]) -> list[_SentGroup]:
    """The groups of a pipeline, in their order. Raises NoNode of one that lacks its MULTI or EXEC, or has keys of two slots."""
    found: list[_SentGroup] = []
    together: list[int] = []
    for number, command in enumerate(commands):
        name = word(command[0])
        if name == "MULTI":
            if together:
                raise NoNode("a MULTI within another")
            together = [number]
        elif name == "EXEC":
            keys = [_key_needed(commands[one]) for one in together[1:]]
            if not keys or len({slot_of(key) for key in keys}) != 1:
                raise NoNode("between MULTI and EXEC stand commands of one slot")
            found.append(_SentGroup((*together, number), slot_of(keys[0]), keys[0]))
            together = []
        elif together:
            together.append(number)
        else:
            found.append(_SentGroup((number,), slot_of(_key_needed(command)), None, name not in READS))
    if together:
        raise NoNode("a MULTI without its EXEC")
    return found


def spread(command: Sequence[Argument]) -> list[list[Argument]]:
    """A command of many keys as one a slot; others as they are."""
    name = word(command[0])
    if name not in SUMMED or len(command) <= 2:
        return [list(command)]
    by_slot: dict[int, list[Argument]] = {}
    for key in command[1:]:
        by_slot.setdefault(slot_of(_as_key(key)), [command[0]]).append(key)
    return list(by_slot.values())


def merged(answers: Sequence[Any]) -> Any:
    """The answer to a command that was spread, of those to its parts."""
    if len(answers) == 1:
        return answers[0]
    refused = next((one for one in answers if isinstance(one, Exception)), None)
    return refused if refused is not None else sum(answers)


_UNKNOWN = f"whether it was written is not known, {AGAIN}"


class _NodeLink(ServerWire):
    """One connection, made once: what was lost is not made anew behind the back of the wire that counts connections."""

    failed: StoreUnavailable | None = None
    """Why there is none, where it could not be made."""

    def connect(self) -> None:
        """See `Wire.connect`."""
        if self.failed is not None:
            raise self.failed
        super().connect()

    def _open(self) -> Any:
        if self._connection is None and self.generation:
            raise redis.ConnectionError("the connection was lost")
        return super()._open()

    def receive(self, *, timeout: float | None = None) -> Any:
        """See `Wire.receive`; what no Redis answers (a MOVED that says not where) is a connection that is lost."""
        try:
            return super().receive(timeout=timeout)
        except (ValueError, TypeError, IndexError) as error:
            self.close()
            raise StoreUnavailable(f"it answers what no Redis does ({error}); {_UNKNOWN}", retry_after=1) from error


class _LostAnswer:
    """An answer that never comes."""

    def __init__(self, error: StoreUnavailable) -> None:
        self.error = error


class _Part:
    """An answer that a node owes."""

    def __init__(self, node: str, link: _NodeLink, slot: int | None = None) -> None:
        self.node = node
        self.link = link
        self.slot = slot


class _Fan:
    """What several nodes owe to one XREAD."""

    def __init__(self, many: _ReadMany, parts: list[_Part | _LostAnswer]) -> None:
        self.many = many
        self.parts = parts
        self.began = monotonic()
        self.until = self.began if many.block_ms is None else self.began + many.block_ms / 1_000


_Owed = _Part | _LostAnswer | _Fan


def _lost_of(owed: _Owed, link: _NodeLink, lost: StoreUnavailable) -> _Owed:
    """What is owed once a link is lost."""
    if isinstance(owed, _Part):
        return _LostAnswer(lost) if owed.link is link else owed
    if isinstance(owed, _Fan):
        owed.parts = [_LostAnswer(lost) if isinstance(one, _Part) and one.link is link else one for one in owed.parts]
    return owed


def cut() -> StoreUnavailable:
    """Of a connection that was lost while it owed an answer."""
    return StoreUnavailable(f"the connection to Redis was lost before it answered; {AGAIN}", retry_after=1)


def _is_lost(answers: Sequence[Any]) -> bool:
    """Whether one of these is of a connection that was lost."""
    return any(isinstance(one, StoreUnavailable) for one in answers)


_NOT_DONE = (AskError, TryAgainError, ClusterDownError)
"""Refusals (MOVED is an ASK to redis-py) after which a command was surely not carried out, and may be later."""
PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.02, 0.2
"""Between two tries of what cannot be carried out yet: at first, and at most."""
_MOST_MOVES = 3
"""How often a command follows a slot at once to where it lies now, patient or not."""


class SlotLeft(StoreUnavailable):
    """A slot lies on another node than when it was used last: what is remembered of it may be of another history."""


class _Retries:
    """How often, and after which pauses, something is tried again that cannot be carried out yet."""

    def __init__(self, patience: float) -> None:
        self.pause = 0.0
        """Seconds to wait before the next turn."""
        self._end = monotonic() + patience
        self._moves = self._pauses = 0

    def again(self, found: Sequence[Any]) -> bool:
        """Whether to try again, by what refused it. A slot that lies elsewhere is followed at once, as often as `_MOST_MOVES`."""
        moved = any(isinstance(one, MovedError | SlotLeft) for one in found)
        moved = moved and all(isinstance(one, MovedError | SlotLeft | ExecAbortError | bytes) for one in found)
        self._moves += moved
        if moved and self._moves <= _MOST_MOVES:
            self.pause = 0.0
            return True
        if monotonic() >= self._end:
            return False
        self.pause = min(PAUSE_SECONDS * 2 ** min(self._pauses, 8), MOST_PAUSE_SECONDS)
        self._pauses += 1
        return True


def _surely_not(answer: Any) -> bool:
    """Whether what was asked was surely not carried out, and may be later."""
    return isinstance(answer, _NOT_DONE) or (isinstance(answer, StoreUnavailable) and answer.not_done)


def _is_on_its_way(answer: Any) -> TypeGuard[AskError]:
    """Whether the key is no more where it was asked for, and its slot lies there still."""
    return isinstance(answer, AskError) and not isinstance(answer, MovedError)


def _may_pass(error: Exception) -> bool:
    """Whether a read may be tried again."""
    return isinstance(error, (*_NOT_DONE, StoreUnavailable))


def not_done(groups: Sequence[_SentGroup], answers: Sequence[Any]) -> list[_SentGroup]:
    """The groups that were surely not carried out, and may be sent again in their order. Raises StoreUnavailable where one was sent
    and not answered.

    None of a slot of which a later one was carried out, where any of that slot may change something: their order would be another.
    """
    for answer in answers:
        if isinstance(answer, StoreUnavailable) and not answer.not_done:
            raise answer
    refused = [group for group in groups if _is_refused(group, answers)]
    first: dict[int, int] = {}
    for group in refused:
        first.setdefault(group.slot, group.numbers[0])
    done = (group for group in groups if group.slot in first and not _is_refused(group, answers))
    written = {group.slot for group in groups if group.writes}
    mixed = {group.slot for group in done if group.numbers[0] > first[group.slot]} & written
    return [group for group in refused if group.slot not in mixed]


def _is_refused(group: _SentGroup, answers: Sequence[Any]) -> bool:
    """Whether nothing of it was carried out: of what stands between MULTI and EXEC all is refused where one command is."""
    last = answers[group.numbers[-1]]
    if group.key is None:
        return _surely_not(last)
    return isinstance(last, Exception) and any(_surely_not(answers[number]) for number in group.numbers)


_T = TypeVar("_T")
HANGS_SECONDS = 1.0
"""After so long a silence it is asked whether a node is still the one."""


class ClusterWire(Wire):
    """Not for two threads at once, as every wire."""

    many = True

    def __init__(self, client: ClusterClient) -> None:
        self.seals = client.seals
        self.patience, self.answer_seconds = client.patience, client.timeout
        self.cluster = client.slots
        """The nodes of the Cluster."""
        self._links: dict[str, _NodeLink] = {}
        self._at: dict[int, str] = {}
        """By slot the node that it was used on last: where that changes, what is remembered may be of another history."""
        self._scripts: dict[str, Script] = {}
        """What every node is to know once it is connected."""
        self._owed: deque[_Owed] = deque()
        self.generation = 1

    @property
    def is_open(self) -> bool:
        """Whether any node is connected in this generation."""
        return bool(self._links)

    def connect(self) -> None:
        """Know the cluster's nodes; each is connected once something is sent to it. Raises StoreUnavailable."""
        self.cluster.know()

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
                self._lose(name, link)

    def node_of(self, key: Argument) -> str:
        """The node that holds a key, host:port. Raises StoreUnavailable."""
        return self.cluster.node_of(slot_of(_as_key(key))).name

    def servers(self) -> list[tuple[str, ServerWire]]:
        """Each primary by name and the wire to it. Raises StoreUnavailable where nobody tells the nodes."""
        found: list[tuple[str, ServerWire]] = []
        for node in self.cluster.primaries():
            try:
                found.append((node.name, self._linked(node)))
            except StoreUnavailable as error:
                link = _NodeLink(node.client)  # which says so once it is asked, and asks nobody again
                link.failed = error
                found.append((node.name, link))
        return found

    def at(self, key: Argument) -> ServerWire:
        """The wire to the node that holds a key, for a command about that server. Raises StoreUnavailable."""
        return self._patient(lambda: self._link(slot_of(_as_key(key)))[1])

    def standing(self, key: Argument) -> object:
        """The connection to the node that holds a key, as far as this wire has one: another after each loss."""
        return self._links.get(self._at.get(slot_of(_as_key(key)), ""))

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
        owed = [self._placed(key_of_packed(command)) for command in commands]
        by_link: dict[_NodeLink, list[bytes]] = {}
        for one, command in zip(owed, commands, strict=True):
            if isinstance(one, _Part):
                by_link.setdefault(one.link, []).append(command)
        self._owed.extend(owed)
        names = {one.link: one.node for one in owed if isinstance(one, _Part)}
        for link, some in by_link.items():
            try:
                link.send_together(some)
            except StoreUnavailable as error:
                self._lose(names[link], link, error)

    def receive(self, *, timeout: float | None = None) -> Any:
        """The next answer. Raises StoreUnavailable where its node was lost, `redis.ResponseError` on a refusal."""
        if not self._owed:
            raise cut()
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
        try:
            if read_many(arguments) is not None:
                self.send(*arguments)
                return self.receive()
            parts = spread(arguments)
            answer = merged(self.pipeline(parts)) if len(parts) > 1 else self._patient(lambda: self._once(arguments))
            if isinstance(answer, Exception):
                raise answer
        except redis.ResponseError as error:
            raise as_store_error(error) from error
        return answer

    def _once(self, command: Sequence[Argument]) -> Any:
        """One command and its answer; a refusal or a loss raises."""
        answer = self._followed(command, self._answer(self._sent(command)))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pipeline(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """Many commands in one write a node; an answer that is a refusal stands as its `redis.ResponseError`. What stands between
        MULTI and EXEC is of one slot."""
        groups = _grouped(commands)
        written = {group.slot for group in groups if group.writes}  # of these a read keeps its place behind a write
        answers: list[Any] = [None] * len(commands)
        turns, again = _Retries(self.patience), groups
        while again:
            self._answer_groups(again, commands, answers)
            for group in (one for one in again if one.slot not in written):
                answers[group.numbers[0]] = self._followed(commands[group.numbers[0]], answers[group.numbers[0]])
            again = not_done(groups, answers)
            if not again or not turns.again([answers[number] for group in again for number in group.numbers]):
                break
            self._pause(turns)
        if lost := next((one for one in answers if isinstance(one, StoreUnavailable)), None):
            raise lost
        return answers

    def load(self, script: Script) -> None:
        """Have every node know a script once it is connected. Raises StoreError."""
        self._scripts[script.sha] = script
        self._on_links(lambda link: link.load(script))

    def load_again(self, script: Script) -> None:
        """Load a script that a node did not know any more."""
        self._scripts[script.sha] = script
        self._on_links(lambda link: link.load_again(script))

    def evalsha(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> list[Argument]:
        """The command that runs a script, which is loaded on the node of its keys."""
        name, link = self._link(slot_of(_as_key(keys[0])))
        self._told_by(name, link, lambda: link.load(script))
        return ["EVALSHA", script.sha, len(keys), *keys, *arguments]

    def run(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> Any:
        """Run a script and give its answer; a refusal becomes a StoreError."""

        def once() -> Any:
            for _ in range(2):
                answer = self._answer(self._sent(self.evalsha(script, keys, arguments)))
                if not isinstance(answer, Exception):
                    return answer
                if not isinstance(answer, redis.ResponseError) or refusal_code(answer) != "NOSCRIPT":
                    raise answer
                self.load_again(script)
            raise forgotten(script)

        try:
            return self._patient(once)
        except redis.ResponseError as error:
            raise as_store_error(error) from error

    def about(self, keys: Sequence[Argument], commands: Sequence[Sequence[Argument]]) -> list[list[Any]]:
        """For each key what its node answers to commands about all that was written down this wire; nothing of one that was
        lost."""
        names = [self._at.get(slot_of(_as_key(key)), "") for key in keys]
        asked: dict[str, list[_Part | _LostAnswer]] = {}
        for name in dict.fromkeys(names):
            if (link := self._links.get(name)) is not None:
                asked[name] = [self._sent_on(_Part(name, link), command) for command in commands]
        told = {name: [self._answer(one) for one in owed] for name, owed in asked.items()}
        return [[] if _is_lost(told.get(name, ())) else told.get(name, []) for name in names]

    # How it is done.

    def _link(self, slot: int) -> tuple[str, _NodeLink]:
        """The node of a slot and a connection to it. Raises StoreUnavailable, with nothing sent."""
        node = self.cluster.node_of(slot)
        before = self._at.get(slot)
        if before is not None and before != node.name:
            del self._at[slot]  # of others the same is told once they are used
            self.generation += 1
            raise SlotLeft(
                f"slot {slot} of the cluster lies on {node.name} now, and no more on {before}; {AGAIN}",
                retry_after=1,
                not_done=True,
                slot=slot,
            )
        link = self._linked(node)
        self._at[slot] = node.name
        return node.name, link

    def _linked(self, node: ClusterNode) -> _NodeLink:
        """A connection to a node. Raises StoreUnavailable, with nothing sent."""
        link = self._links.get(node.name)
        if link is not None and link.is_open:
            return link
        if link is not None:  # it broke while somebody asked about the server
            self._lose(node.name, link)
        link = _NodeLink(node.client)
        link.seals = self.seals
        try:
            self.cluster.look(node)
            link.connect()
            for script in self._scripts.values():
                link.load(script)
        except StoreUnavailable as error:
            link.close()
            self.cluster.refresh(node.name)
            raise told_of(
                node.name, error, not_done=not isinstance(error.__cause__, redis.AuthenticationError)
            ) from error
        self._links[node.name] = link
        return link

    def _lose(self, name: str, link: _NodeLink, error: StoreUnavailable | None = None) -> None:
        """Drop a node's connection; what it owes never comes."""
        link.close()
        if self._links.get(name) is not link:
            return
        del self._links[name]
        self.generation += 1
        lost = told_of(name, error or cut())
        self._owed = deque(_lost_of(one, link, lost) for one in self._owed)
        self.cluster.refresh(name)

    def _told_by(self, name: str, link: _NodeLink, work: Callable[[], _T]) -> _T:
        """Do something on a link. Raises what that raises; a loss with the node's name."""
        try:
            return work()
        except StoreUnavailable as error:
            self._lose(name, link, error)
            raise told_of(name, error) from error

    def _on_links(self, work: Callable[[_NodeLink], None]) -> None:
        for name, link in list(self._links.items()):
            try:
                work(link)
            except StoreUnavailable as error:
                self._lose(name, link, error)

    def _placed(self, key: bytes) -> _Part | _LostAnswer:
        slot = slot_of(key)
        try:
            return _Part(*self._link(slot), slot)
        except StoreUnavailable as error:
            return _LostAnswer(error)

    def _sent(self, command: Sequence[Argument]) -> _Part | _LostAnswer:
        placed = self._placed(_key_needed(command))
        return placed if isinstance(placed, _LostAnswer) else self._sent_on(placed, command)

    def _sent_on(self, part: _Part, command: Sequence[Argument]) -> _Part | _LostAnswer:
        try:
            part.link.send(*command)
        except StoreUnavailable as error:
            self._lose(part.node, part.link, error)
            return _LostAnswer(told_of(part.node, error))
        return part

    def _answer(self, owed: _Part | _LostAnswer, timeout: float | None = None) -> Any:
        """What a node answers; a refusal or a loss as its error."""
        if isinstance(owed, _LostAnswer):
            return owed.error
        if self._links.get(owed.node) is not owed.link:
            return told_of(owed.node, cut())
        try:
            self._await(owed, self.answer_seconds if timeout is None else timeout)
            return owed.link.receive()
        except redis.ResponseError as error:
            self._heard(error, owed.node, owed.slot)
            return error
        except StoreUnavailable as error:
            self._lose(owed.node, owed.link, error)
            return told_of(owed.node, error)

    def _followed(self, command: Sequence[Argument], answer: Any) -> Any:
        """The answer to a read; where its key left with a slot that is being moved, of the node that has it by now."""
        if not _is_on_its_way(answer) or word(command[0]) not in READS or len(spread(command)) > 1:
            return answer
        node = self.cluster.asked(answer)
        if node is None:
            return answer
        try:
            link = self._linked(node)
        except StoreUnavailable:
            return answer
        owed = [self._sent_on(_Part(node.name, link, answer.slot_id), one) for one in (["ASKING"], command)]
        found = [self._answer(one) for one in owed][-1]
        return answer if _surely_not(found) or isinstance(found, StoreUnavailable) else found

    def _await(self, owed: _Part, seconds: float) -> None:
        """Wait until an answer begins to come. Raises StoreUnavailable where none does, or once the node is no primary any more:
        one that hangs is replaced long before a time-out."""
        end = monotonic() + seconds
        while not owed.link.answers_within(min(HANGS_SECONDS, max(end - monotonic(), 0.0))):
            self.cluster.refresh(owed.node)
            if not self.cluster.is_primary(owed.node):
                raise StoreUnavailable(f"it does not answer, and another took its place; {_UNKNOWN}", retry_after=1)
            if monotonic() >= end:
                raise StoreUnavailable(f"Redis did not answer in time ({seconds:g} s); {_UNKNOWN}", retry_after=1)

    def _heard(self, error: redis.ResponseError, node: str, slot: int | None) -> None:
        """Take in what a refusal tells of the cluster, and have it say what it is about (`as_store_error`)."""
        if isinstance(error, _NOT_DONE):
            vars(error)["about"] = {"node": node} if isinstance(error, ClusterDownError) else {"slot": slot}
        if isinstance(error, MovedError):
            self.cluster.moved(error)
        elif isinstance(error, ClusterDownError):
            self.cluster.refresh()

    def _patient(self, once: Callable[[], _T]) -> _T:
        """Do it, and again while it cannot be carried out. Raises `redis.ResponseError` or StoreUnavailable."""
        turns = _Retries(self.patience)
        while True:
            try:
                return once()
            except (*_NOT_DONE, StoreUnavailable) as error:
                if not _surely_not(error) or not turns.again([error]):
                    raise
            self._pause(turns)

    def _pause(self, turns: _Retries) -> None:
        if turns.pause:
            sleep(turns.pause)
            self.cluster.refresh()

    def _answer_groups(
        self, groups: Sequence[_SentGroup], commands: Sequence[Sequence[Argument]], answers: list[Any]
    ) -> None:
        """All answers to these; a refusal or a loss as its error. What stands between MULTI and EXEC goes down one link."""
        asked: list[tuple[int, list[_Part | _LostAnswer]]] = []
        by_link: dict[_NodeLink, list[Sequence[Argument]]] = {}
        names: dict[_NodeLink, str] = {}
        for group in groups:
            one = self._placed(group.key) if group.key is not None else None
            for number in group.numbers:
                parts = (
                    [(one, commands[number])]
                    if one is not None
                    else [(self._placed(_key_needed(part)), part) for part in spread(commands[number])]
                )
                for placed, command in parts:
                    if isinstance(placed, _Part):
                        by_link.setdefault(placed.link, []).append(command)
                        names[placed.link] = placed.node
                asked.append((number, [placed for placed, _ in parts]))
        for link, some in by_link.items():
            try:
                link.send_all(some)
            except StoreUnavailable as error:
                self._lose(names[link], link, error)
        for number, owed in asked:
            answers[number] = merged([self._answer(one) for one in owed])

    def _ask_all(self, many: _ReadMany) -> list[_Part | _LostAnswer]:
        return [self._sent(["XREAD", *many.options, "STREAMS", stream, after]) for stream, after in many.streams]

    def _read_all(self, fan: _Fan, timeout: float | None) -> list[Any] | None:
        """What there is on any of these streams; waits, by looking, until there is something or the time is over.

        One that cannot be read keeps no other from being told; it raises once there is nothing to tell, after `patience`.
        """
        pause = poll_seconds(len(fan.many.streams))
        while True:
            answers = [self._answer(owed, timeout) for owed in fan.parts]
            if found := [one for answer in answers if not isinstance(answer, Exception) for one in answer or ()]:
                return found
            wrong = next((one for one in answers if isinstance(one, Exception)), None)
            now = monotonic()
            if wrong is not None and (self._owed or not _may_pass(wrong) or now >= fan.began + self.patience):
                raise wrong
            left = 0.0 if self._owed else (fan.until if wrong is None else fan.began + self.patience) - now
            if left <= 0:
                return None
            sleep(min(pause, left))
            fan.parts = self._ask_all(fan.many)


_PATIENCE_SECONDS = 5.0
"""How long a question waits for what cannot be carried out yet: a failover takes 4 to 5 s, most moves of a slot less."""

_DIAL_SECONDS = 2.0
"""How long a node may take to let us in, or to go on with an answer: one that hangs must not keep the others waiting."""


class ClusterClient(StoreClient):
    """Holds the map of the cluster, one for all wires. A command about a server, which names none, is refused."""

    slots: SlotMap
    patience: float
    timeout: float
    """Seconds to wait for an answer."""
    _beside: WirePool

    def open_wire(self) -> Wire:
        """See `StoreClient`."""
        return ClusterWire(self)

    @classmethod
    def at(cls, address: StoreAddress, seals: Seals, options: dict[str, Any]) -> ClusterClient:
        """A client for the nodes of an address; nothing is connected yet. Raises ValueError for options that there are not."""
        first = address.places[0]
        each = {**options, **address.options, **({"ssl": True} if address.tls else {})}
        each.pop("db", None)
        timeout = float(each["socket_timeout"])
        each["socket_timeout"] = each["socket_connect_timeout"] = min(timeout, _DIAL_SECONDS)
        try:
            found = cls(host=first.host, port=first.port, **each)
        except TypeError as error:  # an option that redis-py does not know, by its name
            raise ValueError(f"an option in the URL's query that there is: {error}") from None
        found.seals = seals
        found.slots = SlotMap(address.places, each)
        found.patience, found.timeout = _PATIENCE_SECONDS, timeout
        found._beside = WirePool(found)
        seals.read_check = found.read_check
        return found

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Send a command to the node that holds its key. Raises StoreError, and ValueError for one about a server."""
        command = [*str(args[0]).split(), *args[1:]]  # redis-py writes CONFIG GET as one word
        with self._beside.wire() as wire:
            answer = wire.pipeline([command])[0]
        if isinstance(answer, redis.ResponseError):
            raise answer
        name = str(args[0])
        options.pop("keys", None)  # for a cache that is not used
        if name in self.response_callbacks:
            return self.response_callbacks[name](answer, **options)
        return answer

    def pipeline(self, *_: Any, **__: Any) -> Any:
        """Refused, with TypeError."""
        raise TypeError("a cluster's client has no pipeline: what goes together goes down a wire")

    def close(self) -> None:
        """Close every connection."""
        self._beside.close()
        self.slots.close()
        super().close()
