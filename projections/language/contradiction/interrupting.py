"""Whether a statement that is limited in time takes the place of another while it holds: two places, two employers. Pure.

Only what one person says of one thing is compared: where he is, what contradicts the other by rules, or the same words but for what
stands behind a preposition ("I work at"; 在公司办公 and 在家办公).
"""

from __future__ import annotations

from functools import lru_cache

from engramlog_server.projections.language.contradiction.negation import written
from engramlog_server.projections.language.contradiction.places import different_places, place_at_start
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.contradiction.slots import slots
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN

_WHERE = regex(
    r"(?:i|we|user|the user)(?:'m| am| is| are|'re)? (?:currently |now |still |just )?"
    r"(?:stay(?:ing|s)?|liv(?:e|es|ing)|based|back)? ?(?:in|at) "
)
_WHERE_CHINESE = regex(r"(?:我们?|用户|主人)?(?:人|都|暂时|现在|目前|还)*(?:住|待|呆)?在")
_SAID = regex(r"（\d{4}-\d\d-\d\d说）")
_SUBJECT = regex(
    r"^(?:(?:the )?user|i|we)(?:'m|'re|'ll)?\b|^(?:我们?|用户|主人)|\b(?:am|is|are|be|will|currently|now)\b"
)
_ENDING = regex(r"(?:ing|es|s|e)\b")
_PLACED = frozenset(["at", "in", "for", "with", "on", "from"])
MOST_WORDS = 4
"""Words behind the preposition, in each of the two."""


def interrupts(new: str, known: str) -> bool:
    """Whether a statement, without its bound in time, cannot hold beside another at the same time. Never raises."""
    here, there = _whereabouts(new), _whereabouts(known)
    if here is not None and there is not None:
        return different_places(here, there)
    return _but_for_one(_plain(new), _plain(known)) or compare(new, known).kind == "contradicts"


@lru_cache(maxsize=1 << 10)
def _whereabouts(text: str) -> str | None:
    """The place where somebody says that he is or lives; None where no known one is told."""
    told = written(text)
    found = next((one.value for one in slots(told) if one.name in ("home", "whereabouts") and one.subject == "i"), None)
    if found is not None:
        return found
    folded = text.casefold().strip()
    match = _WHERE.match(folded) or _WHERE_CHINESE.match(folded)
    place = None if match is None else place_at_start(folded[match.end() :])
    return None if match is None or place is None or folded[match.end() + place[1] :].strip(" .。了!！") else place[0]


def _plain(text: str) -> tuple[str, ...]:
    """Its words without who says it and without endings; signs where they are Chinese."""
    said = _SUBJECT.sub("", _SAID.sub("", text).casefold().strip()).strip(" .。!！")
    if regex(f"[{HAN}]").search(said):
        return tuple(said)
    return tuple(_ENDING.sub("", word) for word in said.split())


def _but_for_one(new: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Whether two say the same but for what stands behind a preposition."""
    before = _shared(new, known)
    if not before or before == min(len(new), len(known)):
        return False
    if "在" in new[:before]:
        behind = _shared(new[before:][::-1], known[before:][::-1])
        return behind > 1
    left = max(len(new), len(known)) - before
    return before > 1 and new[before - 1] in _PLACED and left <= MOST_WORDS


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many of the first of two rows are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
