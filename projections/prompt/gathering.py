"""Gathering what a block may hold: whether the message needs memory, the memories, the conversation, the hits of the search. Pure.

A message is read without a model, English and Chinese: whether it needs memory, and what to search for. Every pattern takes time
proportional to the text, and at most `LONGEST` characters are read.

A provider caches the beginning of a prompt as long as no byte of it changes. So nothing in the stable part depends on the time of
day, on weights or on the question; its titles are in the language of its own lines.

A block is gathered once when it is handed out, and again from its recorded injection if somebody asks how it was made:
that is enough to prove that both are the same. The digests are keyed with the owner's secret, so nobody who lacks it confirms a
guess of a short text. A block never holds a secret; of a question that does there is no digest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Literal, NamedTuple, TypedDict, get_args

import numpy as np

from engramlog_server.events.catalogue import BlockMade, BroughtUp, StableMade
from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.envelope import from_micros, keyed
from engramlog_server.events.trust import ORDER, TRUSTS
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.embedding.meaning import NEAR, SURE
from engramlog_server.projections.index.names import SaidNames
from engramlog_server.projections.language.keywords import asked_words, content_words, says_something, sentences
from engramlog_server.projections.language.kin import chinese as kin_chinese
from engramlog_server.projections.language.orders import gives_orders, sounds_like_an_order
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.prompt_text import TokenCount, is_chinese
from engramlog_server.projections.language.questions import GENERAL_KNOWLEDGE, asked_parts, asks
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.deletion import erased_turns, forgotten_turns
from engramlog_server.projections.memory.kind import (
    always_holds,
    is_asked_again,
    is_of_pattern,
    is_statement,
    is_turn,
    suggested_by,
)
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.memory.working_memory import Conversation, local
from engramlog_server.projections.prompt.block import (
    CLOSE,
    LEAST_BUDGET,
    STABLE,
    TITLES,
    TURN,
    Block,
    Line,
    Material,
    build,
)
from engramlog_server.projections.prompt.lines import (
    Rules,
    allowed,
    holding_line,
    if_it_held,
    is_earlier,
    keeping_order,
    memory_line,
    message_lines,
    profile_of,
    repeats_talk,
    sensitivity_allowed,
    standing_instructions,
    sums_up_the_newest,
    time_line,
    tool_lines,
    why_hidden,
    why_not,
    withdrawn,
)
from engramlog_server.projections.views.query import corrections_in, seen_at
from engramlog_server.projections.views.view import OwnerView

Need = Literal["yes", "no", "unsure"]
Related = Literal["auto", "always", "never"]
RELATED: tuple[Related, ...] = get_args(Related)
LONGEST = 8_000
"""Characters of a message that are read."""
LONG = 400
"""Characters from which a message is reduced to the sentences that ask."""
SHORT_WORDS = 2
"""Different words up to which a message is understood by the turns before it."""

_FENCES = regex(r"```.{0,8000}?(?:```|$)", 16)
_QUOTES = regex(r"\"[^\"\n]{2,2000}\"|“[^”\n]{2,2000}”|「[^」\n]{2,2000}」|『[^』\n]{2,2000}』|《[^》\n]{1,100}》")
_PAYLOAD = regex(
    r"^(?P<ask>[^:：\n]{0,160}?(?:\b(?:translate|proofread|fix|correct|rewrite|rephrase|paraphrase|summari[sz]e|shorten"
    r"|turn this|convert"
    r"|sort|format|edit|improve|put this|change this)\b|翻译|翻成|译成|改写|改成|润色|总结|概括|缩写|校对|错别字|排序"
    r"|转换|改为|扩写)"
    r"[^:：\n]{0,160})[:：](?P<rest>.+)$",
    2 | 16,
)
_FAVOUR = regex(
    r"\b(?:give|show|tell|help|teach|send|write|make|find|get|draw|remind|explain(?: to)?|let|walk|excuse|forgive|trust"
    r"|pardon) me\b"
    r"|\b(?:can|could|may|how do|how can|how should|how would) (?:i|we)\b|\bi (?:want|need|would like|wonder|have a question)\b"
    r"|\bi(?:'d|’d) like\b|\blet(?:'|’)s\b|(?:帮|给|教|告诉|替|为|请|让|跟|和|对)(?:一下)?我(?!们|的|家|爸|妈|老)",
    2,
)
_SPEAKER = regex(
    lambda: (
        r"\b(?:i|i['’](?:m|ve|d|ll)|me|my|mine|myself|we|we['’](?:re|ve|d|ll)|us|our|ours|ourselves)\b"
        rf"|\b(?:mum|mom|dad|granny|grandma|grandpa|hubby)\b|我|咱|俺|家里|全家|家人|[上下]班(?!族)|领导(?![力者人])|老板|同事|[回老]家|一家[一二三四五六]口|{kin_chinese()}"
    ),
    2,
)
_LIFE = regex(
    r"\b(?:plan|schedule|itinerary|packing|shopping list|gift|present|birthday|anniversary|dinner|workout)\b"
    r"|安排|计划|规划|行程|行李|礼物|生日|纪念日|清单|食谱",
    2,
)
"""Requests that are answered by what somebody's own life is like."""
_BACK = regex(
    r"\b(?:again|as usual|the usual|like before|last time|as always|remember(?:ed)?|remind|previously|earlier"
    r"|we (?:talked|discussed|spoke)"
    r"|you (?:said|told|mentioned|suggested|recommended|gave|know about)|did you|have you|yesterday|the other day|so far"
    r"|our (?:chat|conversation)s?)\b"
    r"|上次|上回|老样子|照旧|还是那|之前|刚才|昨天|前几天|记得|你说过|提到过|聊过|讲过|说过|跟你说",
    2,
)
_PAST = regex(
    r"\b(?:before|previous(?:ly)?|formerly|used to|back then|in the past|old)\b|以前|之前|从前|原来|原先|过去|曾", 2
)
_ONE_THING = regex(
    r"[?？][\"'”’」』)）\s]*$|^\W*(?:(?:and|so|but|please|hey|hi)[, ]+)*(?:what|when|where|who|whom|whose|which|why|how"
    r"|did|does|do|is|are|was|were"
    r"|has|have|had|can|could|will|would|should|am)\b|什么|哪|谁|怎么|怎样|如何|为什么|几[个次种岁点]|多少|多久|是不是"
    r"|有没有|吗|呢",
    2,
)
"""A question; an order ("plan a dinner") may use all that is known."""
_STATES = regex(r"\W*(?:(?:i|we|my|our)\b|我|咱)", 2)
"""How a statement about the speaker begins, which wants nothing done."""
_WORD = regex(r"[a-z0-9][\w'’-]*[a-z0-9]|[a-z0-9]")
_CONTINUES = regex(
    r"^\W*(?:and|but|so|then|also|what about|how about|why not|which one|the (?:first|second|third|last|other) (?:one)?"
    r"|ok(?:ay)?[, ]+(?:and|but|so))\b"
    r"|^(?:那|那么|然后|还有|所以|另外|第[一二三]个)|(?:那个|这个|哪个|呢)[？?]?$",
    2,
)


class MessageRead(NamedTuple):
    """A message as far as memory is concerned."""

    ask: str
    """The message without payload: quoted text, code, text to be translated or fixed."""
    need: Need
    """`unsure`: only the nearness of the owner's best memory can decide."""
    continues: bool
    """It goes on from the turns before it."""
    refers_back: bool
    """It names an earlier conversation."""
    several: bool
    """It asks for several things, an order or a total: the whole budget may be used."""
    orders: bool = False
    """It wants something done, so everything about the user may matter."""
    past: bool = False
    """It asks for what was so before."""


def read_message(text: str, before: Sequence[str] = (), names: Collection[str] = ()) -> MessageRead:
    """Read a message; `before`: the texts of the turns before it, `names`: names that the owner's memories hold, in lower case."""
    ask = without_payload(text)
    plan = asked_parts(ask)
    asks_one = _ONE_THING.search(ask) is not None
    several = plan.many or plan.ordered or len(plan.parts) > 1 or not asks_one
    orders, past = not asks_one and not _STATES.match(ask), _PAST.search(ask) is not None
    continues = bool(before) and (_CONTINUES.search(ask.strip()) is not None or len(content_words(ask)) <= SHORT_WORDS)
    back = _BACK.search(ask) is not None
    if not says_something(ask) and not (continues and asks(ask)):
        return MessageRead(ask, "no", continues, back, several, orders, past)
    plain = _FAVOUR.sub(" ", ask)
    need: Need = "unsure"
    if back or continues or any(pattern.search(plain) for pattern in (_SPEAKER, _LIFE)) or _named(ask, names):
        need = "yes"
    elif GENERAL_KNOWLEDGE.search(ask) is not None:
        need = "no"
    return MessageRead(ask, need, continues, back, several, orders, past)


def decided(message: MessageRead, related: Related, nearness: float | None) -> MessageRead:
    """The message with the decision whether it needs memory; `nearness` is None without vectors."""
    if related != "auto":
        return message._replace(need="yes" if related == "always" else "no")
    if message.need != "unsure" or nearness is None:
        return message
    return message._replace(need="no" if nearness < NEAR else "unsure" if nearness < SURE else "yes")


def readings(message: MessageRead) -> Iterator[MessageRead]:
    """The message as it is read, then as it may have been read when the words or the names of then are not known."""
    yield message
    for back, need in product((False, True), get_args(Need)[:2]):
        yield message._replace(ask="", refers_back=back, need=need)


def without_payload(text: str) -> str:
    """The message without what it only carries; the whole message if nothing else would be left."""
    text = text[:LONGEST]
    bare = _QUOTES.sub(" ", _FENCES.sub(" ", text)).strip()
    if (carried := _PAYLOAD.match(bare)) is not None:
        bare = carried["ask"].strip()
    return bare or text.strip()


def query_of(message: MessageRead, before: Sequence[str] = ()) -> str:
    """What to search for: the sentences that ask, and the last two turns if the message is understood by them."""
    ask = message.ask
    if len(ask) > LONG:
        parts = sentences(ask)
        kept = [part for at, part in enumerate(parts) if at in (0, len(parts) - 1) or asks(part)]
        ask = " ".join(kept)[:LONGEST]
    if message.continues:
        ask = "\n".join([*before[-2:], ask])
    return ask


def _named(ask: str, names: Collection[str]) -> bool:
    """Whether the message names something that the owner's memories name."""
    folded = ask.casefold()
    words_of = set(_WORD.findall(folded))
    return any(name in words_of or (name in folded and not name.isascii()) for name in names)


class Match(TypedDict):
    """What is read of a search result."""

    id: str
    level: str
    score: float


MOST_CORE = 100
MOST_EPISODES = 3
NO_GROUND = "without ground"
"""Why a memory of tier core or system is not among what always holds."""
STOP = (0.15, 0.35)
"""Shares of the best line's score, and of the score of the line before, below which no further line is related if the message asks
for one thing."""
UNSURE = 3
"""Lines at most for a message of which only nearness says that it needs memory."""
MOST_LINES = 60
"""Related lines at most."""
COVERED = 0.7
"""Share of a turn's words from which a statement drawn from it says all that matters in it."""
EARLIER = 2
"""Last messages of an earlier conversation that are shown with its summary."""

_CLAUSES = regex(r"(?<=[。！？；，!?;,])|(?<=[.])\s|\n")


class Wanted(NamedTuple):
    """How a block is wanted, checked."""

    budget: int
    messages: int
    sensitive: bool
    language: str
    threshold: float
    """Least closeness of a related memory, 0 to 1; 0 by default."""
    trust: int
    """The least trust of a memory, as records number it."""
    stable: int
    """Tokens that the stable part may take; 0: none of it."""
    stable_language: str | None = None
    """Of its titles; None: the language of its lines."""
    related: Related = "auto"
    project: str | None = None
    """Where the message is said, as if it named this project."""


class Close(NamedTuple):
    """A memory that is related to the turn."""

    memory_id: str
    level: str
    """How much of it the search showed."""
    closeness: float | None


class AskedTurn(NamedTuple):
    """The turn that a block is for."""

    text: str
    talk: Conversation
    """The conversation that it belongs to."""
    message: MessageRead
    wanted: Wanted


class Always(NamedTuple):
    """What a block holds whatever is asked, and why other memories are not in it."""

    core: list[Memory]
    """Of tiers system and core with a ground (`projections.memory.kind`): system first, then by importance, then the newest."""
    episodes: list[Memory]
    """The session's newest, oldest first."""
    left_out: Counter[str]
    instructions: list[Memory]
    """The newest first; with a stable part those that it does not show whole."""
    stable: frozenset[str] = frozenset()
    """Ids of what the stable part shows."""
    shortened: frozenset[str] = frozenset()
    """Ids of what the stable part shows only the beginning of: the turn part may show all of it."""
    rest: Sequence[Memory] = ()
    """The lines of the profile that the stable part does not show whole."""

    @property
    def ids(self) -> set[str]:
        """Ids of memories that are not shown a second time."""
        return {memory.id for memory in self.episodes} | (self.stable - self.shortened)

    def with_stable(self, block: Block, profile: Sequence[Memory]) -> Always:
        """The same with a stable part, made of these lines of the profile."""
        whole = frozenset(block.memories) - block.shortened
        instructions = [memory for memory in self.instructions if memory.id not in whole]
        rest = [memory for memory in profile if memory.id not in whole]
        return self._replace(
            instructions=instructions, stable=frozenset(block.memories), shortened=block.shortened, rest=rest
        )


def named_in(view: OwnerView) -> frozenset[str]:
    """Names that the user's memories hold, and the names of those who spoke; lower case."""
    return view.index(SaidNames).names | frozenset(name.casefold() for name in view.conversation.speakers())


def rules_of(view: OwnerView, wanted: Wanted, today: OwnerView | None = None) -> Rules:
    """The rules for its lines; for a block about the past also what is withheld `today`."""
    columns, most = view.columns, sensitivity_allowed(wanted.sensitive)
    forgotten, since = forgotten_turns(columns), dict[str, str]()
    if today is not None:
        forgotten |= forgotten_turns(today.columns)
        since = withdrawn(today.columns, most)
    erased = erased_turns(columns if today is None else today.columns)
    corrected, zone = partial(corrections_in, view), view.parameters.time_zone
    return Rules(zone, wanted.language, most, forgotten, corrected, since, wanted.trust, erased)


def always(view: OwnerView, now: int, talk: Conversation, rules: Rules) -> Always:
    """What always holds and standing instructions, whatever their weight, and the session's episodes that normal mode shows.

    Without episodes that sum up only the newest messages: the block has the messages.
    """
    columns, stable = view.columns, stable_rules(view, rules)
    instructions, left_out = standing_instructions(view, stable)
    rows = np.flatnonzero((columns.standing() == Columns.LIVE) & (columns.tier <= Columns.CORE)).tolist()
    firm = (columns.memories[row] for row in rows)
    core = list(allowed(firm, lambda one: why_not(one, stable) if always_holds(one) else NO_GROUND, left_out))
    core.sort(key=lambda one: (one.tier != "system", -one.importance, -one.created_at, one.id))
    shown = np.flatnonzero(seen_at(view, now, "normal").shown & (columns.tier == Columns.EPISODE)).tolist()
    summaries = (columns.memories[row] for row in shown if talk.session is not None)
    own = allowed((one for one in summaries if one.session == talk.session), lambda one: why_not(one, rules), left_out)
    episodes = [memory for memory in own if not sums_up_the_newest(memory, talk)]
    episodes.sort(key=lambda one: (one.created_at, one.id))
    core = [memory for memory in core[:MOST_CORE] if not view.hides(memory.id)]
    instructions = [memory for memory in instructions if not view.hides(memory.id)]
    return Always(core, episodes[-MOST_EPISODES:], left_out, instructions)


def stable_rules(view: OwnerView, rules: Rules) -> Rules:
    """The rules for lines of the stable part: without sensitive texts if the owner's parameter says so."""
    return rules if view.parameters.stable_sensitive else rules._replace(most_sensitive=sensitivity_allowed(False))


def related(
    view: OwnerView,
    now: int,
    results: Sequence[Match],
    closeness: Sequence[float],
    asked: AskedTurn,
    rules: Rules,
    holds: Always,
) -> list[Close]:
    """What the search found for the turn, in its order, until the score falls; for an order also the rest of the profile.

    Standing instructions without room in the stable part are among them, in their order. If the message asks for the past, the
    versions that a memory replaced follow it.
    """
    found: list[Close] = []
    shown: list[Memory] = []
    best = last = 0.0
    elsewhere = holds.ids
    # A conversation of another day is not in the block: what was said in it may be related.
    talk = asked.talk._replace(messages=()) if is_earlier(asked.talk, holds.episodes, now) else asked.talk
    others = view.index(SaidNames).projects
    before = asked.talk.messages[-2:] if asked.message.continues else ()
    topic = "\n".join([*(turn.text for turn in before), asked.text, asked.wanted.project or ""]).casefold()
    others -= {project for project in others if len(others) == 1 or project in topic}
    versions = earlier_versions(view) if asked.message.past else {}
    most = UNSURE if asked.message.need == "unsure" and asked.wanted.related == "auto" else MOST_LINES
    for result, close in zip(results, closeness, strict=True):
        memory = view.get(result["id"])
        if memory is None or close < asked.wanted.threshold or len(found) == most:
            continue
        # The turns before are searched for too, and may score better.
        share, fall = (STOP[0], 0) if asked.message.continues else STOP
        if not asked.message.several and result["score"] < max(share * best, fall * last):
            break
        if repeats_talk(memory, talk, asked.text) or never_related(memory):
            continue
        reason = "another project" if (memory.project or "").casefold() in others else why_not(memory, rules)
        if reason is not None:
            holds.left_out[reason] += 1
            continue
        if memory.trust:  # what is only proposed is no measure of the rest
            best, last = max(best, result["score"]), result["score"]
        if memory.id not in elsewhere and not any(_says_the_same(memory, other) for other in shown):
            shown += [memory] if memory.trust else []
            found.append(Close(memory.id, result["level"], round(close, 6)))
        found += [Close(old, "full", None) for old in versions.get(memory.id, ())]
    if asked.message.orders and asked.message.need == "yes" and not asked.wanted.threshold:
        rest = [one for one in holds.rest if (one.project or "").casefold() not in others]
        found += [Close(one.id, "full", None) for one in rest if not any(_says_the_same(one, other) for other in shown)]
    return found


def never_related(memory: Memory) -> bool:
    """Whether a memory only asks, greets, repeats one of our own blocks, or suggests a change or a pattern to a person."""
    if suggested_by(memory) is not None or is_asked_again(memory) or (not memory.trust and is_of_pattern(memory.id)):
        return True
    if any(title["frame"] in memory.content for title in TITLES.values()) or CLOSE in memory.content:
        return True
    if not is_turn(memory) or len(memory.content) > 400:
        return False
    return all(asks(clause) or not says_something(clause) for clause in _CLAUSES.split(memory.content))


def _says_the_same(memory: Memory, shown: Memory) -> bool:
    """Whether a statement and its turn say the same: then the one that ranks higher is enough, unless the turn says more."""
    if is_statement(memory) == is_statement(shown):
        return memory.content == shown.content
    turn, statement = (shown, memory) if is_statement(memory) else (memory, shown)
    if turn.id not in statement.source_turns:
        return False
    said = content_words(turn.content)
    return memory is statement or len(said & content_words(statement.content)) >= COVERED * len(said)


def material(
    view: OwnerView, now: int, partition: int, asked: AskedTurn, rules: Rules, holds: Always, close: Sequence[Close]
) -> Material:
    """What the turn part could hold; `left_out` of `holds` counts what it may not.

    Instructions that the search found are first, in its order.
    """
    talk, messages = asked.talk, asked.wanted.messages
    episodes = [memory_line(memory, rules) for memory in holds.episodes if not repeats_talk(memory, talk, asked.text)]
    said = message_lines(talk.messages[-messages:] if messages else (), rules, now)
    tools, hidden = tool_lines(talk, asked.text, partition, rules)
    holds.left_out.update({"tool result": hidden} if hidden else {})
    rank = {one.memory_id: at for at, one in enumerate(close)}
    instructions = sorted(holds.instructions, key=lambda memory: rank.get(memory.id, len(rank)))
    known = () if asked.message.need == "no" else holds.stable
    wishes = {memory.id for memory in instructions}
    lines, unconfirmed = _lines(view, [one for one in close if one.memory_id not in wishes], rules, known)
    ordering = [one for one in tools if gives_orders(one.text)]
    tools = [one for one in tools if one not in ordering]
    parts, keep = {"retrieved": lines, "tools": tools, "unconfirmed": [*unconfirmed, *ordering]}, {}
    parts["instructions"] = [holding_line(memory, rules) for memory in instructions]
    if not is_earlier(talk, holds.episodes, now):
        parts["remembered"], keep = [*episodes, *said], {"remembered": keeping_order(len(episodes), len(said))}
    else:
        topic = asked_words(asked.message.ask)
        named = topic & content_words(" ".join(line.text for line in (*episodes, *said)))
        if asked.message.refers_back or len(named) >= min(2, len(topic)) > 0:
            parts["earlier"] = [*episodes[-1:], *said[-EARLIER:]]
    return Material(time_line(now, rules.zone, rules.language), parts, keep)


def _lines(
    view: OwnerView, close: Sequence[Close], rules: Rules, elsewhere: Collection[str]
) -> tuple[list[Line], list[Line]]:
    """The related lines, and apart those that are unconfirmed; none that was deleted since the search.

    An update that waits for a person stands above the memory that it would end, if that memory is related or among those that
    are in every prompt (`elsewhere`, by id).
    """
    updates = waiting_updates(view)
    nearness: dict[str, float | None] = {}
    for one in close:
        nearness |= dict.fromkeys((update.id for update in updates.get(one.memory_id, ())), one.closeness)
        nearness[one.memory_id] = one.closeness
    for update in (update for known, found in updates.items() if known in elsewhere for update in found):
        nearness.setdefault(update.id, None)
    stored = [memory for memory in map(view.get, nearness) if memory is not None]
    days = [local(memory.created_at, rules.zone).date() for memory in stored]
    lines: tuple[list[Line], list[Line]] = ([], [])
    for memory, day in zip(stored, days, strict=True):
        # The note of an earlier version says what holds now.
        if state_of(memory) not in (Columns.LIVE, Columns.PROPOSED) or why_not(if_it_held(memory), rules) is not None:
            continue
        line = memory_line(memory, rules, nearness[memory.id], with_hour=days.count(day) > 1)
        lines[memory.id in updates or is_unconfirmed(memory)].append(line)
    return lines


def earlier_versions(view: OwnerView) -> dict[str, list[str]]:
    """Ids of superseded memories by the id of the memory that replaced them, the newest first."""
    versions: dict[str, list[str]] = {}
    for memory in reversed(view.columns.memories):
        if memory.is_superseded and memory.superseded_by is not None and not view.hides(memory.id):
            versions.setdefault(memory.superseded_by, []).append(memory.id)
    return versions


def waiting_updates(view: OwnerView) -> dict[str, list[Memory]]:
    """The updates that wait in the inbox, by the id of the memory that each would end, the newest first."""
    columns = view.columns
    updates: dict[str, list[Memory]] = {}
    for row in reversed(np.flatnonzero(columns.standing() == Columns.PROPOSED).tolist()):
        if (known := columns.memories[row].corrects) is not None:
            updates.setdefault(known, []).append(columns.memories[row])
    return updates


def is_unconfirmed(memory: Memory) -> bool:
    """Whether a memory waits in the inbox, or gives an order that did not come from the user; rules read only a user's words."""
    if not memory.trust:
        return True
    if memory.source == "user":
        return False
    return sounds_like_an_order(memory.content) if memory.source == "judge" else gives_orders(memory.content)


SMALL = 1_000
"""Budgets below this are small: the stable part takes a quarter of them at most, of others half."""


class StablePart(NamedTuple):
    """What stays the same from turn to turn."""

    block: Block
    profile: tuple[str, ...]
    """Ids of the profile's lines in the block, in their order."""
    holds: Always
    """What always holds, with what the turn part may show of it."""
    language: str
    left_out: dict[str, int]
    """How many lasting memories may not be in the profile, by reason."""


class TwoParts(NamedTuple):
    """Both halves, and the whole."""

    stable: StablePart
    turn: Block
    whole: Block
    """One text: the stable part, a line break, the turn part."""


def stable_room(budget: int, asked: int | None) -> int:
    """Tokens that the stable part may take; the turn part keeps room for its frame."""
    share = 0.25 if budget < SMALL else 0.5
    return max(min(int(budget * share) if asked is None else asked, budget - LEAST_BUDGET), 0)


def stable_part(
    view: OwnerView,
    now: int,
    holds: Always,
    rules: Rules,
    wanted: Wanted,
    count: TokenCount,
    chosen: Sequence[str] | None = None,
    check: Check = unchecked,
) -> StablePart:
    """Standing instructions, what always holds and the profile; for a block that is made again the profile as `chosen` then.

    What always holds is in the order in which it was said: uses move its importance.
    """
    left_out: dict[str, int] = {}
    core = sorted(holds.core, key=lambda one: (one.tier != "system", one.created_at, one.created_seq, one.id))
    standing, rules = [*core, *holds.instructions], stable_rules(view, rules)
    if chosen is None:
        profile, reasons = profile_of(view, now, rules, frozenset(memory.id for memory in standing), check)
        left_out = dict(reasons)
    else:
        found = (view.get(memory_id) for memory_id in dict.fromkeys(chosen))
        profile = [one for one in found if one is not None and why_hidden(one) is None and why_not(one, rules) is None]
    written = "\n".join(memory.content for memory in (*standing, *profile))
    language = wanted.stable_language or ("zh" if is_chinese(written) else "en")
    rules = rules._replace(language=language)
    parts = {"instructions": holds.instructions, "core": core, "profile": profile}
    lines = {part: [holding_line(memory, rules) for memory in memories] for part, memories in parts.items()}
    block = build(Material("", lines), wanted.stable, STABLE, language, count)
    kept = tuple(line.id for line in block.parts["profile"])
    return StablePart(block, kept, holds.with_stable(block, profile), language, left_out)


def in_two(stable: StablePart, held: Material, wanted: Wanted, count: TokenCount) -> TwoParts:
    """Both halves of what was gathered, together never over the budget; no text is in both."""
    first, shortened = stable.block.parts, stable.block.shortened
    texts = {line.text for lines in first.values() for line in lines if line.id not in shortened}
    lines = [line for line in held.parts.get("retrieved", ()) if line.text not in texts]
    held = held._replace(parts={**held.parts, "retrieved": lines})
    room = wanted.budget - stable.block.tokens
    while True:
        turn = build(held, room, TURN, wanted.language, count)
        text = "\n".join(half for half in (stable.block.text, turn.text) if half)
        tokens = count(text)
        if tokens <= wanted.budget or not turn.text:
            break
        # the two halves and the line break between them are counted as one text
        room = min(room, turn.tokens) - (tokens - wanted.budget)
    instructions = dict.fromkeys([*first["instructions"], *turn.parts["instructions"]])
    parts = first | turn.parts | {"instructions": list(instructions)}
    dropped = {part: number for part, number in stable.block.dropped.items() if part != "instructions"} | turn.dropped
    return TwoParts(stable, turn, Block(text, tokens, parts, dropped))


_DIGEST_BYTES = 16


class Handed(NamedTuple):
    """A block that was handed out."""

    text: str
    tokens: int
    now: int
    """The instant of it, microseconds since 1970."""
    upto: str
    """The position of the owner's newest event that it was made of."""
    close: Sequence[Close]
    stable: StablePart


def recipe(handed: Handed, asked: str, wanted: Wanted, trust: str | None, secret: bytes) -> BlockMade:
    """What an injection records about a block; without digests if the owner has no secret."""
    return BlockMade(
        at=from_micros(handed.now),
        upto=handed.upto,
        budget=wanted.budget,
        tokens=handed.tokens,
        language=wanted.language,
        digest=block_digest(secret, handed.text),
        asked=asked_digest(secret, asked),
        messages=wanted.messages,
        threshold=wanted.threshold,
        sensitive=wanted.sensitive,
        proactive=wanted.related != "never",
        trust=next((one for one in TRUSTS if one == trust), None),
        retrieved=tuple(BroughtUp(**one._asdict()) for one in handed.close),
        stable=StableMade(budget=wanted.stable, language=handed.stable.language, profile=handed.stable.profile),
    )


def wanted_of(made: BlockMade) -> Wanted:
    """How the block was wanted."""
    trust = 0 if made.trust is None else ORDER[made.trust]
    stable = made.stable
    room, language = (0, None) if stable is None else (stable.budget, _titled(stable.language))
    titles = _titled(made.language)
    return Wanted(made.budget, made.messages, made.sensitive, titles, made.threshold, trust, room, language)


def _titled(language: str) -> str:
    """The language if there are titles in it, else English: a block in any other was never delivered."""
    return language if language in TITLES else "en"


def close_of(made: BlockMade) -> list[Close]:
    """What was brought up unasked, in the order of the block."""
    return [Close(one.memory_id, one.level, one.closeness) for one in made.retrieved]


def block_digest(secret: bytes, text: str) -> str | None:
    """32 hexadecimal digits that identify the whole text of a block; None without the owner's secret."""
    return _digest(secret, b"block", text)


def asked_digest(secret: bytes, text: str) -> str | None:
    """The same for the question without space around it; None if it holds a secret, because a copy of the store has the key."""
    question = text.strip()
    return None if detect_sensitivity(question) >= SECRET else _digest(secret, b"block asked", question)


def _digest(secret: bytes, purpose: bytes, text: str) -> str | None:
    if len(secret) != SECRET_BYTES:
        return None
    return keyed(secret, purpose, text.encode("utf-8", "surrogatepass"), _DIGEST_BYTES).hex()
