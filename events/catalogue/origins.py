"""What a memory brings along when it begins: the grounds that it rests on, and the counters of an older record."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import MAX_GROUNDS, Count, Digest, Id, Share, Time, Uri, Word


class ImportedEdge(Shape, frozen=True, kw_only=True):
    """An association that an older record brought along."""

    memory_id: Id
    weight: Share
    link: Word = "semantic"


class Imported(Shape, frozen=True, kw_only=True):
    """Counters of an older record. `stability` in hours, `strength` in percent, `decay_rate` as a factor."""

    access_count: Count | None = None
    last_accessed_at: Time | None = None
    updated_at: Time | None = None
    strength: Annotated[float, Field(ge=0, le=100)] | None = None
    stability: Annotated[float, Field(gt=0, le=8760)] | None = None
    last_reinforced_at: Time | None = None
    reinforce_count: Count | None = None
    decay_rate: Annotated[float, Field(ge=0.5, le=2.0)] | None = None
    mention_count: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    consolidation_score: Share | None = None
    associations: Annotated[tuple[ImportedEdge, ...], Field(max_length=32)] = ()


class Ground(Shape, frozen=True, kw_only=True):
    """Something outside that a memory rests on, as it was then: a page, a file, a record."""

    uri: Uri
    digest: Digest


def _one_a_uri(grounds: tuple[Ground, ...]) -> tuple[Ground, ...]:
    if len({one.uri for one in grounds}) != len(grounds):
        raise PydanticCustomError("repeated", "each uri once")
    return grounds


Grounds = Annotated[tuple[Ground, ...], Field(max_length=MAX_GROUNDS), AfterValidator(_one_a_uri)]


class GroundChanged(Shape, frozen=True, kw_only=True):
    """Something that a memory rests on has this digest now: another than it had withholds the memory."""

    memory_id: Id
    uri: Uri
    digest: Digest
