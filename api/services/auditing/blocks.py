"""Making a block again as it was handed out, and proving by its digest that it is the same.

Each injected memory is shown as it was then, with what became of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engramlog_server.api.choices import BUDGET
from engramlog_server.api.requests.snapshots import Snapshot
from engramlog_server.api.services.context import TalkAsked, read_talk
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.shapes import BlockAsItWas, InjectedMemory, WithheldFromBlock
from engramlog_server.events.catalogue import BlockMade, BroughtUp
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import InputError
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from engramlog_server.projections.fold.reasons import reason_told
from engramlog_server.projections.language.prompt_text import TokenCount, estimated_tokens, is_chinese
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.record import Memory, trust_told
from engramlog_server.projections.memory.working_memory import Injection, set_aside_among
from engramlog_server.projections.prompt.block import Block, Line
from engramlog_server.projections.prompt.gathering import AskedTurn, always, material, rules_of
from engramlog_server.projections.prompt.lines import HIDDEN, IDLE, Rules, if_it_held, why_hidden, why_not
from engramlog_server.projections.prompt.message import read_message
from engramlog_server.projections.prompt.recipe import asked_digest, block_digest, close_of, wanted_of
from engramlog_server.projections.prompt.stable import TwoParts, in_two, stable_part
from engramlog_server.projections.redis.said import Recent
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.query import card, corrections_in, moment, status

_HIDING = frozenset({"secret", "sensitive", "deleted"})
"""Reasons for which words are told to nobody who asks about a block."""


def reason_withheld(snapshot: Snapshot, memory_id: str, rules: Rules) -> str | None:
    """Why the words of a memory are not told today, or cannot have stood in a block of then; None where they may be told."""
    then, today = snapshot.view.get(memory_id), snapshot.present.get(memory_id)
    if then is None or (today is not None and state_of(today) == Columns.PURGED):
        return "unknown" if then is None else "purged"
    version = if_it_held(then)
    reason = why_not(version, rules)
    return reason if reason in _HIDING else why_hidden(version)


def injected_memory(
    snapshot: Snapshot, memory_id: str, injection: Injection, block: Block, rules: Rules
) -> InjectedMemory:
    """What is told of a memory: its words of then where they may be told, its place in the block, and how it stands today."""
    then, today = snapshot.view.get(memory_id), snapshot.present.get(memory_id)
    reason = reason_withheld(snapshot, memory_id, rules)
    part = next((name for name, lines in block.parts.items() if any(one.id == memory_id for one in lines)), None)
    brought = next(
        (one for one in (injection.block.retrieved if injection.block else ()) if one.memory_id == memory_id), None
    )
    told: InjectedMemory = {
        "id": memory_id,
        "part": part,
        "rank": block.memories.index(memory_id) + 1 if part is not None else None,
        "closeness": None if brought is None else brought.closeness,
        "long_ago": brought is not None and brought.long_ago,
        "memory": None,
        "withheld": reason,
        "weight": None,
        "trust": None,
        "created_at": None,
        "status": "unknown" if today is None else status(today),
        "trust_today": None if today is None else trust_told(today),
        "since": [],
    }
    if then is None:
        return told
    view, now = snapshot.view, snapshot.now
    if reason is None:
        told["memory"] = card(then, "full" if brought is None else brought.level)["memory"]
    told["weight"] = round(view.law.read(then, now, view.parameters).weight, 6)
    told["trust"], told["created_at"] = trust_told(then), moment(then.created_at)
    if today is not None:
        told["since"] = list(dict.fromkeys(_since(snapshot, then, today)))
    return told


def _since(snapshot: Snapshot, then: Memory, today: Memory) -> Iterator[str]:
    """What became of it, in the words of its status where it has one."""
    before, after = status(then), status(today)
    if today.is_negated and not then.is_negated:
        yield "negated"
    if today.version > then.version:
        yield "revised"
    if today.sensitivity > then.sensitivity:
        yield "more sensitive"
    if after != before and after not in ("live", "fading", "kept_version", "superseded"):
        yield after
    if corrections_in(snapshot.present, then.id) and not corrections_in(snapshot.view, then.id):
        yield "corrected"


UNTOLD = "the log does not say how this block was made: it is from before that was recorded, and is made again by the defaults"
NO_KEY = "the owner had no secret when it was recorded, so there is no digest to compare with"
NOT_THERE = "the position that it tells is not in this owner's log"
LOST_WORDS = "the log does not hold what was asked, and what is told of tool results goes by that"
OTHER_WORDS = "it was asked with other words than the turn's, and what is told of tool results goes by those"
OTHERWISE = "rules, settings or what is hidden today changed since, or something was folded while it was made"
SAME = "the digest of the text agrees with what was recorded when it was handed out"
GONE = "not told today: {}"
ELSE_SAME = "; the digest agrees once these are put back"


class BlockAgain(NamedTuple):
    """A block made again, and what was injected with it."""

    told: BlockAsItWas
    memories: list[InjectedMemory]


class BlocksAgain:
    """Makes blocks of one store's owners again. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader, count: TokenCount = estimated_tokens) -> None:
        self._log, self._views, self._reader, self._count = log, views, reader, count

    def again(self, owner: str, injection: Injection, words: str | None, secret: bytes) -> BlockAgain | None:
        """The block that an injection tells of; None where the position that it tells is none of the owner's.

        `words`: what was asked, as far as the log has it.
        """
        before = position_text(partition_of(owner, self._log.partitions), max(injection.seq - 1, 1))
        made = injection.block or _by_default(injection, words, injection.read_at or before)
        if parse_position(made.upto)[1] >= injection.seq:  # nobody was handed what was not there yet
            return None
        try:
            with self._reader.snapshot(owner, known=made.upto, at=utc_text(made.at)) as snapshot:
                request = TalkAsked(owner, words or "", injection.session, injection.turn_id)
                said = read_talk(self._views, self._log.partitions, request, snapshot.past)
                return self._again(snapshot, said, request, injection, made, words, secret)
        except InputError:
            return None

    def _again(
        self,
        snapshot: Snapshot,
        said: Recent,
        request: TalkAsked,
        injection: Injection,
        made: BlockMade,
        words: str | None,
        secret: bytes,
    ) -> BlockAgain:
        view, now, wanted = snapshot.view, snapshot.now, wanted_of(made)
        gone = {one.seq for one in set_aside_among(said.said, view.state.asides)}
        talk = request.talk([one for one in said.said if one.seq not in gone])
        message = read_message(request.text, [turn.text for turn in talk.messages if now - turn.at <= IDLE])
        asked = AskedTurn(request.text, talk, message, wanted)
        profile = () if made.stable is None else made.stable.profile

        def block(rules: Rules) -> TwoParts:
            holds = always(view, now, asked.talk, rules)
            stable = stable_part(view, now, holds, rules, wanted, self._count, profile)
            holds = stable.holds
            close = [one for one in close_of(made) if one.memory_id not in holds.ids]
            held = material(view, now, snapshot.partition, asked, rules, holds, close)
            return in_two(stable, held, wanted, self._count)

        today = rules_of(view, wanted, snapshot.present)
        then, halves = block(rules_of(view, wanted)).whole, block(today)
        shown = halves.whole
        withheld = list(_withheld(snapshot, injection, then, shown, today))
        same = (
            None if injection.block is None or made.digest is None else made.digest == block_digest(secret, shown.text)
        )
        why = self._why(injection, words, then, withheld, same, secret)
        told: BlockAsItWas = {
            "text": shown.text,
            "stable": halves.stable.block.text,
            "turn": halves.turn.text,
            "tokens": shown.tokens,
            "tokens_then": None if injection.block is None else made.tokens,
            "as_it_was": same,
            "why": why,
            "why_code": reason_told(why).code,
            "withheld": withheld,
        }
        memories = [injected_memory(snapshot, one, injection, then, today) for one in injection.ids]
        return BlockAgain(told, memories)

    def _why(
        self,
        injection: Injection,
        words: str | None,
        then: Block,
        withheld: Sequence[WithheldFromBlock],
        same: bool | None,
        secret: bytes,
    ) -> str:
        made = injection.block
        if same:
            return SAME
        if made is None:
            return UNTOLD
        if made.digest is None:
            return NO_KEY
        whole = block_digest(secret, then.text) == made.digest
        if withheld:
            return GONE.format(", ".join(f"{one['id']} ({one['reason']})" for one in withheld[:10])) + (
                ELSE_SAME if whole else ""
            )
        if then.parts["tools"] and (words is None or made.asked != asked_digest(secret, words)):
            return LOST_WORDS if words is None else OTHER_WORDS
        return OTHERWISE


def _by_default(injection: Injection, words: str | None, upto: str) -> BlockMade:
    """How a block was most likely made of which the log tells the memories alone."""
    return BlockMade(
        at=from_micros(injection.at),
        upto=upto,
        budget=BUDGET,
        tokens=0,
        language="zh" if words is not None and is_chinese(words) else "en",
        retrieved=tuple(BroughtUp(memory_id=one) for one in injection.ids),
    )


def _withheld(
    snapshot: Snapshot, injection: Injection, then: Block, shown: Block, rules: Rules
) -> Iterator[WithheldFromBlock]:
    """What stood in the block and is not told today."""
    kept = set(shown.memories)
    claimed = (one for one in _claimed(injection) if not _may_have_stood(snapshot, one))
    for memory_id in dict.fromkeys((*then.memories, *injection.ids, *claimed)):
        if memory_id not in kept and (reason := reason_withheld(snapshot, memory_id, rules)) is not None:
            yield {"kind": "memory", "id": memory_id, "reason": reason}
    hidden, told = HIDDEN[rules.language], {(line.id, line.text) for line in _messages(shown)}
    for line in _messages(then):  # two turns may be recorded under one id
        if line.text != hidden and (line.id, line.text) not in told and (line.id, hidden) in told:
            reason = "deleted" if line.id in rules.forgotten else "sensitive"
            yield {"kind": "turn", "id": line.id, "reason": reason}
    tools = {line.id for line in shown.parts["tools"]}
    for line in then.parts["tools"]:
        if line.id not in tools:
            yield {"kind": "tool", "id": line.id, "reason": "deleted"}


def _claimed(injection: Injection) -> Iterator[str]:
    """Ids of what a recipe tells stood in the block; where the service made it, it holds no other."""
    if (made := injection.block) is not None:
        yield from (one.memory_id for one in made.retrieved)
        yield from made.stable.profile if made.stable is not None else ()


def _may_have_stood(snapshot: Snapshot, memory_id: str) -> bool:
    memory = snapshot.view.get(memory_id)
    return memory is not None and why_hidden(if_it_held(memory)) is None


def _messages(block: Block) -> list[Line]:
    return [line for part in ("remembered", "earlier") for line in block.parts[part] if line.kind == "turn"]
