"""What a memory is, decided once: a turn, a summary, a merge of either, or a statement; and the one place where each begins. Pure.

A turn is one message as it was said. A summary tells what several turns or memories said; an *episode* is the summary of a
stretch of a session, and nothing else is called so. A merge joins turns or summaries, and comes apart again. Everything else
states something by itself. Its `kind` does not tell which: `episode` was written on turns and on episodes alike since 0.1, and
still is, so that what is imported again is the same event; and a turn may be imported under any word.

A pattern (seed 000, phase 3) and a suggestion are ordinary memories; `summarises` names their evidence. So each goes with each
of its pieces, is set aside and struck with them, and its provenance leads to them. A suggestion says that two memories may say
the same, or belong together; it is proposed and never more. Accepted, it is done, and the suggestion goes.

A ground lets a memory stand in every prompt: an operator said so, or a reviewer promoted what an operator had seen in use. Tiers
are folded as they are told. Whether something *always holds* needs a ground in addition to its tier, and the ground is of the
text: whoever puts other words into the memory takes it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from engramlog_server.events.catalogue import MemoryCreated, TurnRecorded
from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.events.standing import FIRM, REVIEWERS
from engramlog_server.projections.choices import CATEGORY, KIND
from engramlog_server.projections.memory.record import Memory

Form = Literal["turn", "summary", "merge", "statement"]
PUBLISHED_KIND: Final = "episode"
"""The `kind` that is written on turns and on episodes alike. What a memory is, `form_of` says."""
MADE_BY_JOBS = frozenset({"system", "judge"})
"""Sources of what no person and no assistant said."""


def form_of(memory: Memory) -> Form:
    """What a memory is."""
    if memory.merged_from:
        return "merge" if _joins_turns(memory) else "statement"
    if memory.summarises:
        return "summary"
    if not memory.source_turns:
        return "statement"
    if memory.source_turns == (memory.id,):
        return "turn"
    of_a_stretch = memory.tier == "episode"
    if memory.kind != PUBLISHED_KIND:
        return "summary" if of_a_stretch else "statement"
    made = of_a_stretch and memory.source in MADE_BY_JOBS
    return "turn" if len(memory.source_turns) == 1 and not made else "summary"


def is_told_by_itself(data: MemoryCreated) -> bool:
    """Whether what is created states something by itself: turns and summaries are read by whoever extracts."""
    of_turns = bool(data.source_turns) and (data.source_turns == (data.memory_id,) or data.kind == PUBLISHED_KIND)
    return not data.summarises and not of_turns


def turn_told(data: MemoryCreated) -> str | None:
    """The turn that is created as a memory, by its id; None where something else is: `form_of` of what is told alone."""
    if data.summarises or not data.source_turns:
        return None
    if data.source_turns == (data.memory_id,):
        return data.memory_id
    made = (data.tier or data.kind) == "episode" and data.source in MADE_BY_JOBS
    if data.kind != PUBLISHED_KIND or len(data.source_turns) != 1 or made:
        return None
    return data.source_turns[0]


def tells_all(data: MemoryCreated) -> bool:
    """Whether what is created tells what several turns or memories said: it has words of each."""
    if data.summarises:
        return True
    of_turns = bool(data.source_turns) and turn_told(data) is None
    return of_turns and "episode" in (data.tier, data.kind)


def is_drawn(told: Memory | MemoryCreated) -> bool:
    """Whether a job read it in what was said."""
    return told.source == "judge" and bool(told.source_turns)


def is_turn(memory: Memory) -> bool:
    """Whether a memory is one turn as it was said."""
    return form_of(memory) == "turn"


def is_summary(memory: Memory) -> bool:
    """Whether a memory tells what several turns or memories said."""
    return form_of(memory) == "summary"


def has_words_of_others(memory: Memory) -> bool:
    """Whether a memory shares words with others: it summarises or joins them, or was joined with them."""
    joined = memory.merged_from or memory.merged_into or memory.unmerged_from
    return bool(memory.summarises or joined) or is_summary(memory)


def is_statement(memory: Memory) -> bool:
    """Whether a memory states something by itself, and is no turn and no account of turns."""
    return form_of(memory) == "statement"


def _joins_turns(memory: Memory) -> bool:
    """Whether a merge is of turns or summaries: by their word, or by ids, for a turn's memory has the turn's id."""
    if not memory.source_turns:
        return False
    return memory.kind == PUBLISHED_KIND or set(memory.merged_from) <= set(memory.source_turns)


PATTERN_PREFIX = "pattern-"
"""What ids of patterns begin with."""
PATTERN_KIND: Final = "pattern"


def is_pattern(memory: Memory) -> bool:
    """Whether a memory tells what several have in common: a job made it, or a person accepted it from one."""
    return memory.kind == PATTERN_KIND and memory.id.startswith(PATTERN_PREFIX) and is_summary(memory)


def is_of_pattern(memory_id: str) -> bool:
    """Whether an id is one of a pattern, purged ones too."""
    return memory_id.startswith(PATTERN_PREFIX)


Suggested = Literal["merge", "link"]
SUGGESTION_KIND: Final = "suggestion"
SUGGESTION_PREFIX: Final = "suggestion-"
"""What ids of suggestions begin with; then what is suggested, a full stop, and a keyed name of the two."""
ASKED: Final = "asked-"
"""What ids of questions begin with that were asked again in other words."""
LINKED: Final = "semantic"
"""The link of two memories that belong together by their meaning."""


def suggestion_id(suggested: Suggested, name: str) -> str:
    """The id of a suggestion about what has this keyed name."""
    return f"{SUGGESTION_PREFIX}{suggested}.{name}"


def merged_id(suggestion: str) -> str:
    """The id of the memory that a suggested merge makes."""
    return f"m-{suggestion.partition('.')[2]}"


def suggested_by(memory: Memory) -> Suggested | None:
    """What a proposed memory suggests about two others; None where it is no suggestion."""
    if memory.kind != SUGGESTION_KIND or len(memory.summarises) != 2 or not is_summary(memory):
        return None
    return _suggested(memory.id)


def is_asked_again(memory: Memory) -> bool:
    """Whether a memory is a job's, of a question that was asked again in other words."""
    return (
        memory.id.startswith(ASKED) and memory.kind == "question" and memory.source == "system" and is_summary(memory)
    )


def suggested_kind(memory_id: str) -> str | None:
    """What a thing of this id that waits is called; None where it is no suggestion."""
    suggested = _suggested(memory_id)
    return None if suggested is None else f"suggested_{suggested}"


def _suggested(memory_id: str) -> Suggested | None:
    what = (
        memory_id.removeprefix(SUGGESTION_PREFIX).partition(".")[0] if memory_id.startswith(SUGGESTION_PREFIX) else ""
    )
    return "merge" if what == "merge" else "link" if what == "link" else None


def created(memory_id: str, content: str, **fields: Any) -> MemoryCreated:
    """A memory begins: by the user, of kind and category `fact`, unless the fields say otherwise. Not yet checked by validation."""
    told: dict[str, Any] = {"category": CATEGORY, "kind": KIND, "source": "user"} | fields
    return MemoryCreated(memory_id=memory_id, content=content, **told)


def recorded(turn_id: str, role: str, text: str, speaker: str | None) -> TurnRecorded:
    """Somebody said something."""
    return TurnRecorded(turn_id=turn_id, role=role, speaker=speaker, text=text)  # type: ignore[arg-type]


def memory_of_turn(
    turn_id: str,
    text: str,
    *,
    source: str,
    speaker: str | None,
    kind: str = PUBLISHED_KIND,
    tier: str = "fact",
    category: str = CATEGORY,
    project: str | None = None,
) -> MemoryCreated:
    """A turn as a memory that can be found: it has the turn's id, which makes it that turn under any kind."""
    return created(
        turn_id,
        text,
        category=category,
        kind=kind,
        tier=tier,
        source=source,
        speaker=speaker,
        source_turns=(turn_id,),
        project=project,
    )


def episode(memory_id: str, text: str, turns: Sequence[str]) -> MemoryCreated:
    """The summary of a stretch of a session."""
    return created(
        memory_id,
        text,
        category="temporary",
        kind=PUBLISHED_KIND,
        tier="episode",
        source="system",
        source_turns=tuple(turns),
    )


def pattern(memory_id: str, text: str, because: str, evidence: Sequence[str], **fields: Any) -> MemoryCreated:
    """What several memories have in common, with their ids as its evidence."""
    told: dict[str, Any] = {"kind": "pattern", "source": "system", "summarises": tuple(evidence), "because": because}
    return created(memory_id, text, **(told | fields))


def suggestion(memory_id: str, text: str, because: str, about: Sequence[str], **fields: Any) -> MemoryCreated:
    """What might be done with two memories, for a person to answer."""
    told: dict[str, Any] = {"kind": "suggestion", "source": "system", "summarises": tuple(about), "because": because}
    return created(memory_id, text, **(told | fields))


def correction(memory_id: str, content: str, of: Memory, *, source: str, turn_id: str | None = None) -> MemoryCreated:
    """What holds instead of a memory: like it in all but its words. What corrects a core memory is an ordinary one."""
    return created(
        memory_id,
        content,
        category=of.category,
        kind="fact" if of.kind in FIRM else of.kind,
        source=source,
        speaker=of.speaker,
        project=of.project,
        task=of.task,
        corrects=of.id,
        source_turns=(turn_id,) if turn_id else (),
    )


OPERATOR, REVIEW = "operator", "review"
ORDINARY = 1.0
"""Importance at which memories begin."""
BORNE_OUT = DEFAULTS.promotion_importance - ORDINARY
"""What counted uses must have added: as much as lifts an ordinary memory to the question of promotion. A producer's own figure
of importance counts for nothing here, nor does what an owner's parameters say."""
WITNESSES = frozenset({"operator"})
"""Whose word for a use is evidence. All others' reach the log by whoever holds a token, under any of their names and dated at
will; so do the turns in which jobs find uses. When the log took them (format 2) shows when they were told, not that they happened:
whoever has a day's patience tells them one after the other. Until keys say who may tell uses, they are no evidence."""


def always_holds(memory: Memory) -> bool:
    """Whether it may stand in every prompt, whatever is asked."""
    return memory.ground is not None and memory.tier in FIRM


def borne_out(memory: Memory) -> bool:
    """Whether uses alone, whoever told them, would have made it worth asking a reviewer about."""
    return memory.upkeep is not None and memory.upkeep.earned >= BORNE_OUT


def witnessed(memory: Memory) -> bool:
    """Whether uses that an operator recorded alone would have."""
    return memory.upkeep is not None and memory.upkeep.witnessed >= BORNE_OUT


def of_promotion(memory: Memory, to: str, actor: str) -> str | None:
    """The ground after a promotion: an operator's word, or a reviewer's about what an operator saw in use and nothing denies."""
    if to not in FIRM:
        return None
    if actor == "operator":
        return OPERATOR
    sure = not memory.is_negated and not memory.conflicts
    return REVIEW if actor in REVIEWERS and sure and witnessed(memory) else memory.ground


class MergedGround(NamedTuple):
    """What a merge has of the sources whose words it keeps."""

    ground: str | None
    earned: float
    witnessed: float


def of_merge(summary: str, sources: Sequence[Memory], actor: str, tier: str) -> MergedGround:
    """Ground and earned importance of a merge: those of the source whose words it keeps. An operator answers for his own."""
    kept = [one for one in sources if one.content == summary]
    upkeeps = [one.upkeep for one in kept if one.upkeep is not None]
    ground = next((one.ground for one in kept if one.ground is not None), None)
    return MergedGround(
        OPERATOR if tier in FIRM and actor == "operator" else ground,
        max((one.earned for one in upkeeps), default=0.0),
        max((one.witnessed for one in upkeeps), default=0.0),
    )
