"""Which lines stand in a block, and how each is written: memories, messages, tools, the profile and standing instructions. Pure.

Never in a block: a secret, what was negated or superseded, what was deleted, a turn that somebody retracted. Sensitive texts
(addresses, telephone numbers) only where they are asked for. A turn of which something was taken back since says so.

The profile and the standing instructions hold only what the user said or confirmed, whatever its weight: what the user wrote, or
what the rules of extraction read in an unchanged turn of theirs. A memory that somebody else writes, revises or merges does not
have this ground, and neither does what an assistant or a tool says.

The order of the profile: name and form of address; household and health that others must know; home; work; lasting preferences;
plans; the rest. Within a class the memory confirmed most often is first, then the newest. A line leaves when its memory is
negated, replaced, merged or deleted, or when the day of its plan is over. Without a day a state leaves after seven days, an
intention after half a year, and what rules read in talk after a month where its form does not last (`language.about_user`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from engramlog_server.events.partitions import position_text
from engramlog_server.events.trust import ASSERTED, ORDER
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.language.about_user import CLASSES, Drawn, about_user, parts_of_others, passing_days
from engramlog_server.projections.language.extraction.instructions import INSTRUCTION
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.orders import overrides_rules
from engramlog_server.projections.language.prompt_text import prepared
from engramlog_server.projections.language.sensitivity.level import at_most, detect_sensitivity
from engramlog_server.projections.language.times.bounds import bounded, dated, plan_over
from engramlog_server.projections.memory.columns import STATES, Columns, Correction, state_of
from engramlog_server.projections.memory.deletion import deleted_memories, turns_behind
from engramlog_server.projections.memory.kind import is_statement, is_summary, is_turn
from engramlog_server.projections.memory.record import DAY, SECRET, Memory, handle_of, trust_told, with_changes
from engramlog_server.projections.memory.working_memory import SENSITIVE, Conversation, Turn, local
from engramlog_server.projections.prompt.block import Line
from engramlog_server.projections.views.view import OwnerView

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


NOT_THE_USERS = "not the user's words"
"""Why a memory is not in the stable part."""
AN_ORDER, OUTDATED, A_PART = "an order", "may be outdated", "part of another line"
"""Why a memory is not in the profile: it orders its reader, a newer one may contradict it, or a line says it and more."""
MOST_LINES = 60
"""Lines of a profile at most."""
MOST_LOOKED_AT = 400
"""Statements that are looked at, the newest."""
MOST_INSTRUCTIONS = 10
MOST_INSTRUCTIONS_READ = 100
"""The newest instructions that are looked at."""
MOST_KEPT = 10_000
"""Turns whose statements are kept; beyond it all are dropped."""
MOST_TURNS = 20
"""Turns behind a memory that are read for it, the first."""
_BYTES_A_TURN = 300


class OwnWords:
    """The statements of turns, kept with a view: each turn is read once until it changes."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, dict[str, str]]] = {}
        """Turn -> time zone -> content of each statement that it asserts, with its kind."""
        self._characters = 0

    def put(self, _row: int, memory: Memory) -> None:
        """Drop the statements of a row that is new or has changed."""
        self._characters -= sum(map(len, (text for kinds in self._kept.pop(memory.id, {}).values() for text in kinds)))

    def holds(self, memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> bool:
        """Whether the user wrote the memory, or a turn of theirs states it."""
        return _is_written_by_user(memory, columns) or any(self.kinds(memory, columns, standing, rules))

    def kinds(self, memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> Iterator[str]:
        """The kinds of the statements that turns of the user make in just the words of the memory."""
        for turn in islice(_turns(memory, columns, standing, rules), MOST_TURNS):
            if (kind := self._statements(turn, rules.zone).get(memory.content)) is not None:
                yield kind

    def _statements(self, turn: Memory, zone: str) -> dict[str, str]:
        statements = self._kept.get(turn.id, {}).get(zone)
        if statements is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
                self._characters = 0
            day = local(turn.created_at, zone).date().isoformat()
            read = extract(TurnText(turn.id, turn.content, "user", turn.speaker, day))
            statements = {statement.content: statement.kind for statement in read if statement.asserted}
            self._kept.setdefault(turn.id, {})[zone] = statements
            self._characters += sum(map(len, statements))
        return statements

    def bytes_used(self) -> int:
        """About how many bytes it takes."""
        return _BYTES_A_TURN * len(self._kept) + 2 * self._characters


def _turns(memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> Iterator[Memory]:
    """The user's unchanged turns behind a memory."""
    for turn_id in turns_behind(memory):
        row = None if turn_id in rules.forgotten else columns.row(turn_id)
        if row is not None and standing[row] in (Columns.LIVE, Columns.MERGED):
            turn = columns.memories[row]
            if is_turn(turn) and turn.source == "user" and not turn.versions and turn.speaker == memory.speaker:
                yield turn


def _is_written_by_user(memory: Memory, columns: Columns) -> bool:
    """Whether the user wrote its words; of a merge, whether it has the words of one that the user wrote."""
    rows = (columns.row(part) for part in memory.merged_from)
    parts = [columns.memories[row] for row in rows if row is not None] if memory.merged_from else [memory]
    return any(
        part.content == memory.content
        and part.source == "user"
        and part.trust == ORDER[ASSERTED]
        and part.revised_by is None
        and not (memory.merged_from and part.merged_from)
        for part in parts
    )


def standing_instructions(view: OwnerView, rules: Rules) -> Chosen:
    """The newest standing instructions that a turn of the user asks for in these words, and how many others there are by reason."""
    columns, own = view.columns, view.index(OwnWords)
    standing = columns.standing()
    live = np.flatnonzero((standing == Columns.LIVE) & (columns.kind == columns.kind_number(INSTRUCTION))).tolist()
    found = (columns.memories[row] for row in live)
    newest = sorted(found, key=lambda one: (-one.created_at, -one.created_seq, one.id))

    def reason(memory: Memory) -> str | None:
        if (why := why_not(memory, rules)) is not None:
            return why
        return None if INSTRUCTION in own.kinds(memory, columns, standing, rules) else NOT_THE_USERS

    left_out: Counter[str] = Counter()
    shown = allowed(newest[:MOST_INSTRUCTIONS_READ], reason, left_out)
    return Chosen(list(islice(shown, MOST_INSTRUCTIONS)), left_out)


def profile_of(view: OwnerView, now: int, rules: Rules, elsewhere: frozenset[str], check: Check = unchecked) -> Chosen:
    """The profile of an owner without the memories that are in every prompt anyway (`elsewhere`, by id).

    `now` counts by the day. `check` is called before each memory, of which up to twenty turns are read, and may raise.
    """
    columns, own = view.columns, view.index(OwnWords)
    standing = columns.standing()
    said = {columns.memories[row].content for one in elsewhere if (row := columns.row(one)) is not None}
    classes: list[list[Memory]] = [[] for _ in CLASSES]
    left_out: Counter[str] = Counter()
    for at, memory in enumerate(_newest(columns, standing)):
        check(at, MOST_LOOKED_AT)
        place = about_user(memory.content)
        if place is None or memory.id in elsewhere or memory.content in said:
            continue
        reason = _why_not(memory, now, rules)
        beside = (row for other in memory.conflicts if (row := columns.row(other)) is not None)
        newer = any(standing[row] == Columns.LIVE and columns.created_at[row] > memory.created_at for row in beside)
        reason = reason or (OUTDATED if newer else None)
        reason = reason or (None if own.holds(memory, columns, standing, rules) else NOT_THE_USERS)
        reason = reason or (AN_ORDER if overrides_rules(memory.content) else None)
        if reason is None:
            classes[place].append(memory)
            said.add(memory.content)
        else:
            left_out[reason] += 1
    for memories in classes:
        memories.sort(key=lambda one: (-one.mention_count, -one.created_at, -one.created_seq, one.id))
    lines = [memory for memories in classes for memory in memories][:MOST_LINES]
    parts = parts_of_others([memory.content for memory in lines])
    left_out.update([A_PART] * len(parts))
    return Chosen([one for at, one in enumerate(lines) if at not in parts], left_out)


def _newest(columns: Columns, standing: np.ndarray) -> Iterator[Memory]:
    """The newest statements that hold, the newest first."""
    rows = np.flatnonzero(standing == Columns.LIVE)
    order = np.lexsort((columns.created_seq[rows], columns.created_at[rows]))[::-1]
    newest = (columns.memories[row] for row in rows[order].tolist())
    return islice((one for one in newest if one.kind != INSTRUCTION and is_statement(one)), MOST_LOOKED_AT)


def _why_not(memory: Memory, now: int, rules: Rules) -> str | None:
    """Why it may not be in the profile."""
    if (reason := why_not(memory, rules)) is not None:
        return reason
    if memory.grounds_changed:
        return "grounds changed"
    if rules.corrected(memory.id):
        return "corrected"
    bound = bounded(memory.content, memory.worded_at, rules.zone)
    until = plan_over(memory.content, memory.worded_at, rules.zone) if bound is None else bound.until
    if until is not None:
        return "over" if until <= now - now % DAY else None
    drawn = Drawn(memory.category, memory.kind, memory.speaker) if memory.source == "judge" else None
    days = passing_days(memory.content, drawn)
    return "over" if days is not None and memory.last_activated_at + days * DAY < now - now % DAY else None
