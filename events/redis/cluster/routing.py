"""Which node a command goes to and what many keys of one become; what a node's connection owes; and what may be sent again.

redis-py asks the server for a table of keys (COMMAND); here it is what a store uses, so that a command of which it says nothing
is a fault of ours and no guess. Sent again is what a cluster surely did not carry out, in the order in which it was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from time import monotonic
from typing import Any, NamedTuple, TypeGuard

import redis
from redis.crc import key_slot
from redis.exceptions import AskError, ClusterDownError, ExecAbortError, MovedError, TryAgainError

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.wire import AGAIN, READS, Argument, ServerWire

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


class ReadMany(NamedTuple):
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


def as_key(argument: Argument) -> bytes:
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
        return as_key(command[3])
    if name == "XREAD":
        return as_key(command[[word(one) for one in command].index("STREAMS") + 1])
    if name in _SECOND:
        return as_key(command[2])
    if name in OF_NO_KEY or name in ("MULTI", "EXEC", "DISCARD"):
        return None
    if len(command) < 2:
        raise NoNode(f"{name} belongs to no node")
    return as_key(command[1])


def key_of_packed(command: bytes) -> bytes:
    """The first key of an EVALSHA that is packed already."""
    pieces = command[:_LOOKED_AT].split(b"\r\n", _HEAD)
    if len(pieces) <= _HEAD or pieces[2] != b"EVALSHA":
        raise NoNode("only a packed EVALSHA with keys is sent to a node")
    return pieces[_HEAD - 1]


def read_many(command: Sequence[Argument]) -> ReadMany | None:
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
    return ReadMany(options, block_ms, tuple(zip(streams, ids, strict=True)))


class SentGroup(NamedTuple):
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


def key_needed(command: Sequence[Argument]) -> bytes:
    """The key that decides where a command goes. Raises NoNode of one about a server."""
    key = key_of(command)
    if key is None:
        raise NoNode(f"{word(command[0])} is about a server: say which, by `servers` or `at`")
    return key


def grouped(commands: Sequence[Sequence[Argument]]) -> list[SentGroup]:
    """The groups of a pipeline, in their order. Raises NoNode of one that lacks its MULTI or EXEC, or has keys of two slots."""
    found: list[SentGroup] = []
    together: list[int] = []
    for number, command in enumerate(commands):
        name = word(command[0])
        if name == "MULTI":
            if together:
                raise NoNode("a MULTI within another")
            together = [number]
        elif name == "EXEC":
            keys = [key_needed(commands[one]) for one in together[1:]]
            if not keys or len({slot_of(key) for key in keys}) != 1:
                raise NoNode("between MULTI and EXEC stand commands of one slot")
            found.append(SentGroup((*together, number), slot_of(keys[0]), keys[0]))
            together = []
        elif together:
            together.append(number)
        else:
            found.append(SentGroup((number,), slot_of(key_needed(command)), None, name not in READS))
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
        by_slot.setdefault(slot_of(as_key(key)), [command[0]]).append(key)
    return list(by_slot.values())


def merged(answers: Sequence[Any]) -> Any:
    """The answer to a command that was spread, of those to its parts."""
    if len(answers) == 1:
        return answers[0]
    refused = next((one for one in answers if isinstance(one, Exception)), None)
    return refused if refused is not None else sum(answers)


UNKNOWN = f"whether it was written is not known, {AGAIN}"


class NodeLink(ServerWire):
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
            raise StoreUnavailable(f"it answers what no Redis does ({error}); {UNKNOWN}", retry_after=1) from error


class LostAnswer:
    """An answer that never comes."""

    def __init__(self, error: StoreUnavailable) -> None:
        self.error = error


class Part:
    """An answer that a node owes."""

    def __init__(self, node: str, link: NodeLink, slot: int | None = None) -> None:
        self.node = node
        self.link = link
        self.slot = slot


class Fan:
    """What several nodes owe to one XREAD."""

    def __init__(self, many: ReadMany, parts: list[Part | LostAnswer]) -> None:
        self.many = many
        self.parts = parts
        self.began = monotonic()
        self.until = self.began if many.block_ms is None else self.began + many.block_ms / 1_000


Owed = Part | LostAnswer | Fan


def lost_of(owed: Owed, link: NodeLink, lost: StoreUnavailable) -> Owed:
    """What is owed once a link is lost."""
    if isinstance(owed, Part):
        return LostAnswer(lost) if owed.link is link else owed
    if isinstance(owed, Fan):
        owed.parts = [LostAnswer(lost) if isinstance(one, Part) and one.link is link else one for one in owed.parts]
    return owed


def cut() -> StoreUnavailable:
    """Of a connection that was lost while it owed an answer."""
    return StoreUnavailable(f"the connection to Redis was lost before it answered; {AGAIN}", retry_after=1)


def is_lost(answers: Sequence[Any]) -> bool:
    """Whether one of these is of a connection that was lost."""
    return any(isinstance(one, StoreUnavailable) for one in answers)


def told_of(name: str, error: StoreUnavailable, *, not_done: bool = False) -> StoreUnavailable:
    """The same error with the node that it is about."""
    told: dict[str, Any] = {"retry_after": 1, **error.context, "node": name}
    begins = f"node {name} of the cluster: "
    message = error.message if error.message.startswith(begins) else begins + error.message
    found = StoreUnavailable(message, not_done=not_done or error.not_done, **told)
    found.__cause__ = error
    return found


NOT_DONE = (AskError, TryAgainError, ClusterDownError)
"""Refusals (MOVED is an ASK to redis-py) after which a command was surely not carried out, and may be later."""
PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.02, 0.2
"""Between two tries of what cannot be carried out yet: at first, and at most."""
MOST_MOVES = 3
"""How often a command follows a slot at once to where it lies now, patient or not."""


class SlotLeft(StoreUnavailable):
    """A slot lies on another node than when it was used last: what is remembered of it may be of another history."""


class Retries:
    """How often, and after which pauses, something is tried again that cannot be carried out yet."""

    def __init__(self, patience: float) -> None:
        self.pause = 0.0
        """Seconds to wait before the next turn."""
        self._end = monotonic() + patience
        self._moves = self._pauses = 0

    def again(self, found: Sequence[Any]) -> bool:
        """Whether to try again, by what refused it. A slot that lies elsewhere is followed at once, as often as `MOST_MOVES`."""
        moved = any(isinstance(one, MovedError | SlotLeft) for one in found)
        moved = moved and all(isinstance(one, MovedError | SlotLeft | ExecAbortError | bytes) for one in found)
        self._moves += moved
        if moved and self._moves <= MOST_MOVES:
            self.pause = 0.0
            return True
        if monotonic() >= self._end:
            return False
        self.pause = min(PAUSE_SECONDS * 2 ** min(self._pauses, 8), MOST_PAUSE_SECONDS)
        self._pauses += 1
        return True


def surely_not(answer: Any) -> bool:
    """Whether what was asked was surely not carried out, and may be later."""
    return isinstance(answer, NOT_DONE) or (isinstance(answer, StoreUnavailable) and answer.not_done)


def is_on_its_way(answer: Any) -> TypeGuard[AskError]:
    """Whether the key is no more where it was asked for, and its slot lies there still."""
    return isinstance(answer, AskError) and not isinstance(answer, MovedError)


def may_pass(error: Exception) -> bool:
    """Whether a read may be tried again."""
    return isinstance(error, (*NOT_DONE, StoreUnavailable))


def not_done(groups: Sequence[SentGroup], answers: Sequence[Any]) -> list[SentGroup]:
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


def _is_refused(group: SentGroup, answers: Sequence[Any]) -> bool:
    """Whether nothing of it was carried out: of what stands between MULTI and EXEC all is refused where one command is."""
    last = answers[group.numbers[-1]]
    if group.key is None:
        return surely_not(last)
    return isinstance(last, Exception) and any(surely_not(answers[number]) for number in group.numbers)
