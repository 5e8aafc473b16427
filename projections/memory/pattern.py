"""Patterns: what several memories have in common, as one memory that names them (seed 000, phase 3). Pure.

A pattern is an ordinary memory of kind `pattern`; `summarises` names its evidence. So it goes with each of its pieces, is set
aside and struck with them, and its provenance leads to them, as of any account of several memories.
"""

from __future__ import annotations

from typing import Final

from engramlog_server.projections.memory.kind import is_summary
from engramlog_server.projections.memory.record import Memory

PREFIX = "pattern-"
"""What ids of patterns begin with."""
KIND: Final = "pattern"


def is_pattern(memory: Memory) -> bool:
    """Whether a memory tells what several have in common: a job made it, or a person accepted it from one."""
    return memory.kind == KIND and memory.id.startswith(PREFIX) and is_summary(memory)


def is_of_pattern(memory_id: str) -> bool:
    """Whether an id is one of a pattern, purged ones too."""
    return memory_id.startswith(PREFIX)
