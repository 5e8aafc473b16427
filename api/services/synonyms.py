"""An owner's synonyms: defining them, and what a word is looked for by."""

from __future__ import annotations

from typing import Unpack, cast

from engramlog_server.api.requests.checks import LineTerms, check_owner, masked
from engramlog_server.api.services.carrier import Given
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.shapes import SynonymPair, SynonymSaid, SynonymsKnown, WordExpansion
from engramlog_server.events.catalogue import SynonymDefined
from engramlog_server.events.errors import refused
from engramlog_server.events.vocabulary import is_text
from engramlog_server.projections.decide.commands import Tell
from engramlog_server.projections.language.synonyms import MOST_PAIRS, expand, known_pairs, paired, word_key

MOST_LETTERS = 100
"""Longest word or phrase, as in validation."""


class Synonyms:
    """Defines and tells the synonyms of one store's owners. Safe for threads."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def define(
        self, owner: str, word: str, synonym: str, *, similarity: float = 0.8, **given: Unpack[Given]
    ) -> SynonymSaid:
        """From here on the owner's searches for one of two words find the other; with a similarity of 0 they do not.

        The same pair again takes the new similarity. Raises InputError for words or a similarity that cannot be.
        """
        check_owner(owner)
        _check_word("word", word)
        _check_word("synonym", synonym)
        if not 0 <= similarity <= 1:
            raise refused("similarity", similarity, "a number from 0 to 1")
        if paired(word, synonym, similarity) is None or word_key(word) == word_key(synonym):
            raise refused("synonym", synonym, f"another word than {word}")
        data = SynonymDefined(keyword=word, synonym=synonym, similarity=float(similarity))
        told = {"word": word, "synonym": synonym, "similarity": float(similarity)}
        return cast("SynonymSaid", self._writer.carry_out(owner, Tell((data,), told=told), **given).answer)

    def synonyms(self, owner: str, *, of: str | None = None, **times: Unpack[LineTerms]) -> SynonymsKnown:
        """The owner's own pairs, by their words; of a word also what it is looked for by, and which of that is known to all.

        Leaves no trace. Raises InputError for an owner, a word or a place in time that cannot be.
        """
        if of is not None:
            _check_word("of", of)
        with self._reader.snapshot(owner, **times) as snapshot:
            pairs, place = snapshot.view.synonyms, snapshot.place
        mine = pairs if of is None else tuple(pair for pair in pairs if word_key(of) in map(word_key, pair[:2]))
        told: list[SynonymPair] = [
            {"word": masked(one), "synonym": masked(other), "similarity": similarity} for one, other, similarity in mine
        ]
        return {
            "owner": owner,
            "of": of,
            "synonyms": [one for one in told if one["similarity"]],
            "silenced": [one for one in told if not one["similarity"]],
            "total": sum(similarity > 0 for _, _, similarity in pairs),
            "most": MOST_PAIRS,
            "known": known_pairs(of) if of is not None else {},
            "expansion": _expansion(of, pairs),
            "as_of": times.get("as_of"),
            "known_by": times.get("known"),
            **place,
        }


def _expansion(of: str | None, pairs: tuple[tuple[str, str, float], ...]) -> WordExpansion | None:
    if of is None:
        return None
    found = expand([of], pairs)
    return {"original": of, "synonyms": found.synonyms.get(of, {}), "related": found.related.get(of, {})}


def _check_word(field: str, word: str) -> None:
    if not is_text(word, MOST_LETTERS):
        raise refused(field, word[:60], f"a word or phrase in UTF-8 of at most {MOST_LETTERS} characters")
