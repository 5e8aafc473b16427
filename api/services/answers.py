"""Answers and the memories in their prompts: which answers used a memory, and what the prompt of one answer held. Leaves no trace.

An injection tells how its block was made: the block is made again, and its digest proves that it is the same. Each injected memory
is shown as it was then, with what became of it, and how the answer went with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, Unpack

from engramlog_server.api.checks import LineTerms, TimeSpan, check_id_of, check_limit, lines_answer, span_of
from engramlog_server.api.choices import BUDGET
from engramlog_server.api.services.context import TalkAsked, read_talk
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.snapshots import PIECE, Snapshot
from engramlog_server.api.work import both, current_check
from engramlog_server.events.catalogue import BlockMade, BroughtUp, MemoryReinforced
from engramlog_server.events.envelope import Stored, decode, from_micros, micros, utc_text
from engramlog_server.events.errors import InputError, NotFound
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from engramlog_server.projections.checks import Check
from engramlog_server.projections.fold.changelog import REASONS, numbers_of, reason_told
from engramlog_server.projections.language.prompt_text import TokenCount, estimated_tokens, is_chinese
from engramlog_server.projections.language.sensitivity.level import at_most
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.deletion import forgotten_turns
from engramlog_server.projections.memory.record import SECRET, Asides, Memory, trust_told
from engramlog_server.projections.memory.working_memory import ASKING, Injection, Said, Turn, read_said, set_aside_among
from engramlog_server.projections.prompt.block import Block, Line
from engramlog_server.projections.prompt.gathering import (
    AskedTurn,
    MessageRead,
    TwoParts,
    always,
    asked_digest,
    block_digest,
    close_of,
    in_two,
    material,
    read_message,
    readings,
    rules_of,
    stable_part,
    wanted_of,
)
from engramlog_server.projections.prompt.lines import HIDDEN, IDLE, Rules, if_it_held, why_hidden, why_not
from engramlog_server.projections.redis.said import Recent, all_said, said_among
from engramlog_server.projections.redis.store import slices
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.shapes import (
    AnsweredInFull,
    AnsweredTurn,
    AnsweredTurns,
    BlockAsItWas,
    Card,
    Injected,
    InjectedMemory,
    MemoryUses,
    OutcomeTold,
    Placed,
    TurnSaid,
    WithheldFromBlock,
)
from engramlog_server.projections.views.answered import (
    MemoryUse,
    TurnAnswered,
    answered_as,
    answers_to,
    turns_answered,
    uses_of,
)
from engramlog_server.projections.views.event_words import ERASED as ERASED_WHY
from engramlog_server.projections.views.event_words import mark
from engramlog_server.projections.views.query import card, corrections_in, moment, status
from engramlog_server.projections.views.view import WITHHELD, OwnerView

MOST_USES = 1_000
ASIDE = "[withheld: set aside]"
ERASED = mark(ERASED_WHY)


def whole_turns(views: RedisViews, owner: str, turns: Iterable[Turn]) -> dict[int, Turn]:
    """These turns by seq with their texts, read from the log in pieces."""
    seqs, check = sorted({turn.seq for turn in turns}), current_check()
    texts: dict[int, Turn] = {}
    for start in range(0, len(seqs), PIECE):
        check(start, len(seqs))
        read = map(read_said, views.stored(owner, seqs[start : start + PIECE]))
        texts |= {one.seq: one for one in read if isinstance(one, Turn)}
    return texts


def without_text(said: Said) -> Turn | Injection | None:
    """What tells which turn a memory was used for: a text may be 64 KiB, and all that was said is looked through."""
    if isinstance(said, Turn):
        return said._replace(text="")
    return said if isinstance(said, Injection) else None


def turn_told(turn: Turn, forgotten: frozenset[str], asides: Asides) -> TurnSaid:
    """A turn as far as it may be told today: who spoke is words of it too, of which a producer sends what it likes."""
    hidden = turn.turn_id in forgotten or not at_most(SECRET - 1, f"{turn.speaker or ''} {turn.text}", turn.level)
    aside = bool(set_aside_among([turn], asides))
    return {
        "turn_id": turn.turn_id,
        "role": turn.role,
        "speaker": None if hidden or aside else turn.speaker,
        "text": ERASED if turn.is_erased else WITHHELD if hidden else ASIDE if aside else turn.text,
        "at": moment(turn.at),
    }


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


def unknown_memory(memory_id: str) -> InjectedMemory:
    """A memory of which neither then nor today is known."""
    return {
        "id": memory_id,
        "part": None,
        "rank": None,
        "closeness": None,
        "long_ago": False,
        "memory": None,
        "withheld": "unknown",
        "weight": None,
        "trust": None,
        "created_at": None,
        "status": "unknown",
        "trust_today": None,
        "since": [],
    }


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
    told = unknown_memory(memory_id)
    told["part"], told["withheld"] = part, reason
    if part is not None:
        told["rank"] = block.memories.index(memory_id) + 1
    if brought is not None:
        told["closeness"], told["long_ago"] = brought.closeness, brought.long_ago
    if today is not None:
        told["status"], told["trust_today"] = status(today), trust_told(today)
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
        partition = partition_of(owner, self._log.partitions)
        before = position_text(partition, max(injection.seq - 1, 1))  # the first event of all made no memory before it
        made = injection.block or _by_default(injection, words, injection.read_at or before)
        if made.upto != before and parse_position(made.upto)[1] >= injection.seq:
            return None  # nobody was handed what was not there yet
        try:
            with self._reader.handed_out(owner, made.upto, utc_text(made.at)) as (snapshot, whole):
                request = TalkAsked(owner, words or "", injection.session, injection.turn_id)
                said = read_talk(self._views, self._log.partitions, request, snapshot.past)
                return self._again(snapshot, whole, said, request, injection, made, words, secret)
        except InputError:
            return None

    def _again(
        self,
        snapshot: Snapshot,
        whole: OwnerView,
        said: Recent,
        request: TalkAsked,
        injection: Injection,
        made: BlockMade,
        words: str | None,
        secret: bytes,
    ) -> BlockAgain:
        """`whole`: the view that includes words that became secret since. Only its digest is used; no answer shows its words."""
        now, wanted = snapshot.now, wanted_of(made)
        gone = {one.seq for one in set_aside_among(said.said, whole.state.asides)}
        talk = request.talk([one for one in said.said if one.seq not in gone])
        profile = () if made.stable is None else made.stable.profile

        def block(view: OwnerView, rules: Rules, message: MessageRead) -> TwoParts:
            asked, holds = AskedTurn(request.text, talk, message, wanted), always(view, now, talk, rules)
            stable = stable_part(view, now, holds, rules, wanted, self._count, profile)
            holds = stable.holds
            close = [one for one in close_of(made) if one.memory_id not in holds.ids]
            held = material(view, now, snapshot.partition, asked, rules, holds, close)
            return in_two(stable, held, wanted, self._count)

        before = [turn.text for turn in talk.messages if now - turn.at <= IDLE]
        rules, today = rules_of(whole, wanted), rules_of(snapshot.view, wanted, snapshot.present)
        tried = ((each, block(whole, rules, each).whole) for each in readings(read_message(request.text, before)))
        message, then = first = next(tried)
        if made.digest is not None:
            same_then = (each for each in chain([first], tried) if block_digest(secret, each[1].text) == made.digest)
            message, then = next(same_then, first)
        halves = block(snapshot.view, today, message)
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
            return REASONS["block_same"]
        if made is None:
            return REASONS["block_untold"]
        if made.digest is None:
            return REASONS["block_no_key"]
        whole = block_digest(secret, then.text) == made.digest
        if withheld:
            names = ", ".join(f"{one['id']} ({one['reason']})" for one in withheld[:10])
            return REASONS["block_withheld_else_same" if whole else "block_withheld"].format(memory=names)
        if then.parts["tools"] and (words is None or made.asked != asked_digest(secret, words)):
            return REASONS["block_lost_words" if words is None else "block_other_words"]
        return REASONS["block_otherwise"]


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
    claimed = (one for one in _ids_claimed(injection) if not _may_have_stood(snapshot, one))
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


def _ids_claimed(injection: Injection) -> Iterator[str]:
    """Ids of what a recipe tells stood in the block; where the service made it, it holds no other."""
    if (made := injection.block) is not None:
        yield from (one.memory_id for one in made.retrieved)
        yield from made.stable.profile if made.stable is not None else ()


def _may_have_stood(snapshot: Snapshot, memory_id: str) -> bool:
    memory = snapshot.view.get(memory_id)
    return memory is not None and why_hidden(if_it_held(memory)) is None


def _messages(block: Block) -> list[Line]:
    return [line for part in ("remembered", "earlier") for line in block.parts[part] if line.kind == "turn"]


MOST_OUTCOMES = 100
REPORTS, _ = numbers_of(MemoryReinforced.__name__, "reinforce")
"""How the change log numbers reports."""


class Outcomes(NamedTuple):
    """The newest that are of one answer, oldest first, and how many others there are."""

    told: list[OutcomeTold]
    left_out: int


def outcomes_of(
    views: RedisViews, owner: str, partition: int, one: TurnAnswered, within: Collection[int] | None, check: Check
) -> Outcomes:
    """What was reported of an answer: all reports about the owner are looked at. `within`: only in these events of the owner.

    Ids of turns are what producers chose: where several turns have one, what was reported under it is told of each.
    """
    turns = [turn for turn in (one.turn, *one.replies) if turn is not None]
    named = {one.turn_id, *(turn.turn_id for turn in turns)} - {None}
    causes = {turn.event_id for turn in turns}
    newest, found = deque[OutcomeTold](maxlen=MOST_OUTCOMES), 0
    for stored in _reports(views, owner, within, check):
        event = decode(stored.kind, stored.body)
        data = event.data
        assert isinstance(data, MemoryReinforced)
        by_turn = data.turn_id in named
        if not by_turn and event.causation_id not in causes:
            continue
        found += 1
        newest.append(
            {
                "position": position_text(partition, stored.seq),
                "at": moment(micros(event.occurred_at)),
                "memory": data.memory_id,
                "outcome": data.outcome,
                "from_memory": data.from_memory,
                "actor": event.actor,
                "principal": stored.principal,
                "linked_by": "turn_id" if by_turn else "cause",
            }
        )
    return Outcomes(list(newest), found - len(newest))


def _reports(views: RedisViews, owner: str, within: Collection[int] | None, check: Check) -> Iterator[Stored]:
    """Every report of how it went with a memory, in the order of the log, each once."""
    entries = views.changelogs.entries(owner, check=check)
    seqs = dict.fromkeys(entry.seq for _, entry in entries if entry.type == REPORTS)
    for piece in slices([seq for seq in seqs if within is None or seq in within], PIECE):
        yield from views.stored(owner, piece)


MOST_ANSWERS = 1_000
MOST_REPLIES = 20
"""Replies told of one turn."""
MOST_OTHERS = 20
"""Older turns under a turn's id of which the words are looked at: the newest. A producer chooses ids, and may use one again."""
MOST_BLOCKS = 10
"""Blocks of one turn that are made again: the newest."""
MOST_CLAIMING = 20
"""Injections without a turn's id, before a turn, that are looked at: one of them may have been for it."""
NOTHING_RECORDED = (
    "nothing is recorded as injected for it: its block held no memory, was asked for without a trace or only looked at, or the"
    " write was lost (`engramlog alarms` tells of those)"
)


NO_BLOCK: BlockAsItWas = {
    "text": "",
    "stable": None,
    "turn": None,
    "tokens": 0,
    "tokens_then": None,
    "as_it_was": None,
    "why": REASONS["block_not_there"],
    "why_code": "block_not_there",
    "withheld": [],
}


class _Read(NamedTuple):
    """All that was said to an owner, without texts, and what of it may be told; of a question about a memory also that."""

    told: list[Turn | Injection]
    forgotten: frozenset[str]
    asides: Asides
    partition: int
    place: Placed
    zone: str
    """Of the owner's clocks."""
    within: frozenset[int] | None
    """Seqs of the owner's events, of the past; None at present."""
    card: Card | None = None

    def turn(self, one: Turn | None) -> TurnSaid | None:
        """A turn as far as it may be told."""
        return None if one is None else turn_told(one, self.forgotten, self.asides)

    def replies(self, found: Sequence[Turn]) -> list[TurnSaid]:
        """The same of replies."""
        return [turn_told(one, self.forgotten, self.asides) for one in found]


class Answers:
    """Answers what answers were made of, and what memories were used for, on one store. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader) -> None:
        self._log, self._views, self._reader = log, views, reader
        self._blocks = BlocksAgain(log, views, reader)

    def answers(
        self,
        owner: str,
        *,
        session: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = 20,
        offset: int = 0,
        **times: Unpack[LineTerms],
    ) -> AnsweredTurns:
        """A page of the turns for which memories were injected, newest first. Reads all that was said to the owner.

        `since` and `until`: when the last of them was injected, RFC 3339 with a zone, or a day by the owner's clocks; both ends
        count. Texts of turns are told as `uses` tells them. Raises InputError naming the field.
        """
        wanted, skipped = check_limit(limit, MOST_ANSWERS), max(offset, 0)
        if session is not None:
            check_id_of("session", session)
        read = self._read(owner, times)
        span = span_of(since, until, read.zone)
        chosen = [one for one in turns_answered(read.told) if _counts(one, session, span)]
        secret = self._reader.secret(owner)
        page = self._with_texts(owner, chosen[skipped : skipped + wanted], secret)
        return {
            "owner": owner,
            "answers": [_row(one, read) for one in page],
            "total": len(chosen),
            "offset": skipped,
            "session": session,
            "since": since,
            "until": until,
            **lines_answer(times),
            **read.place,
        }

    def answer(self, owner: str, turn_id: str, **times: Unpack[LineTerms]) -> AnsweredInFull:
        """What was injected for one turn, each memory with its text as it was then, and each block made again.

        `turn_id`: of the turn that was asked, of a reply, or the position of an injection. Raises NotFound where none is known.
        """
        check_id_of("turn_id", turn_id)
        read, secret = self._read(owner, times), self._reader.secret(owner)
        found = self._named(owner, turn_id, read, secret)
        kept = found.injections[-MOST_BLOCKS:]
        injected, memories = list[Injected](), dict[str, InjectedMemory]()
        for number, each in enumerate(kept):
            current_check()(number, len(kept))
            again = self._blocks.again(owner, each, _words(found, each, secret), secret)
            injected.append(_injected(each, NO_BLOCK if again is None else again.told, read))
            for one in again.memories if again is not None else map(unknown_memory, each.ids):
                memories[one["id"]] = one
        check = both(current_check(), times.get("on_progress"))
        outcomes = outcomes_of(self._views, owner, read.partition, found, read.within, check)
        return {
            "owner": owner,
            **_row(found, read),
            "injected": injected,
            "injections_left_out": len(found.injections) - len(kept),
            "injected_memories": list(memories.values()),
            "outcomes": outcomes.told,
            "outcomes_left_out": outcomes.left_out,
            "note": None if injected else NOTHING_RECORDED,
            **lines_answer(times),
            **read.place,
        }

    def uses(
        self, owner: str, memory_id: str, *, limit: int = 20, offset: int = 0, **times: Unpack[LineTerms]
    ) -> MemoryUses:
        """The turns for which a memory was injected, newest first, each with its replies. Reads all that was said to the owner.

        Texts of turns that hold a secret, or that a memory was made of that is deleted today, are withheld at any time.
        """
        wanted, skipped = check_limit(limit, MOST_USES), max(offset, 0)
        read = self._read(owner, times, memory_id)
        assert read.card is not None
        found = uses_of(memory_id, read.told)
        page = found[skipped : skipped + wanted]
        whole = whole_turns(self._views, owner, (turn for use in page for turn in (use.turn, *use.replies) if turn))
        return {
            "owner": owner,
            "id": memory_id,
            "memory": read.card["memory"],
            "status": read.card["status"],
            "uses": [
                {
                    "turn_id": use.injection.turn_id,
                    "session": use.injection.session if use.turn is None else use.turn.session,
                    "injected_at": moment(use.injection.at),
                    "turn": read.turn(None if use.turn is None else whole[use.turn.seq]),
                    "replies": read.replies([whole[one.seq] for one in use.replies]),
                    "linked_by": _linked(use),
                }
                for use in page
            ],
            "total": len(found),
            "offset": skipped,
            **lines_answer(times),
            **read.place,
        }

    def _read(self, owner: str, times: LineTerms, memory_id: str | None = None) -> _Read:
        check = both(current_check(), times.get("on_progress"))
        with self._reader.snapshot(owner, **times) as snapshot:
            told = None if memory_id is None else card(self._reader.memory(snapshot, owner, memory_id), "full")
            forgotten = forgotten_turns(snapshot.present.columns)
            asides = snapshot.present.state.asides
            if snapshot.past is not None:
                forgotten |= forgotten_turns(snapshot.view.columns)
        if snapshot.past is None:
            said = all_said(self._views, owner, check)
        else:
            said = said_among(self._views, owner, snapshot.past.silent(), check)
        known = [one for each in said if (one := without_text(each)) is not None][::-1]
        zone = snapshot.view.parameters.time_zone
        within = None if snapshot.past is None else frozenset(snapshot.past.seqs)
        return _Read(known, forgotten, asides, snapshot.partition, snapshot.place, zone, within, told)

    def _named(self, owner: str, name: str, read: _Read, secret: bytes) -> TurnAnswered:
        """What was injected for the turn that is meant, with texts; without injections where the log knows the turn alone."""
        found = turns_answered(read.told)
        one = answered_as(found, name, read.partition)
        if one is not None:
            return self._with_texts(owner, [one], secret)[0]
        turns = [each for each in read.told if isinstance(each, Turn) and each.turn_id == name]
        if not turns:
            raise NotFound(
                f"owner {owner} has no turn {name}, no reply and no injection of that name (position {read.place['position']});"
                f" see `engramlog answers {owner}` for the turns whose prompts held memories",
                owner=owner,
            )
        seqs = {turn.seq for turn in turns}
        near = [each for each in found if each.turn_id is None and any(turn.seq in seqs for turn in each.following)]
        for each in self._with_texts(owner, near[:MOST_CLAIMING], secret):
            if name in {turn.turn_id for turn in (each.turn, *each.replies) if turn is not None}:
                return each
        alone = TurnAnswered(
            (), turns[-1], tuple(turns[:-1]), answers_to(turns[-1], read.told), linked=True, following=()
        )
        return self._with_texts(owner, [alone], secret)[0]

    def _with_texts(self, owner: str, page: Sequence[TurnAnswered], secret: bytes) -> list[TurnAnswered]:
        """The same with what was said, and with the turns that nobody named where the words of one are those that were asked."""
        page = [_bounded(one) for one in page]
        turns = [turn for one in page for turn in (one.turn, *one.others, *one.replies, *one.following) if turn]
        whole = whole_turns(self._views, owner, turns)
        found = []
        for one in page:
            told = one._replace(
                turn=None if one.turn is None else whole[one.turn.seq],
                others=tuple(whole[each.seq] for each in one.others),
                replies=tuple(whole[each.seq] for each in one.replies),
                following=tuple(whole[each.seq] for each in one.following),
            )
            found.append(_claimed(told, secret))
        return found


def _bounded(one: TurnAnswered) -> TurnAnswered:
    """The same without the turns whose words nobody asks for: each may be 64 KiB, and there may be any number."""
    return one._replace(others=one.others[-MOST_OTHERS:], replies=one.replies[:MOST_REPLIES])


def _claimed(one: TurnAnswered, secret: bytes) -> TurnAnswered:
    """The same with its turn, where it was injected without an id and a message that follows says just what was asked."""
    asked = one.injections[-1].block.asked if one.injections and one.injections[-1].block is not None else None
    if one.turn is not None or asked is None:
        return one
    for turn in one.following:
        if turn.role in ASKING and asked_digest(secret, turn.text) == asked:
            return one.claimed_by(turn)
    return one


def _words(found: TurnAnswered, injection: Injection, secret: bytes) -> str | None:
    """What was asked, as far as the log has it: of several turns of one id the one whose words those were."""
    turns = [one for one in (found.turn, *reversed(found.others)) if one is not None]
    asked = injection.block.asked if injection.block is not None else None
    same = (one for one in turns if asked is not None and asked_digest(secret, one.text) == asked)
    best = next(same, turns[0] if turns else None)
    return None if best is None else best.text


def _counts(one: TurnAnswered, session: str | None, span: TimeSpan) -> bool:
    return session in (None, one.session) and span.holds(one.injections[-1].at)


def _row(one: TurnAnswered, read: _Read) -> AnsweredTurn:
    positions = [position_text(read.partition, each.seq) for each in one.injections]
    told_id = one.turn_id or (one.turn.turn_id if one.turn is not None else None)
    newest = one.injections[-1] if one.injections else None
    return {
        "id": told_id or positions[-1],
        "turn_id": told_id,
        "session": one.session,
        "injected_at": moment(one.injections[0].at) if one.injections else None,
        "positions": positions[-MOST_BLOCKS:],
        "principal": None if newest is None else newest.principal,
        "memories": len({memory_id for each in one.injections for memory_id in each.ids}),
        "turn": read.turn(one.turn),
        "recorded_twice": bool(one.others),
        "replies": read.replies(one.replies[:MOST_REPLIES]),
        "linked_by": _linked(one),
    }


def _linked(one: TurnAnswered | MemoryUse) -> str | None:
    """Whether replies name the turn, or are told by their order."""
    return ("reply_to" if one.linked else "order") if one.replies else None


def _injected(one: Injection, block: BlockAsItWas, read: _Read) -> Injected:
    made = one.block
    return {
        "position": position_text(read.partition, one.seq),
        "at": moment(one.at),
        "principal": one.principal,
        "read_at": one.read_at,
        "memories": list(one.ids),
        "made": None
        if made is None
        else {
            "at": utc_text(made.at),
            "upto": made.upto,
            "budget": made.budget,
            "language": made.language,
            "messages": made.messages,
            "threshold": made.threshold,
            "searches": made.searches,
            "sensitive": made.sensitive,
            "proactive": made.proactive,
            "include_faded": made.include_faded,
            "trust": made.trust,
            "stable_budget": None if made.stable is None else made.stable.budget,
        },
        "block": block,
    }
