"""A piece of a conversation as a model is asked about it: the turns to be read, what was said around them, what is known. Pure.

Keys (`T1`, `M1`) stand for ids, which a model would misspell. Secrets are never in it, nor what was deleted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple
from zoneinfo import ZoneInfo

import orjson

from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.language.sensitivity.level import at_most
from engramlog_server.projections.lifecycle.judge.candidates import Candidates
from engramlog_server.projections.lifecycle.judge.judging import ReadTurn
from engramlog_server.projections.lifecycle.judge.known import KnownMemory
from engramlog_server.projections.memory import working_memory
from engramlog_server.projections.memory.record import SECRET

MOST_TURNS = 10
"""Turns that are read at once."""
MOST_CHARACTERS = 6_000
"""Of the texts of the turns that are read at once."""
MOST_OF_A_TEXT = 2_000
BEFORE = 6
"""Messages before the first of them that are shown."""
AROUND = 500
"""Turns, tool results and injections before and after them among which what belongs to them is looked for."""
MOST_KNOWN = 20
"""Memories that are shown."""
KNOWN_A_TURN = 6


class Shown(NamedTuple):
    """A message as the model sees it."""

    key: str
    turn_id: str
    role: str
    """user, other or assistant."""
    who: str
    day: str
    text: str
    new: bool
    """Whether it is to be read; the others are shown for what they say about it."""
    injected: frozenset[str] = frozenset()
    """Of an assistant's message: the memories that were put into the prompt that it answered."""


class Talk(NamedTuple):
    """What one question to a model is about."""

    unread: tuple[ReadTurn, ...]
    shown: tuple[Shown, ...]
    known: dict[str, KnownMemory]
    """By key."""
    language: str
    """en or zh, by the turns to be read."""

    def turn(self, key: str) -> Shown | None:
        """The message of that key."""
        return next((one for one in self.shown if one.key == key), None)

    def read_turn(self, turn_id: str) -> ReadTurn | None:
        """The turn to be read of that id."""
        return next((one for one in self.unread if one.turn.turn_id == turn_id), None)

    def as_json(self) -> str:
        """The data of the question; every text is one line."""
        memories = [
            {"id": key, "says": one_line(known.content)[:MOST_OF_A_TEXT]}
            | ({"taken_back": True} if known.negated else {})
            for key, known in self.known.items()
        ]
        talk = [
            {"id": one.key, "who": one.who, "role": one.role, "day": one.day, "new": one.new, "text": one.text}
            | ({"used": used} if (used := self._used(one)) else {})
            for one in self.shown
        ]
        return orjson.dumps({"memories": memories, "talk": talk}).decode()

    def _used(self, message: Shown) -> list[str]:
        return [key for key, known in self.known.items() if known.id in message.injected]


def next_unread(turns: Iterable[ReadTurn], most: int = MOST_TURNS) -> tuple[ReadTurn, ...]:
    """The first unread turns that are read at once: of one session, at most `most`, not too long together."""
    found: list[ReadTurn] = []
    length = 0
    for one in turns:
        if not one.unread:
            continue
        length += min(len(one.turn.text), MOST_OF_A_TEXT)
        if found and (one.session != found[0].session or len(found) >= most or length > MOST_CHARACTERS):
            break
        found.append(one)
    return tuple(found)


def said_around(
    said: Sequence[working_memory.Said], places: Mapping[str, int], unread: Sequence[ReadTurn]
) -> Sequence[working_memory.Said]:
    """The part of what was said, in log order, in which some turns and what belongs to them lie: not all of a large owner's.

    `places`: where each turn stands in `said`.
    """
    at = [places[one.turn.turn_id] for one in unread if one.turn.turn_id in places]
    at = at or [bisect_left(said, unread[0].seq, key=attrgetter("seq"))]
    return said[max(min(at) - AROUND, 0) : max(at) + AROUND]


def talk_about(
    unread: tuple[ReadTurn, ...],
    said: Sequence[working_memory.Said],
    shelf: Candidates,
    forgotten: frozenset[str],
    zone: str,
) -> Talk:
    """The question about some turns. `said`: what was said around them, in log order; it may lack them, or all."""
    around = _around(unread, said, forgotten)
    injected = _injections(said)
    places = {one.turn_id: one.seq for one in said if isinstance(one, working_memory.Turn)}
    messages = sorted([*around, *(_as_message(one, places) for one in unread)], key=lambda one: one.seq)
    new = {one.turn.turn_id for one in unread}
    known = _known(unread, messages, injected, shelf)
    shown = []
    for number, one in enumerate(messages, 1):
        texts = one_line(one.text)[:MOST_OF_A_TEXT]
        used = injected.get(one.turn_id, frozenset()) if one.role == "assistant" else frozenset()
        role = "user" if one.turn_id in new else one.role
        day = datetime.fromtimestamp(one.at // 1_000_000, ZoneInfo(zone)).date().isoformat()
        shown.append(Shown(f"T{number}", one.turn_id, role, one_line(one.name), day, texts, one.turn_id in new, used))
    language = "zh" if is_chinese(" ".join(one.turn.text for one in unread)) else "en"
    return Talk(unread, tuple(shown), {f"M{n}": one for n, one in enumerate(known, 1)}, language)


def still_standing(talk: Talk, unread: Collection[str], forgotten: Collection[str]) -> Talk:
    """What is left of a talk of which turns were deleted, forgotten or read meanwhile: nothing rests on those any more."""
    return talk._replace(
        unread=tuple(one for one in talk.unread if one.turn.turn_id in unread),
        shown=tuple(one for one in talk.shown if one.turn_id in unread or not (one.new or one.turn_id in forgotten)),
    )


def _around(
    unread: Sequence[ReadTurn], said: Sequence[working_memory.Said], forgotten: frozenset[str]
) -> list[working_memory.Turn]:
    """Messages of the session before, between and right after the turns, without what must not be shown."""
    new, session = {one.turn.turn_id for one in unread}, unread[0].session
    there = [one for one in said if isinstance(one, working_memory.Turn) and one.turn_id in new]
    first = min((one.seq for one in there), default=unread[0].seq)
    last = max((one.seq for one in there), default=unread[-1].seq)
    spoken = [
        one
        for one in said
        if isinstance(one, working_memory.Turn) and one.role in working_memory.SPEAKING and one.session == session
    ]
    before = [one for one in spoken if one.seq < first][-BEFORE:]
    between = [one for one in spoken if first <= one.seq <= last]
    after = [one for one in spoken if one.seq > last and one.role == "assistant"][:1]
    return [
        one
        for one in (*before, *between, *after)
        if one.turn_id not in new and one.turn_id not in forgotten and at_most(SECRET - 1, one.text, one.level)
    ]


def _as_message(source: ReadTurn, places: Mapping[str, int]) -> working_memory.Turn:
    """A turn to be read as the message that it was, at the place at which it was recorded."""
    turn = source.turn
    seq = places.get(turn.turn_id, source.seq)
    return working_memory.Turn(
        seq, "", turn.turn_id, turn.role, turn.speaker, turn.text, None, source.session, source.said_at
    )


def _injections(said: Sequence[working_memory.Said]) -> dict[str, frozenset[str]]:
    """Id of an assistant's message -> the memories that were put into the prompt that it answers."""
    asked: dict[str, frozenset[str]] = {}
    found: dict[str, frozenset[str]] = {}
    latest: dict[str | None, str] = {}
    for one in said:
        if isinstance(one, working_memory.Injection) and one.turn_id is not None:
            asked[one.turn_id] = asked.get(one.turn_id, frozenset()) | set(one.ids)
        elif isinstance(one, working_memory.Turn) and one.role in working_memory.ASKING:
            latest[one.session] = one.turn_id
        elif isinstance(one, working_memory.Turn) and one.role == "assistant":
            found[one.turn_id] = asked.get(one.reply_to or latest.get(one.session, ""), frozenset())
    return found


def _known(
    unread: Sequence[ReadTurn],
    messages: Sequence[working_memory.Turn],
    injected: dict[str, frozenset[str]],
    shelf: Candidates,
) -> list[KnownMemory]:
    """The memories that the turns may be about, and those that replies may have used."""
    used = [memory_id for message in messages for memory_id in sorted(injected.get(message.turn_id, ()))]
    known = [memory for memory_id in used if (memory := shelf.get(memory_id)) is not None]
    for one in unread:
        known += shelf.by_meaning(one.turn.text, one.turn.speaker, KNOWN_A_TURN)
    return list({memory.id: memory for memory in known}.values())[:MOST_KNOWN]
