"""A question as the conversation ranking understands it: terms, names, days, and how this owner's turns are weighed."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from projections.conversation_dates import Named, named_dates, relative_days, zone_named
from projections.conversation_index import ConversationIndex
from projections.conversation_weights import SETTINGS
from projections.conversation_words import last_sentence, named_speakers
from projections.modes import Flags
from projections.search_index import Scores
from projections.text import tokens
from projections.view import OwnerView, Weighing


class Heard(NamedTuple):
    """A question as an owner's view understands it."""

    folded: str
    sequence: list[str]
    """Its terms in reading order, without names and dates where other terms are left."""
    terms: dict[str, int]
    last: set[str]
    """Terms of the last of several sentences."""
    speakers: list[int]
    days: list[Named]
    span: tuple[int, int] | None
    dialogue: bool
    long: float
    """0 for short turns of even length, 1 where a line is asked and a page answered."""
    weighing: Weighing
    matches: Scores
    """BM25 of the terms, of every row that has one."""


def hear(view: OwnerView, query: str, now: int, shown: Flags) -> Heard:
    """Read a question, asked at `now` (microseconds since 1970), and match its terms; who is not shown has no name."""
    index, folded = view.conversation, query.casefold()
    today = datetime.fromtimestamp(now // 1_000_000, zone_named(view.parameters.time_zone)).date()
    speakers, nameless = _named(index, folded, shown)
    days, searched = named_dates(nameless)
    shape = index.shape
    dialogue = shape.turns_taken > SETTINGS.dialogue_from
    spread = (shape.spread - SETTINGS.spread_from) / (SETTINGS.spread_to - SETTINGS.spread_from)
    long = min(1.0, max(0.0, spread)) if dialogue else 0.0
    weighing = Weighing(SETTINGS.k1, long if dialogue else SETTINGS.note_b)
    sequence, matches = _match(view, searched, weighing)
    if not matches.matched_terms:
        searched = folded
        sequence, matches = _match(view, searched, weighing)
    last = set(tokens(last_sentence(searched)))
    span = relative_days(folded, today)
    terms = _counted(sequence)
    return Heard(folded, sequence, terms, last, speakers, days, span, dialogue, long, weighing, matches)


def _named(index: ConversationIndex, folded: str, shown: Flags) -> tuple[list[int], str]:
    speakers, rest = named_speakers(folded, index.names)
    if speakers:
        present = set(index.speaker[: shown.size][shown & index.member[: shown.size]].tolist())
        if not present.issuperset(speakers):
            names = {name: speaker for name, speaker in index.names.items() if speaker in present}
            return named_speakers(folded, names)
    return speakers, rest


def _match(view: OwnerView, text: str, weighing: Weighing) -> tuple[list[str], Scores]:
    sequence = tokens(text)
    return sequence, view.matches_of(_counted(sequence), weighing)


def _counted(sequence: list[str]) -> dict[str, int]:
    return {term: min(times, SETTINGS.most_times) for term, times in Counter(sequence).items()}
