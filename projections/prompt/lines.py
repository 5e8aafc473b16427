"""What a block may hold of an owner's memories and of a conversation, and what must not be in it. Pure.

Never: a secret, what was negated or superseded, what was deleted, a turn that somebody retracted. Sensitive texts
(addresses, telephone numbers) only where they are asked for. A turn of which something was taken back since says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from engramlog_server.events.partitions import position_text
from engramlog_server.projections.language.prompt_text import prepared
from engramlog_server.projections.language.sensitivity.level import at_most, detect_sensitivity
from engramlog_server.projections.language.times.bounds import bounded, dated
from engramlog_server.projections.memory.columns import STATES, Columns, Correction, state_of
from engramlog_server.projections.memory.deletion import deleted_memories
from engramlog_server.projections.memory.kind import is_statement, is_summary
from engramlog_server.projections.memory.record import DAY, SECRET, Memory, handle_of, trust_told, with_changes
from engramlog_server.projections.memory.working_memory import SENSITIVE, Conversation, Turn, local
from engramlog_server.projections.prompt.block import Line

NEWEST_MESSAGES = 10
"""Messages that are kept before episodes, and episodes before older messages, where the budget is short."""
IDLE = DAY
"""Microseconds without a message after which a session is an earlier conversation."""
HIDDEN = {"en": "(withheld)", "zh": "（已隐去）"}
FROM = {
    "assistant": {"en": ", from the assistant", "zh": "，来自助手"},
    "import": {"en": ", from an import", "zh": "，来自导入"},
}
CONFLICT = {"en": "may contradict", "zh": "可能矛盾于"}
DISPUTED = {"en": "may be contradicted", "zh": "可能有矛盾"}
UNTIL = {"en": "until", "zh": "有效至"}
NO_LONGER = {"en": "no longer so", "zh": "已不成立"}
SINCE = {"en": "since then", "zh": "此后"}
TRUST: Mapping[str, Mapping[str, str]] = {
    "proposed": {"en": "unconfirmed", "zh": "待确认"},
    "inferred": {"en": "inferred", "zh": "推断"},
    "disputed": {"en": "disputed", "zh": "有异议"},
}
MOST_CORRECTIONS = 3
LONGEST_CORRECTION = 100
"""Characters."""


class Rules(NamedTuple):
    """What the lines of one block go by."""

    zone: str
    language: str
    most_sensitive: int
    """Sensitivity up to which texts may be shown: 1, or 2 where sensitive ones are asked for."""
    forgotten: frozenset[str]
    """Turns that somebody retracted."""
    corrected: Callable[[str], Sequence[Correction]] = lambda _id: ()
    """What of a memory or turn, by its id, no longer holds."""
    withdrawn: Mapping[str, str] = {}
    """Memory -> why it may not stand in a block about the past: what is known of it today."""
    least_trust: int = 0
    """How far a memory must be trusted, as records have it."""
    erased: frozenset[str] = frozenset()
    """Of the forgotten turns those of which only the words are gone: what was drawn from them stands."""


def why_not(memory: Memory, rules: Rules) -> str | None:
    """The weightiest reason why a memory that normal mode shows may not be in a prompt as true, or None."""
    forgotten = [turn in rules.forgotten for turn in memory.source_turns]
    drawn = memory.source == "judge" and rules.erased.isdisjoint(memory.source_turns)
    reasons = (
        ("secret", memory.sensitivity >= SECRET),
        ("negated", memory.is_negated),
        (rules.withdrawn.get(memory.id, ""), memory.id in rules.withdrawn),
        ("sensitive", memory.sensitivity > rules.most_sensitive),
        ("trust", memory.trust < rules.least_trust),
        ("deleted", any(forgotten) and (not is_statement(memory) or (drawn and all(forgotten)))),
    )
    return next((reason for reason, applies in reasons if applies), None)


def if_it_held(memory: Memory) -> Memory:
    """A version that something newer replaced, as if it still held, because a block may show it behind the newer one."""
    return with_changes(memory, negated_at=None) if memory.is_superseded and memory.superseded_by else memory


def why_hidden(memory: Memory) -> str | None:
    """Why a memory, as it was at the moment of a block, cannot be in it; None if it can."""
    state = state_of(memory)
    return STATES[state] if state != Columns.LIVE else "negated" if memory.is_negated else None


def withdrawn(today: Columns, most_sensitive: int) -> dict[str, str]:
    """Memories that no block about the past shows, with the reason: deleted since, or more sensitive today."""
    rows = (today.sensitivity > most_sensitive).nonzero()[0].tolist()
    found = {today.memories[row].id: "sensitive" for row in rows}
    return found | dict.fromkeys(deleted_memories(today), "deleted")


def memory_line(memory: Memory, rules: Rules, relevance: float | None = None, *, with_hour: bool = False) -> Line:
    """A memory with the day it was made, who said it, what of it no longer holds, and what it may contradict.

    `with_hour`: the time of day too, for a block in which other lines are of the same day.
    """
    said = local(memory.created_at, rules.zone)
    notes = [f"{said:%Y-%m-%d %H:%M}" if with_hour else f"{said:%Y-%m-%d}", memory.speaker or "", _trust(memory, rules)]
    if memory.conflicts:
        notes.append(f"{CONFLICT[rules.language]} {' '.join(map(handle_of, memory.conflicts[:3]))}")
    notes += [_until(memory.content, memory.worded_at, rules), *_corrections(memory.id, rules)]
    text = dated(memory.content, memory.worded_at, rules.zone)
    return Line("memory", memory.id, text, _noted(notes, rules), relevance)


def holding_line(memory: Memory, rules: Rules) -> Line:
    """A memory that always holds. Its note has no words of other memories, and no ids of what contradicts it."""
    notes = [f"{local(memory.created_at, rules.zone):%Y-%m-%d}", memory.speaker or "", _trust(memory, rules)]
    if memory.conflicts:
        notes.append(DISPUTED[rules.language])
    if rules.corrected(memory.id):
        notes.append(NO_LONGER[rules.language])
    return Line("memory", memory.id, memory.content, _noted(notes, rules))


def _trust(memory: Memory, rules: Rules) -> str:
    """How far the memory can be trusted, and who said what waits for a person; empty for the user's own word."""
    trust = TRUST.get(trust_told(memory), {}).get(rules.language, "")
    return trust if memory.trust else trust + FROM.get(memory.source, {}).get(rules.language, "")


def _corrections(memory_id: str, rules: Rules) -> list[str]:
    """What of a memory or turn no longer holds, the last corrected first, each once."""
    return list(dict.fromkeys(_since(one, rules) for one in rules.corrected(memory_id)[:MOST_CORRECTIONS]))


def _until(text: str, said_at: int, rules: Rules) -> str:
    """The last day on which what was said holds, where it says so itself."""
    bound = bounded(text, said_at, rules.zone)
    return "" if bound is None else f"{UNTIL[rules.language]} {local(bound.until - 1, rules.zone):%Y-%m-%d}"


def _noted(notes: Iterable[str], rules: Rules) -> str:
    return ("，" if rules.language == "zh" else ", ").join(filter(None, notes))


def _since(correction: Correction, rules: Rules) -> str:
    """What became of a statement; without words where its own may not stand in a prompt."""
    now, old = correction.now, correction.old
    if now is not None and why_not(now, rules) is None:
        return f"{SINCE[rules.language]} [{handle_of(now.id)}] {_short(now.content)}"
    shown = old.sensitivity <= rules.most_sensitive and rules.forgotten.isdisjoint(old.source_turns)
    return f"{NO_LONGER[rules.language]}: {_short(old.content)}" if shown else NO_LONGER[rules.language]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_CORRECTION else text[: LONGEST_CORRECTION - 1].rstrip() + "…"


class Chosen(NamedTuple):
    """Memories for a part of the block, in its order, and how many others may not be in it, by reason."""

    shown: list[Memory]
    left_out: Counter[str]


def allowed(
    memories: Iterable[Memory], reason: Callable[[Memory], str | None], left_out: Counter[str]
) -> Iterator[Memory]:
    """The memories without a `reason` against them; `left_out` counts the others by reason."""
    for memory in memories:
        if (why := reason(memory)) is None:
            yield memory
        else:
            left_out[why] += 1


def repeats_talk(memory: Memory, conversation: Conversation, text: str) -> bool:
    """Whether a memory only repeats a message of the conversation or the turn itself, by its words or by its only source."""
    content, turn_id = memory.content.strip(), conversation.turn_id
    if content == text.strip() or (turn_id is not None and memory.source_turns == (turn_id,)):
        return True
    messages = {turn.turn_id: turn.text.strip() for turn in conversation.messages}
    repeats = any(messages.get(turn) == content for turn in memory.source_turns)
    return repeats or sums_up_the_newest(memory, conversation)


def sums_up_the_newest(memory: Memory, conversation: Conversation) -> bool:
    """Whether it only sums up the newest messages, which are kept before any episode."""
    newest = {turn.turn_id for turn in conversation.messages[-NEWEST_MESSAGES:]}
    return is_summary(memory) and bool(memory.source_turns) and newest.issuperset(memory.source_turns)


def message_lines(messages: Sequence[Turn], rules: Rules, now: int) -> list[Line]:
    """Messages with their speakers, and their days if not today; a text that must not be shown is replaced by a mark."""
    today = local(now, rules.zone).date()
    lines = []
    for one in messages:
        day, text = local(one.at, rules.zone).date(), HIDDEN[rules.language] if is_withheld(one, rules) else one.text
        notes = ["" if day == today else day.isoformat(), _known_as(one.name, rules, one.level)]
        notes += [_until(text, one.at, rules), *_corrections(one.turn_id, rules)]
        lines.append(Line("turn", one.turn_id, text, _noted(notes, rules)))
    return lines


def is_earlier(conversation: Conversation, episodes: Sequence[Memory], now: int) -> bool:
    """Whether the session had no message for a day, so that it does not go on."""
    times = [conversation.messages[-1].at] if conversation.messages else [one.created_at for one in episodes[-1:]]
    return any(now - time > IDLE for time in times)


def is_withheld(turn: Turn, rules: Rules) -> bool:
    """Whether a block does not show the text of a turn."""
    return turn.is_erased or turn.turn_id in rules.forgotten or not at_most(rules.most_sensitive, turn.text, turn.level)


def _known_as(name: str, rules: Rules, level: int | None = None) -> str:
    """Who said it, or which tool: a name is a producer's text too."""
    return name if at_most(rules.most_sensitive, name, level) else HIDDEN[rules.language]


def keeping_order(episodes: int, messages: int) -> list[int]:
    """In which order `remembered` is kept: the newest ten messages, episodes, older messages; each from the newest back."""
    newest_first = list(range(episodes + messages - 1, episodes - 1, -1))
    return newest_first[:NEWEST_MESSAGES] + list(range(episodes - 1, -1, -1)) + newest_first[NEWEST_MESSAGES:]


def tool_lines(conversation: Conversation, text: str, partition: int, rules: Rules) -> tuple[list[Line], int]:
    """Results of tools for the turn before, the newest first, by position; and how many are too sensitive to be shown."""
    about = " ".join([*(turn.text for turn in conversation.messages[-2:]), text])
    lines, hidden = [], 0
    for one in reversed(conversation.tools):
        if one.turn_id is not None and one.turn_id in rules.forgotten:
            hidden += 1
        elif result := prepared(one.text, about):
            if detect_sensitivity(result) > rules.most_sensitive:
                hidden += 1
            else:
                lines.append(Line("tool", position_text(partition, one.seq), result, _known_as(one.tool, rules)))
    return lines, hidden


def sensitivity_allowed(sensitive: bool) -> int:
    """The most sensitive level that may be shown: never a secret."""
    return SENSITIVE if sensitive else SENSITIVE - 1


_DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": tuple(f"星期{day}" for day in "一二三四五六日"),
}


def time_line(now: int, zone: str, language: str) -> str:
    """The owner's local time, e.g. `2026-11-22 17:30 Sunday (Asia/Shanghai)`."""
    moment = local(now, zone)
    return f"{moment:%Y-%m-%d %H:%M} {_DAYS[language][moment.weekday()]} ({zone})"
