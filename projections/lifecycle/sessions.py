"""What sessions leave behind: sittings and their episodes, and which memories shaped a reply. Pure.

**Sittings**: a session as it was held, without long silences (seed 003, layer 1: when a session ends). A session is a name that an
agent gives; somebody may come back to it a month later. What ends, and leaves an episode, is a sitting: messages of one session,
each soon after the one before. Where it ends follows from the messages alone, so it is the same whenever one looks: of two
neighbours in a session the later begins a new sitting if

- it was said `session_idle_hours` or more after the earlier, or
- an hour or more after it, and somebody had gone on in another session of the owner in between.

The newest sitting of a session has ended once the store's clock says that any further message would begin a new one.

**Uses**: a memory was put before the assistant, and the reply says something that only it says. Seed 003 boosts a memory that an
answer rests on, not one that was merely at hand. What an assistant would have said anyway is no sign of it; so the words that count
are those of the memory that nothing else in the prompt has: not the turn, not the messages before it, no tool, no other memory.
Precision goes before recall: one word in common is chance.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from engramlog_server.events.catalogue import MemoryReinforced
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.choices import WORKING_MESSAGES
from engramlog_server.projections.language.keywords import (
    content_words,
    never,
    read_chinese,
    sentences,
    weak,
    weak_chinese,
)
from engramlog_server.projections.language.patterns import begins_with_han, holds_han, regex
from engramlog_server.projections.language.similar import polarity
from engramlog_server.projections.language.text import stem
from engramlog_server.projections.lifecycle.decision import Decision, use_of
from engramlog_server.projections.lifecycle.judge.known import core
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion import deleted_turns, forgotten_turns, rejected_turns
from engramlog_server.projections.memory.record import HOUR, Memory
from engramlog_server.projections.memory.working_memory import (
    ASKING,
    SPEAKING,
    Injection,
    PlannedEpisode,
    Said,
    ToolResult,
    Turn,
    groups,
    is_episode,
    plan,
)
from engramlog_server.projections.views.view import OwnerView


class Sitting(NamedTuple):
    """Messages of one session without a long silence between them, in log order."""

    session: str | None
    turns: list[Turn]
    ends_at: int
    """From when on nothing that is said belongs to it, microseconds since 1970."""
    ended: bool
    """Whether that has come, or a later sitting of the session has begun."""


def sittings(spoken: Sequence[Said], idle: int, now: int) -> list[Sitting]:
    """The sittings in what was said to an owner, in log order; `idle` and `now` in microseconds.

    `told` may begin anywhere: what is cut off changes nothing about where the later sittings begin.
    """
    messages = [each for each in spoken if isinstance(each, Turn) and each.role in SPEAKING]
    newest, newest_after = 0, [0] * len(messages)
    for place in range(len(messages) - 1, -1, -1):
        newest_after[place] = newest
        newest = max(newest, messages[place].at)
    found: list[Sitting] = []
    last: dict[str | None, tuple[int, int]] = {}
    for place, message in enumerate(messages):
        before = last.get(message.session)
        if before is not None and not _apart(messages, before[0], place, idle):
            found[before[1]].turns.append(message)
            last[message.session] = (place, before[1])
            continue
        if before is not None:
            found[before[1]] = found[before[1]]._replace(ended=True)
        last[message.session] = (place, len(found))
        found.append(Sitting(message.session, [message], 0, ended=False))
    for place, number in last.values():
        at = messages[place].at
        ends_at = at + (min(HOUR, idle) if newest_after[place] > at else idle)
        found[number] = found[number]._replace(ends_at=ends_at, ended=now >= ends_at)
    return found


def _apart(messages: Sequence[Turn], one: int, other: int, idle: int) -> bool:
    """Whether of two neighbours in a session the later begins a new sitting."""
    said, gap = messages[one].at, messages[other].at - messages[one].at
    if gap >= idle or gap < HOUR:
        return gap >= idle
    return any(messages[place].at > said for place in range(one + 1, other))


JOB = "sessions"


class DueEpisodes(NamedTuple):
    """What a look at an owner's sittings came to."""

    planned: list[PlannedEpisode]
    waiting_from: int | None
    """Seq of the oldest message that is to become part of a later episode; None for none."""
    next_at: int | None
    """When the next sitting ends if nothing more is said, microseconds since 1970; None where none is open."""


def due(view: OwnerView, told: Sequence[Said], now: int, check: Check = unchecked) -> DueEpisodes:
    """The episodes that fall due at `now`, oldest sitting first, and what is left for later.

    `told`: what was said to the owner in log order, at least from the oldest message on that no episode has.
    """
    forgotten = deleted_turns(view.columns) | rejected_turns(view.columns)
    have = _summed_up(view, forgotten)
    idle = max(int(view.parameters.session_idle_hours * HOUR), 1)
    planned: list[PlannedEpisode] = []
    waiting, ends = [], []
    found_sittings = sittings(told, idle, now)
    for sitting in counted(found_sittings, check, len(found_sittings), every=1):
        found = plan(
            view.owner, sitting.turns, have, ended=sitting.ended, zone=view.parameters.time_zone, forgotten=forgotten
        )
        planned += [one for one in found if view.columns.row(one.data.memory_id) is None]
        if not sitting.ended:
            ends.append(sitting.ends_at)
            waiting += [group[0].seq for group, is_due in groups(sitting.turns, {*have, *forgotten}) if not is_due]
    return DueEpisodes(planned, min(waiting, default=None), min(ends, default=None))


def _summed_up(view: OwnerView, forgotten: Collection[str]) -> set[str]:
    """Turns that an episode has, or had until somebody deleted it; one that went with a turn of its, or is withheld for one,
    is made anew without that."""
    found: set[str] = set()
    for memory, state in zip(view.columns.memories, view.columns.state.tolist(), strict=True):
        gone = state >= Columns.REJECTED and any(turn in forgotten for turn in memory.source_turns)
        if is_episode(memory) and not gone:
            found.update(memory.source_turns)
    return found


def decision(planned: PlannedEpisode) -> Decision:
    """The event that makes an episode: dated with its last message, caused by it, and of its session."""
    said = planned.data.source_turns
    return Decision(
        JOB,
        "summarise",
        (planned.data.memory_id,),
        planned.at,
        planned.last.seq,
        f"{len(said)} {'message' if len(said) == 1 else 'messages'} of one sitting",
        planned.data,
        said_at=planned.at,
        session=planned.last.session,
    )


MOST_READ = 8_000
"""Characters of a reply that are read."""
TOOLS = 16
"""Newest tool results before a reply of which the words are no memory's."""
LEAST_SHARED = 2
"""Words that a sentence of the reply has of a sentence of the memory: one in common is chance ..."""
TOLD = 0.5
"""... and the share of that sentence's words: long texts on one matter have many in common."""
Words = frozenset[str]


@cache
def _empty() -> frozenset[str]:
    """Stems of words that say nothing by themselves."""
    return frozenset(map(stem, never()))


_NOBODY = ("user", "assistant", "用户")
"""What texts call whoever has no name."""
_STAMP = regex(r"^\[[^\]]{16}\] ")
_CODE = regex(r"```.*?(?:```|\Z)", re.DOTALL)
_CLAUSE = regex(r"[,;:，；：、—]|\s[-–]\s|\bbut\b|但是?|不过")
_NAME = regex(r"(?<=[^\s.!?:。！？] )(?!I\b)[A-Z][\w'-]+|\d[\d.,:]*")
"""Capitalised words inside an English sentence, and numbers."""
_KNOWS_NOTHING = regex(
    r"\b(?:(?:do|did|does|can|could|have|has|had|was|were|am|are|is)(?:n't| not)|never|no)\b[^.!?]{0,24}\b(?:know|sure|recall|"
    r"remember|record|find|found|mention(?:ed)?|t(?:ell|old)|sa(?:y|id)|aware|information|memor(?:y|ies)|idea|access)\b"
    r"|(?:不|没有?|未|无法)[^。！？，,]{0,6}(?:知道|清楚|确定|记得|记录|提到|提过|说过|告诉|了解|找到|印象|信息)",
    re.IGNORECASE,
)
"""The assistant says that it does not know."""


class Exchange(NamedTuple):
    """A reply to a turn for which memories were injected."""

    reply: Turn
    turn_id: str | None
    injected: tuple[str, ...]
    """Ids of the memories, each once."""
    said: tuple[str, ...]
    """What else was in sight: the turn, the messages before it, and what tools found."""


def exchanges(told: Sequence[Said], after: int = 0) -> list[Exchange]:
    """The replies beyond the seq `after` that had memories before them, in log order; linked as in `projections.views.answered`."""
    turns: dict[str, Turn] = {}
    for_turn: dict[str, list[str]] = defaultdict(list)
    waiting: dict[str | None, list[Injection]] = defaultdict(list)
    before: dict[str | None, deque[Turn]] = defaultdict(lambda: deque(maxlen=WORKING_MESSAGES + 1))
    tools: deque[str] = deque(maxlen=TOOLS)
    found = []
    for one in told:
        if isinstance(one, ToolResult):
            tools.append(one.text)
        elif isinstance(one, Injection):
            turn = turns.get(one.turn_id) if one.turn_id else None
            waiting[one.session if turn is None else turn.session].append(one)
            if one.turn_id is not None:
                for_turn[one.turn_id] += one.ids
        elif one.role in SPEAKING:
            messages, unanswered = before[one.session], waiting[one.session]
            if one.role in ASKING:
                waiting[one.session] = [each for each in unanswered if each.turn_id == one.turn_id]
            else:
                waiting[one.session] = []
                ids = for_turn[one.reply_to] if one.reply_to else [i for each in unanswered for i in each.ids]
                turn_id = one.reply_to or next((each.turn_id for each in unanswered if each.turn_id), None)
                if ids and one.seq > after:
                    asked = [turns[turn_id].text] if turn_id in turns else []
                    said = (*asked, *(each.text for each in messages), *tools)
                    found.append(Exchange(one, turn_id, tuple(dict.fromkeys(ids)), said))
            messages.append(one)
            turns[one.turn_id] = one
    return found


def uses(view: OwnerView, told: Sequence[Said], after: int = 0, check: Check = unchecked) -> list[Decision]:
    """That memories were used, each once for a reply, in log order. Not those that are gone by now, nor what was forgotten."""
    columns = view.columns
    forgotten = forgotten_turns(columns)
    decisions = []
    found = exchanges(told, after)
    for exchange in counted(found, check, len(found), every=1):
        if exchange.reply.turn_id in forgotten or exchange.turn_id in forgotten:
            continue
        rows = {one: columns.row(one) for one in exchange.injected}
        memories = {
            one: columns.memories[row]
            for one, row in rows.items()
            if row is not None and int(columns.state[row]) == Columns.LIVE
        }
        for memory_id, shared in shaping(exchange, memories).items():
            decisions.append(
                Decision(
                    JOB,
                    "use",
                    (memory_id,),
                    exchange.reply.at,
                    exchange.reply.seq,
                    f"reply {exchange.reply.turn_id} says what only this memory says ({len(shared)} words)",
                    MemoryReinforced(memory_id=memory_id, outcome="used"),
                    said_at=exchange.reply.at,
                    actor="judge",
                    session=exchange.reply.session,
                    once=use_of(memory_id, exchange.reply.turn_id),
                )
            )
    return decisions


def shaping(exchange: Exchange, memories: Mapping[str, Memory]) -> dict[str, frozenset[str]]:
    """The injected memories that shaped the reply, each with the words that show it.

    What the assistant itself once said is left out: it may well say it again by itself.
    """
    at = exchange.reply.at
    texts = {one: _STAMP.sub("", core(_content_at(memory, at))) for one, memory in memories.items()}
    talk = _CODE.sub("\n", exchange.reply.text[:MOST_READ])
    told = [_words_in(one) for one in sentences(talk) if not _KNOWS_NOTHING.search(one)]
    names = [*_NOBODY, *(name for memory in memories.values() if (name := memory.speaker))]
    found = {}
    for memory_id, text in texts.items():
        if memories[memory_id].source == "assistant":
            continue
        # Memories made of one turn say the same thing: they do not take each other's words away.
        origin = set(memories[memory_id].source_turns)
        others = [texts[one] for one in texts if one != memory_id and origin.isdisjoint(memories[one].source_turns)]
        shown = _shown(text, told, [*exchange.said, *others], names)
        if shown:
            found[memory_id] = shown
    return found


def _shown(text: str, told: Sequence[dict[int, Words]], elsewhere: Sequence[str], names: Sequence[str]) -> Words:
    """The words by which a sentence of the reply shows that it rests on the text; none if no sentence does."""
    for stated in sentences(text):
        own, certain = _words(stated) - _words_of(names), _words_of(_NAME.findall(stated))
        for by_polarity in told:
            shared = own & by_polarity.get(polarity(stated), frozenset())
            if len(shared) < max(LEAST_SHARED, TOLD * len(own)):
                continue
            alone = shared - weak() - _words_of(elsewhere)
            alone = frozenset(
                one for one in alone if not begins_with_han(one) or not any(one in each for each in elsewhere)
            )
            if len(alone) >= LEAST_SHARED or alone & certain:
                return alone
    return frozenset()


def _words_in(sentence: str) -> dict[int, Words]:
    """The words of a sentence's clauses by their polarity: what is denied is not what is said."""
    found: dict[int, Words] = {}
    for clause in _CLAUSE.split(sentence):
        sign = polarity(clause)
        found[sign] = found.get(sign, frozenset()) | _words(clause)
    return found


def _words_of(texts: Iterable[str]) -> Words:
    return frozenset[str]().union(*map(_words, texts))


@lru_cache(maxsize=4_096)
def _words(text: str) -> Words:
    """Words by which it is compared: English ones by stem, Chinese nouns, names and verbs as a segmenter cuts them."""
    found = frozenset(one for one in content_words(text) if not begins_with_han(one) and one not in _empty())
    if not holds_han(text):
        return found
    return found | {word for _, _, word, faint in read_chinese(text) if not (faint or word in weak_chinese())}


def _content_at(memory: Memory, at: int) -> str:
    """What the memory said at an instant, as far as its versions are kept."""
    return next((one.content for one in memory.versions if one.until > at), memory.content)
