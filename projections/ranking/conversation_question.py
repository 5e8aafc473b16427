"""A question as the conversation ranking understands it: terms, names, days, and how this owner's turns are weighed."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from engramlog_server.projections.index.conversation_index import ConversationIndex
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.asking.framing import framing_terms
from engramlog_server.projections.language.conversation_words import last_sentence, named_speakers
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.ranking.conversation_dates import QuestionTimes, times_in
from engramlog_server.projections.ranking.conversation_weights import SETTINGS
from engramlog_server.projections.ranking.keyword_match import expanded_terms
from engramlog_server.projections.views.texts import Weighing
from engramlog_server.projections.views.view import OwnerView


class QuestionReading(NamedTuple):
    """A question as an owner's view understands it."""

    folded: str
    sequence: list[str]
    """Its terms in reading order, without names and dates where other terms are left."""
    terms: dict[str, float]
    """How many times each counts; of a word that says how to answer, a share."""
    counted: dict[str, float]
    """The terms, and those of their synonyms, with how many times each counts."""
    last: set[str]
    """Terms of the last of several sentences."""
    speakers: list[int]
    times: QuestionTimes
    dialogue: bool
    long: float
    """0 for short turns of even length, 1 where a line is asked and a page answered."""
    weighing: Weighing
    matches: Scores
    """BM25 of what is counted, of every row that has some of it."""


def read_question(view: OwnerView, query: str, now: int, shown: Flags, *, by_meaning: bool = False) -> QuestionReading:
    """Read a question, asked at `now` (microseconds since 1970), and match its terms; who is not shown has no name.

    `by_meaning`: whether meaning is compared too. Then words that say where to look or how to answer count little.
    """
    index, folded = view.conversation, query.casefold()
    speakers, nameless = _named(index, folded, shown)
    times, searched = times_in(nameless, now, view.parameters.time_zone)
    shape = index.shape
    dialogue = shape.turns_taken > SETTINGS.dialogue_from
    spread = (shape.spread - SETTINGS.spread_from) / (SETTINGS.spread_to - SETTINGS.spread_from)
    long = min(1.0, max(0.0, spread)) if dialogue else 0.0
    weighing = Weighing(SETTINGS.k1, long if dialogue else SETTINGS.note_b)
    alike = {term: SETTINGS.synonym_share * near for term, near in expanded_terms(view, query).items()}
    framing = framing_terms() if by_meaning else frozenset[str]()
    terms, matches = _match(view, sequence := tokens(searched), alike, weighing, framing)
    if not terms.keys() & set(matches.matched_terms):
        searched = folded
        terms, matches = _match(view, sequence := tokens(searched), alike, weighing, framing)
    last, counted = last_sentence(searched), alike | terms
    last_said = set(sequence if last == searched else tokens(last))
    return QuestionReading(
        folded, sequence, terms, counted, last_said, speakers, times, dialogue, long, weighing, matches
    )


def _named(index: ConversationIndex, folded: str, shown: Flags) -> tuple[list[int], str]:
    speakers, rest = named_speakers(folded, index.names)
    if speakers:
        present = set(index.speaker[: shown.size][shown & index.member[: shown.size]].tolist())
        if not present.issuperset(speakers):
            names = {name: speaker for name, speaker in index.names.items() if speaker in present}
            return named_speakers(folded, names)
    return speakers, rest


def _match(
    view: OwnerView, sequence: list[str], alike: dict[str, float], weighing: Weighing, framing: frozenset[str]
) -> tuple[dict[str, float], Scores]:
    """How often each term of a question counts, and what matches these and what is like them."""
    times = Counter(sequence)
    found = times.keys() & framing
    light = found if len(found) < len(times) else set[str]()
    terms = {
        term: min(count, SETTINGS.most_times) * (SETTINGS.framing_share if term in light else 1.0)
        for term, count in times.items()
    }
    return terms, view.matches_of(alike | terms, weighing)
