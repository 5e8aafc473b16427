"""What joins memories to each other and to what they state, and words to words."""

from __future__ import annotations

from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import Evidence, Id, Keyword, Name, Reason, Share, Word


class MemoriesLinked(Shape, frozen=True, kw_only=True):
    """Two memories belong together; `possible_conflict` is no edge but flags both."""

    a: Id
    b: Id
    weight: Share
    link: Word


class FactAsserted(Shape, frozen=True, kw_only=True):
    """A triple, with the memories that back it."""

    subject: Name
    predicate: Name
    object: Name
    evidence: Evidence
    negation: bool = False
    degree: Share | None = None
    condition: Reason | None = None


class FactRetracted(Shape, frozen=True, kw_only=True):
    """These memories no longer back that triple."""

    subject: Name
    predicate: Name
    object: Name
    evidence: Evidence
    negation: bool = False
    degree: Share | None = None
    condition: Reason | None = None


class SynonymDefined(Shape, frozen=True, kw_only=True):
    """Two words mean the same in this owner's searches."""

    keyword: Keyword
    synonym: Keyword
    similarity: Share = 0.8
