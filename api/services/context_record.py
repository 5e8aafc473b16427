"""A context block of one instant: what the search found, what was said, what always holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.api.requests.snapshots import Past, Snapshot
from engramlog_server.api.shapes import (
    ContextLine,
    ContextParts,
    ContextSearch,
    ContextSizes,
    Hit,
)
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.choices import WORKING_MESSAGES
from engramlog_server.projections.index.talk_tokens import TalkTokens
from engramlog_server.projections.language.prompt_text import TokenCount, estimated_tokens
from engramlog_server.projections.memory.handle import handle_of
from engramlog_server.projections.memory.sources import Asides
from engramlog_server.projections.memory.working_memory import Conversation, Said, Turn, conversation, set_aside_among
from engramlog_server.projections.prompt.block import Block, Line
from engramlog_server.projections.prompt.gathering import AskedTurn, Close, Wanted, always, material, related, rules_of
from engramlog_server.projections.prompt.lines import IDLE, Rules, is_withheld
from engramlog_server.projections.prompt.message import MessageRead
from engramlog_server.projections.prompt.stable import TwoParts, in_two, stable_part
from engramlog_server.projections.ranking.proactive import closenesses
from engramlog_server.projections.redis.said import Recent, recent, recent_among
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.view import OwnerView


class TalkAsked(NamedTuple):
    """A turn, as far as it is known."""

    owner: str
    text: str
    session: str | None
    turn_id: str | None

    def talk(self, said: Sequence[Said]) -> Conversation:
        """The conversation that it stands in."""
        return conversation(said, self.text, self.session, self.turn_id)

    def is_told_by(self, said: Sequence[Said]) -> bool:
        """Whether these tell all that its block tells of the conversation."""
        talk = self.talk(said)
        return len(talk.messages) >= WORKING_MESSAGES and (self.turn_id is None or talk.current is not None)


def read_talk(views: RedisViews, partitions: int, asked: TalkAsked, past: Past | None) -> Recent:
    """What was said, back from the newest, at present or in a past."""
    if past is not None:
        return recent_among(views, asked.owner, past.seqs, past.silent(), asked.is_told_by)
    return recent(views, asked.owner, partitions, asked.is_told_by)


class SearchedQuery(NamedTuple):
    """What one search found, best first."""

    query: str
    results: list[Hit]
    withheld: dict[str, int]
    """How many further matches normal mode keeps back, by reason."""
    parts: list[str]
    """The parts of it that had a share each."""

    def told(self, close_enough: int) -> ContextSearch:
        """As an answer tells it."""
        return {
            "query": self.query,
            "found": close_enough,
            "withheld": self.withheld,
            "parts": self.parts,
        }


class MadeBlock(NamedTuple):
    """A block with what it was made of."""

    block: Block
    """The whole: both halves, one after the other."""
    halves: TwoParts
    talk: Conversation
    time: str
    close: list[Close]
    left_out: dict[str, int]
    conversation: int
    """Tokens of everything that was said."""
    now: int
    position: str
    upto: str
    """The position of the owner's newest event that it was made of."""

    @property
    def sizes(self) -> ContextSizes:
        """Tokens of the two halves, and of the whole conversation."""
        stable, turn = self.halves.stable, self.halves.turn
        return {
            "stable": stable.block.tokens,
            "turn": turn.tokens,
            "conversation": self.conversation,
            "left_out": stable.left_out,
        }


def turns_before(said: Recent, request: TalkAsked, asides: Asides, rules: Rules, now: int) -> list[str]:
    """The texts of a conversation that goes on, oldest first, without those that a block withholds: answers repeat a query."""
    gone = {one.seq for one in set_aside_among(said.said, asides)}
    messages = request.talk([one for one in said.said if one.seq not in gone]).messages
    return [turn.text for turn in messages if now - turn.at <= IDLE and not is_withheld(turn, rules)]


def made_of(
    snapshot: Snapshot,
    said: Recent,
    found: SearchedQuery | None,
    request: TalkAsked,
    message: MessageRead,
    wanted: Wanted,
    count: TokenCount,
) -> MadeBlock:
    """The block of a snapshot and of what was said."""
    view, now = snapshot.view, snapshot.now
    gone = {one.seq for one in set_aside_among(said.said, view.state.asides)}
    talk = request.talk([one for one in said.said if one.seq not in gone])
    rules = rules_of(view, wanted, None if snapshot.past is None else snapshot.present)
    asked, holds = AskedTurn(request.text, talk, message, wanted), always(view, now, talk, rules)
    stable = stable_part(view, now, holds, rules, wanted, count, check=current_check())
    holds = stable.holds
    close: list[Close] = []
    if found is not None:
        closeness = closenesses(view, found.query, found.results)
        close = related(view, now, found.results, closeness, asked, rules, holds)
    held = material(view, now, snapshot.partition, asked, rules, holds, close)
    left_out = dict(holds.left_out)
    if gone:
        left_out["said by a source that is set aside"] = len(gone)
    upto = position_text(snapshot.partition, view.state.seq)
    halves = in_two(stable, held, wanted, count)
    whole = _whole_conversation(view, said, gone)
    return MadeBlock(halves.whole, halves, talk, held.time, close, left_out, whole, now, snapshot.position, upto)


def _whole_conversation(view: OwnerView, said: Recent, gone: set[int]) -> int:
    """Tokens of every turn that is a memory, and of the newest ones that are none."""
    turns = (one for one in said.said if isinstance(one, Turn) and one.seq not in gone)
    bare = sum(estimated_tokens(one.text) for one in turns if view.columns.row(one.turn_id) is None)
    return view.index(TalkTokens, current_check()).total + bare


def with_parts(told: ContextParts, found: SearchedQuery | None) -> ContextParts:
    """The same, each related memory with the parts of the question that it answers."""
    asked = {} if found is None else {one["id"]: one["explain"].get("asked_by") for one in found.results}
    for line in told["retrieved"]:
        if (parts := asked.get(line["id"])) is not None:
            line["asked_by"] = parts
    return told


def told_parts(time: str, block: Block) -> ContextParts:
    """Everything in a block by id, part by part."""
    return {
        "time": time,
        "instructions": _told(block.parts["instructions"]),
        "core": _told(block.parts["core"]),
        "profile": _told(block.parts["profile"]),
        "remembered": _told(block.parts["remembered"]),
        "earlier": _told(block.parts["earlier"]),
        "retrieved": _told(block.parts["retrieved"]),
        "tools": _told(block.parts["tools"]),
        "unconfirmed": _told(block.parts["unconfirmed"]),
    }


def _told(lines: list[Line]) -> list[ContextLine]:
    told: list[ContextLine] = []
    for line in lines:
        one: ContextLine = {"kind": line.kind, "id": line.id, "note": line.note, "text": line.text}
        if line.kind != "tool":
            one["handle"] = handle_of(line.id)
        if line.relevance is not None:
            one["closeness"] = line.relevance
        told.append(one)
    return told
