"""The same block in two: what stays as it is from turn to turn, and what is of this turn. Pure.

A provider keeps the beginning of a prompt as long as it does not change by one byte. So nothing in `stable` goes by a clock, by a
weight or by what is asked, its titles are in the language of its own lines, and it is made before anything is searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from projections.checks import Check, unchecked
from projections.language.prompt_text import TokenCount, is_chinese
from projections.prompt.block import LEAST_BUDGET, Block, Layout, Material, build
from projections.prompt.gathering import Always, Wanted
from projections.prompt.lines import Rules, holding_line, never_stood, why_not
from projections.prompt.profile import profile_of
from projections.views.view import OwnerView

STABLE = Layout(("core", "instructions", "profile"), {"instructions": 0.25, "core": 0.45, "profile": 0.30}, timed=False)
TURN = Layout(("remembered", "retrieved", "tools"), {"retrieved": 0.45, "tools": 0.15, "remembered": 0.40}, timed=True)
STABLE_SHARE = 0.4
"""Of the budget, what the stable part may take where nothing else is told."""


class StablePart(NamedTuple):
    """What stays as it is from turn to turn."""

    block: Block
    profile: tuple[str, ...]
    """Ids of the lines of the profile that stand in it, in their order."""
    language: str
    left_out: dict[str, int]
    """Lasting memories that may not stand in the profile, by reason."""


class TwoParts(NamedTuple):
    """Both parts, and the same as one."""

    stable: StablePart
    turn: Block
    whole: Block
    """One text: the stable part, a line break, the turn's."""


def stable_room(budget: int, asked: int | None) -> int:
    """Tokens that the stable part may take: as told, 0 for none of it, else its share; the turn's part keeps room for its frame."""
    return max(min(int(budget * STABLE_SHARE) if asked is None else asked, budget - LEAST_BUDGET), 0)


def stable_part(
    view: OwnerView,
    holds: Always,
    rules: Rules,
    wanted: Wanted,
    count: TokenCount,
    chosen: Sequence[str] | None = None,
    check: Check = unchecked,
) -> StablePart:
    """What always holds, what the user asked for, who he is; of a block that is made again the profile is as it was `chosen`.

    What always holds stands in the order in which it was said: uses move importance, by which one block orders it.
    """
    left_out: dict[str, int] = {}
    core = sorted(holds.standing.core, key=lambda one: (one.tier != "system", one.created_at, one.created_seq, one.id))
    standing = [*core, *holds.instructions]
    if chosen is None:
        profile, reasons = profile_of(view, rules, frozenset(one.id for one in standing), check)
        left_out = dict(reasons)
    else:
        found = (view.get(memory_id) for memory_id in dict.fromkeys(chosen))
        profile = [one for one in found if one is not None and never_stood(one) is None and why_not(one, rules) is None]
    written = "\n".join(one.content for one in (*standing, *profile))
    language = wanted.stable_language or ("zh" if is_chinese(written) else "en")
    rules = rules._replace(language=language)
    material = Material(
        "",
        [holding_line(one, rules) for one in core],
        instructions=[holding_line(one, rules) for one in holds.instructions],
        profile=[holding_line(one, rules) for one in profile],
    )
    block = build(material, wanted.stable or 0, language, count, STABLE)
    return StablePart(block, tuple(line.id for line in block.parts["profile"]), language, left_out)


def in_two(stable: StablePart, held: Material, wanted: Wanted, count: TokenCount) -> TwoParts:
    """Both parts of what was gathered, together never over the budget; what the stable one tells the other does not."""
    said = {line.text for part in stable.block.parts.values() for line in part}
    held = held._replace(retrieved=[line for line in held.retrieved if line.text not in said])
    room = wanted.budget - stable.block.tokens
    while True:
        turn = build(held, room, wanted.language, count, TURN)
        text = "\n".join(one for one in (stable.block.text, turn.text) if one)
        tokens = count(text)
        if tokens <= wanted.budget or not turn.text:
            break
        room = min(room, turn.tokens) - (
            tokens - wanted.budget
        )  # the two and the break between them are counted as one
    parts = stable.block.parts | turn.parts
    return TwoParts(stable, turn, Block(text, tokens, parts, stable.block.dropped | turn.dropped))
