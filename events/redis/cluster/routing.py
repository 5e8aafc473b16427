"""Which key of a command decides the node that it goes to, and what many keys of one command become. Pure.

redis-py asks the server for this table (COMMAND); here it is what a store uses, so that a command of which it says nothing is a
fault of ours and no guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from redis.crc import key_slot

from engramlog_server.events.redis.wire import READS, Argument

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
