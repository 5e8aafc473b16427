"""Why one memory stands above another for a question. Writes nothing and leaves no trace."""

from __future__ import annotations

from typing import Any

from engramlog_server.api.requests.checks import (
    Progress,
    TimesAsked,
    check_memory_id,
    check_mode,
    check_query,
    masked,
    told_times,
)
from engramlog_server.api.services.reading import Reader, check_terms, request_of
from engramlog_server.api.shapes import Above
from engramlog_server.events.errors import refused
from engramlog_server.projections.language.prompt_text import is_chinese
from engramlog_server.projections.reports.above import LANGUAGES, compared, sentence
from engramlog_server.projections.views.query import ViewQuery


class Outranking:
    """Two memories of one store's owners under a question's ranking. Safe for threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def above(
        self,
        owner: str,
        memory_id: str,
        *,
        other: str,
        query: str,
        mode: str = "normal",
        language: str | None = None,
        as_of: str | None = None,
        known: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
        **terms: Any,
    ) -> Above:
        """Why `memory_id` stands above `other` among the results of a question, or below: as a search with these terms ranks them.

        `language`: of the sentence, `en` or `zh`; by the question's letters if not told. Raises NotFound where the owner lacks one
        of the two, InputError where both are the same.
        """
        checked = check_mode(mode)
        check_query(query)
        check_memory_id(memory_id)
        if check_memory_id(other) == memory_id:
            raise refused("other", other, "another memory than the first")
        if language is not None and language not in LANGUAGES:
            raise refused("language", language, " or ".join(LANGUAGES))
        reader = self._reader
        check_terms(terms, with_meaning=reader.compares_meaning)
        question = reader.question_of(owner, query, terms, as_of=as_of, known=known, after=after)
        times = TimesAsked(as_of=as_of, known=known, at=at, after=after, on_progress=on_progress)
        with reader.snapshot(owner, **times) as snapshot:
            for one in (memory_id, other):
                reader.memory(snapshot, owner, one)
            zone = snapshot.view.parameters.time_zone
            request = request_of(terms, snapshot.now, zone, with_meaning=reader.compares_meaning, reasons=False)
            sense = reader.sense_of(snapshot.view, owner, question)
            asked = ViewQuery(snapshot.view, snapshot.now, checked)
            found = compared(asked, query, (memory_id, other), request, sense)
            place = snapshot.place
        spoken = language or ("zh" if is_chinese(query) else "en")
        return {
            "owner": owner,
            "query": masked(query),
            "order": found.order,
            "tied": found.tied,
            "sentence": sentence(found, spoken),
            "language": spoken,
            "first": found.first,
            "second": found.second,
            "difference": found.difference,
            "terms": found.terms,
            "rules": found.rules,
            "mode": checked,
            "ranking": request.ranking,
            "search_mode": request.search_mode,
            "meaning": None if question.told is None else question.told.get("failed"),
            **told_times(times),
            **place,
        }
