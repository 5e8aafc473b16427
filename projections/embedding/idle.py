"""Whether a message needs memory, if its words leave that open: how much nearer it is to the owner's memories than idle ones. Pure.

score    = best cosine with a memory + personal - idle       each the mean of the three best cosines with fixed messages
nearness = (score - mean) / standard deviation               of the scores of the idle messages, each without itself
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.meaning import Vectors
from engramlog_server.projections.language.lexicon import rows

NEAR, SURE = -0.3, 1.8
"""Nearness from which a message gets a few lines, and from which it counts as one that needs memory.

A few lines too many cost less than a memory that is not found, so `NEAR` is low.
"""
_ALIKE = 3
"""Fixed messages of each kind that a message is compared with: the nearest."""


@cache
def messages(kind: str) -> tuple[str, ...]:
    """The messages of a kind in `lexicon/messages.tsv`: idle, personal or plain."""
    cells = (row["english"] or row["chinese"] for row in rows("messages") if row["kind"] == (kind,))
    return tuple(map(", ".join, cells))


def fixed_messages() -> tuple[str, ...]:
    """Those that a message is compared with, idle ones first."""
    return messages("idle") + messages("personal")


class Usual(NamedTuple):
    """Scores of the idle messages in an owner's store."""

    mean: float
    spread: float


def usual(wholes: Vectors, fixed: Vectors) -> Usual:
    """What idle messages reach among an owner's vectors, shape (rows, d); `fixed`: vectors of `fixed_messages`."""
    idle = len(messages("idle"))
    scores = (wholes @ fixed[:idle].T).max(axis=0) + np.array(
        [_personal(fixed[at], np.delete(fixed, at, axis=0)) for at in range(idle)]
    )
    return Usual(float(scores.mean()), max(float(scores.std()), 1e-6))


def nearness(wholes: Vectors, fixed: Vectors, idle: Usual, asked: Vectors) -> float:
    """How far a message stands above idle ones, in standard deviations of these; negative if it stands below their mean."""
    return (float((wholes @ asked).max()) + _personal(asked, fixed) - idle.mean) / idle.spread


def _personal(asked: Vectors, fixed: Vectors) -> float:
    """How much nearer a message is to the personal messages, the last of `fixed`, than to the idle ones."""
    cosines, at = fixed @ asked, len(fixed) - len(messages("personal"))
    return float(np.sort(cosines[at:])[-_ALIKE:].mean() - np.sort(cosines[:at])[-_ALIKE:].mean())
