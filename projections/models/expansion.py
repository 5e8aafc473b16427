"""A language model rewords questions: within a time limit, and kept for ten minutes.

A search waits for the model at most its `seconds`. If the model fails or is slow, one log line says why,
questions are searched as they are, and the model is not asked for a minute. A wrong answer can only add results: terms are short
lines of plain words, without a number that the question lacks.

A question that holds a secret, an address or the like goes to no model, and a term that holds one is dropped.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from contextlib import suppress
from threading import BoundedSemaphore, Lock, Thread
from time import monotonic
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.text import without_hidden
from engramlog_server.projections.language.keywords import asked_words, says_something
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.text import holds_texts
from engramlog_server.projections.memory.working_memory import SENSITIVE
from engramlog_server.projections.models.chat import Chat, prompt

MOST_EXPANSIONS = 3
"""Terms of one question: each is a search of its own."""
MOST_LETTERS, MOST_WORDS = 80, 12
"""Characters and words of a term."""
MOST_SENT = 1_000
"""Characters of a question that are sent, the last ones."""
MOST_KEPT, KEPT_SECONDS = 1_000, 600.0
"""Questions whose terms are kept, and how long."""
REST_SECONDS = 60.0
"""How long a model that failed or was too slow is left alone."""
AT_ONCE = 4
"""Questions that are with the model at a time; further ones are searched as they are."""

_MARKED = regex(r"[<>{}\[\]`|\\^~*_=@]|://|\bwww\.|\w[.．｡][^\W\d_]{2}", 2)
"""Marks of markup, templates and code; addresses and hosts: plain words have none."""
_NUMBER = regex(r"\d+")

Status = Literal["asked", "kept", "nothing", "private", "busy", "timeout", "failed"]


class QuestionExpansion(NamedTuple):
    """Result of asking for other words."""

    status: Status
    """`asked` now or `kept` from before; `nothing` of use; `private`: not sent; `busy`, `timeout`, `failed`: searched as it is."""
    terms: tuple[str, ...] = ()
    """Other wordings of the question, the best first."""


class OtherWords(BaseModel):
    """Other words for a question; empty if there are none."""

    model_config = ConfigDict(extra="ignore")

    terms: list[str] = Field(description="At most three short rewordings or groups of key words, the best first.")


def sendable(query: str) -> str | None:
    """The text that a model is shown, on one line; None if the question holds a secret, an address or the like.

    A secret may be split over two lines, so the joined forms are checked too.
    """
    sent = one_line(query.strip()[-MOST_SENT:])
    forms = dict.fromkeys((sent, query, one_line(query), "".join(query.splitlines())))
    return None if any(detect_sensitivity(form) >= SENSITIVE for form in forms) else sent


def cleaned(said: Iterable[str], query: str) -> tuple[str, ...]:
    """The usable terms of a model, in its order, without doubles, at most three."""
    asked, found = asked_words(query), dict[frozenset[str], str]()
    for text in said:
        term = " ".join("".join(one if one.isprintable() else " " for one in without_hidden(text[:1_000])).split())
        words = asked_words(term)
        if (
            says_something(term)
            and len(term) <= MOST_LETTERS
            and len(term.split()) <= MOST_WORDS
            and not _MARKED.search(term)
            and words - asked
            and set(_NUMBER.findall(term)) <= set(_NUMBER.findall(query))
            and detect_sensitivity(term) < SENSITIVE
        ):
            found.setdefault(words, term)
    return tuple(found.values())[:MOST_EXPANSIONS]


class Expander:
    """Asks one model for other words, and keeps its answers for ten minutes. Safe for threads."""

    def __init__(
        self,
        model: str,
        chat: Callable[[], Chat],
        tell: Callable[..., None],
        *,
        seconds: float = 2.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`tell` logs an event with facts, `seconds` is how long a question waits for the model."""
        self.model = model
        self._chat, self._tell, self._seconds, self._clock = chat, tell, seconds, clock
        self._kept: OrderedDict[tuple[str, str], tuple[float, tuple[str, ...]]] = OrderedDict()
        self._resting = float("-inf")
        self._lock, self._room = Lock(), BoundedSemaphore(AT_ONCE)
        holds_texts(self)

    def forget(self) -> None:
        """Keep no question any more."""
        with self._lock:
            self._kept.clear()

    def expand(self, owner: str, query: str) -> QuestionExpansion:
        """Other words for a question of an owner, or why there are none. Never raises."""
        sent = sendable(query)
        if sent is None or not says_something(sent):
            return QuestionExpansion("private" if sent is None else "nothing")
        known = self._known((owner, sent))
        if known is not None:
            return known
        answer = Future[tuple[str, ...]]()
        try:
            Thread(target=self._ask, args=((owner, sent), answer), name="engramlog-expansion", daemon=True).start()
        except RuntimeError as error:  # no thread can start
            self._room.release()
            return self._failed("failed", type(error).__name__)
        try:
            terms = answer.result(self._seconds)
        except WaitedTooLong:
            return self._failed("timeout", f"no answer within {self._seconds:g} s")
        except Exception as error:  # noqa: BLE001 - whatever a client raises, the question is searched as it is
            return self._failed("failed", error.message if isinstance(error, EngramlogError) else type(error).__name__)
        return QuestionExpansion("asked" if terms else "nothing", terms)

    def _known(self, key: tuple[str, str]) -> QuestionExpansion | None:
        """The kept result, or the reason not to ask the model now; None if it may be asked, with a place taken for it."""
        with self._lock:
            at, kept = self._kept.get(key, (float("-inf"), ()))
            if self._clock() - at < KEPT_SECONDS:
                return QuestionExpansion("kept" if kept else "nothing", kept)
            if self._clock() < self._resting:
                return QuestionExpansion("failed")
        return None if self._room.acquire(blocking=False) else QuestionExpansion("busy")

    def _ask(self, key: tuple[str, str], answer: Future[tuple[str, ...]]) -> None:
        """Ask the model, keep its terms even if nobody waits any more, and hand them to the caller."""
        try:
            terms = other_words(self._chat(), key[1])
        except BaseException as error:  # noqa: BLE001 - told to who waits
            answer.set_exception(error)
            return
        finally:
            self._room.release()
        with self._lock:
            self._resting = float("-inf")
            self._kept[key] = self._clock(), terms
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        answer.set_result(terms)

    def _failed(self, status: Status, why: str) -> QuestionExpansion:
        with self._lock:
            self._resting = self._clock() + REST_SECONDS
        with suppress(Exception):  # a log that cannot be written to costs no question its answer
            self._tell("question not expanded", model=self.model, reason=why)
        return QuestionExpansion(status)


def other_words(chat: Chat, sent: str) -> tuple[str, ...]:
    """Usable terms for a question. Raises ModelFailed if the answer cannot be read."""
    question = json.dumps({"question": sent}, ensure_ascii=False)
    answer, _ = chat.ask(prompt("expand", "zh" if is_chinese(sent) else "en"), question, OtherWords)
    return cleaned(answer.terms, sent)
