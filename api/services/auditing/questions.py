"""Saved questions on two sides, ranked as search ranks them: with meaning where an embedder is configured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from engramlog_server.api.choices import MOST_QUESTIONS
from engramlog_server.api.requests.checks import check_query
from engramlog_server.api.services.reading import Reader, request_of
from engramlog_server.events.errors import refused
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.reports.sides import Side
from engramlog_server.projections.views.query import ViewQuery

_MOST_BYTES = 1 << 20


def checked_questions(query: str | None, queries: Iterable[str]) -> list[str]:
    """The questions, each once, in their order. Raises InputError for one that is none, or too many."""
    found = list(dict.fromkeys([*([] if query is None else [query]), *queries]))
    if len(found) > MOST_QUESTIONS:
        raise refused("queries", f"{len(found):,} questions", f"at most {MOST_QUESTIONS}")
    return [check_query(one) for one in found]


def questions_in(path: Path) -> list[str]:
    """The questions in a file, one a line. Raises InputError where it cannot be read, or holds none; empty lines are none."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise refused("queries", str(path), f"a file that can be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise refused("queries", str(path), "a file in UTF-8, a question a line") from None
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if len(raw) > _MOST_BYTES or len(found) > MOST_QUESTIONS:
        raise refused("queries", str(path), f"a file of at most {MOST_QUESTIONS} questions, one a line")
    if not found:
        raise refused("queries", str(path), "a file of questions, one a line: this one holds none")
    return found


class Questions:
    """Questions of one call; their vectors are asked for before any view is held."""

    def __init__(self, reader: Reader, owner: str, texts: Sequence[str]) -> None:
        self.texts = texts
        self._reader = reader
        self._asked = {text: reader.question_of(owner, text, {}) for text in texts}

    def rank(self, side: Side, query: str, mode: Mode, limit: int) -> list[str]:
        """Ids of a question's results, the best first: those of `search` with nothing else told."""
        view, question = side.view, self._asked.get(query)
        with_meaning = self._reader.compares_meaning
        request = request_of({}, side.now, view.parameters.time_zone, with_meaning=with_meaning, reasons=False)
        sense = None if question is None else self._reader.sense_of(view, view.owner, question)
        found = search(ViewQuery(view, side.now, mode), query, limit, request, sense)
        return [one["id"] for one in found["results"]]
