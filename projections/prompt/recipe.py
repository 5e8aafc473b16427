"""How a block was made, as its injection records it, and back: enough to build it again and to prove that it is the same. Pure.

The digests are keyed with the owner's secret, so nobody who lacks it confirms a guess of a short text. A block never holds a
secret; of a question that does there is no digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.events.catalogue import BlockMade, BroughtUp, StableMade
from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.entry import keyed
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.trust import ORDER, TRUSTS
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.prompt.block import TITLES
from engramlog_server.projections.prompt.gathering import Close, Wanted
from engramlog_server.projections.prompt.stable import StablePart

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
