"""Records that views return: plain dicts, whose keys mypy knows."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from engramlog_server.projections.fold.changelog import Change
from engramlog_server.projections.fold.provenance import BasisTold, OriginTree


class PossibleConflict(TypedDict):
    """Another memory that may contradict this one: nothing was overwritten, and which holds is to be asked."""

    id: str
    memory: str


class CorrectedBy(TypedDict):
    """Something that a memory says and that no longer holds."""

    of: str
    was: str | None
    by: str | None
    now: str | None
    at: str


class ToldBeside(TypedDict):
    """What may contradict a memory, and what it says that no longer holds; left out where nothing does."""

    possible_conflicts: NotRequired[list[str]]
    conflicting: NotRequired[list[PossibleConflict]]
    corrected: NotRequired[list[CorrectedBy]]
    until: NotRequired[str | None]


class Card(ToldBeside):
    """What every answer tells of a memory."""

    id: str
    memory: str
    level: str
    category: str
    kind: str
    speaker: str | None
    source_turns: list[str]
    created_at: str
    last_activated_at: str
    mention_count: int
    is_negated: bool
    status: str
    trust: str
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    successor: NotRequired[str | None]
    ground_changed: NotRequired[bool]
    long_ago: NotRequired[bool]


class ContextTold(TypedDict):
    """What was going on when a memory was made: its producer's word, else derived from its time and its words when it is read."""

    tags: list[str]
    emotion: float | None


class InPattern(TypedDict):
    """A pattern, or a memory that is evidence of one."""

    id: str
    memory: str | None
    status: str
    created_at: str


class PatternTold(TypedDict):
    """What a pattern rests on, and which patterns rest on a memory."""

    evidence: NotRequired[list[InPattern] | None]
    patterns: NotRequired[list[InPattern] | None]


class CorrectionTold(TypedDict):
    """That a memory was said to be wrong."""

    time: str
    reason: str | None
    new_preference: str | None
    resolution: str
    replaced_by: str | None
    turn_id: str | None


class EarlierText(TypedDict):
    """What a memory said before."""

    version: int
    content: str
    until: str


class EdgeTold(TypedDict):
    """What a memory is associated with."""

    to: str
    weight: float
    link: str


class ExtractedKeyword(TypedDict):
    """A keyword that a memory is found by."""

    word: str
    weight: float
    source: str


class AsideTold(TypedDict):
    """A source that is set aside: a session, a principal, an actor, or what is several of these at once."""

    session: str | None
    principal: str | None
    of_actor: str | None
    since: str
    set_aside_at: str
    by_actor: NotRequired[str | None]
    by_principal: NotRequired[str | None]
    reason: str


class Detail(PatternTold, BasisTold, Card):
    """Everything about one memory."""

    content: str
    summary: str | None
    recorded_level: str
    weight: float
    tier: str
    ground: str | None
    source: str
    waiting: list[str]
    confidence: float
    importance: float
    keywords: list[str]
    extracted_keywords: list[ExtractedKeyword]
    tags: list[str]
    emotion: float | None
    context: ContextTold
    project: str | None
    task: str | None
    modalities: list[str]
    sensitivity: int
    verified: bool
    version: int
    versions: list[EarlierText]
    updated_at: str
    last_mentioned_at: str | None
    last_accessed_at: str | None
    access_count: int
    correction_history: list[CorrectionTold]
    corrects: str | None
    merged_from: list[str]
    merged_into: str | None
    deleted_at: str | None
    purged_at: str | None
    edges: list[EdgeTold]
    revealed: NotRequired[str | None]


class Reasons(BasisTold, ToldBeside):
    """Why a memory weighs what it weighs."""

    id: str
    memory: str
    law: str
    weight: float
    unclipped_weight: float
    factors: dict[str, float]
    laws: dict[str, float]
    changes: list[Change]
    provenance: OriginTree
    mention_count: int
    is_negated: bool
    level: str
    status: str
    trust: str
    created_at: str
    last_activated_at: str
    next: NotRequired[str | None]
    order: NotRequired[str]
    aside: NotRequired[AsideTold | None]
