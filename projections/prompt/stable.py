"""The two halves of a block: what stays the same from turn to turn, and what belongs to this turn. Pure.

A provider caches the beginning of a prompt as long as no byte of it changes. So nothing in the stable part depends on the time of
day, on weights or on the question; its titles are in the language of its own lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.language.prompt_text import TokenCount, is_chinese
from engramlog_server.projections.prompt.block import LEAST_BUDGET, STABLE, TURN, Block, Material, build
from engramlog_server.projections.prompt.gathering import Always, Wanted, stable_rules
from engramlog_server.projections.prompt.lines import Rules, holding_line, why_hidden, why_not
from engramlog_server.projections.prompt.profile import profile_of
from engramlog_server.projections.views.view import OwnerView

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
