"""What search reads of a memory, as terms: its speaker, content, summary and keywords, and where its content stands among them."""

from __future__ import annotations

from functools import lru_cache

from engramlog_server.projections.index.postings import TermSequence, whole
from engramlog_server.projections.language.text import kept_tokens, tokens
from engramlog_server.projections.memory.record import SECRET, Memory


def indexed_text(memory: Memory) -> str:
    """What search reads: speaker, content, summary and keywords; nothing of what is purged or secret."""
    if memory.sensitivity >= SECRET or memory.purged_at is not None:
        return ""
    parts = (memory.speaker, memory.content, memory.summary, *memory.keywords)
    return "\n".join(part for part in parts if part)


def has_text(memory: Memory) -> bool:
    """Whether `indexed_text` has any."""
    told = memory.content or memory.speaker or memory.summary or any(memory.keywords)
    return bool(told) and memory.sensitivity < SECRET and memory.purged_at is None


def indexed_terms(memory: Memory, text: str) -> TermSequence:
    """The terms of `text`, the lines of the memory that search reads ("" for none); its content is what is read in order.

    Line by line the terms are those of the text as a whole, since no token reaches over a line's end. Where the content has
    nothing but stop words beside other lines, it is not found by them, yet they are read.
    """
    if not text:
        return whole(())
    if text == memory.content:
        return whole(tokens(text))
    before, said = _of_name(memory.speaker or ""), kept_tokens(memory.content)
    after = [term for line in (memory.summary, *memory.keywords) if line for term in kept_tokens(line)]
    counted = [*before, *said, *after] or tokens(text)
    if said:
        return TermSequence(counted, len(counted), len(before), len(before) + len(said))
    alone = tokens(memory.content)
    return TermSequence([*counted, *alone], len(counted), len(counted), len(counted) + len(alone))


@lru_cache(maxsize=1024)
def _of_name(name: str) -> tuple[str, ...]:
    return tuple(kept_tokens(name))
