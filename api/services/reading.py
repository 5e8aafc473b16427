"""Reading: search, get, list, counts, why, history and provenance, at present or as of any instant or position.

A question is compared by its words and, if an embedder is set, by its meaning.

A **cursor** names the position and the instant at which the first page was answered, and how many results came before: the next
page is read as of there, so that pages neither repeat nor skip whatever has changed meanwhile. What was deleted since is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from engramlog_server.api.checks import (
    CURSOR_RULE,
    QUERY_HIDDEN,
    LineTerms,
    Progress,
    TimesAsked,
    check_limit,
    check_memory_id,
    check_mode,
    check_one_of,
    check_owner,
    check_query,
    cursor_of,
    cursor_parts,
    is_secret,
    lines_answer,
    masked,
    question_name,
    telling_in_hand,
    times_answer,
)
from engramlog_server.api.choices import MOST_CHANGES
from engramlog_server.api.services.accesses import AccessRecorder, Read
from engramlog_server.api.services.histories import ORDERS, Histories, HistoryPage, page_asked
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.api.work import current_check, weigh
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.events.text import NONE, STORE
from engramlog_server.events.vocabulary import Via
from engramlog_server.projections.checks import Bounds
from engramlog_server.projections.choices import RANKINGS, SEARCH_MODES
from engramlog_server.projections.embedding.choosing import compares_nothing
from engramlog_server.projections.embedding.meaning import KnownVectors, Sense
from engramlog_server.projections.fold.links import with_events
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.language.prompt_text import is_chinese
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.ranking.question import MeantQuestion, Senses
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import (
    BLIND_TO_ACCESSES,
    BY_MEANING,
    Filters,
    SearchRequest,
    check_name,
    filters_of,
    zoned_text,
)
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.listing import (
    RowsWanted,
    check_wanted,
    facets,
    listing,
    sorting_of,
    wanted_of,
)
from engramlog_server.projections.reports.rank_comparison import LANGUAGES, compare_ranks, sentence
from engramlog_server.projections.shapes import (
    Card,
    Counts,
    Detail,
    Found,
    Listing,
    MeaningCompared,
    OriginTree,
    Placed,
    Provenance,
    QuestionExpansion,
    RankComparison,
    SpansTold,
    Understood,
    UnplacedFound,
    UnplacedWhy,
    Why,
)
from engramlog_server.projections.views.query import ViewQuery, detail, pattern_told, why, without_lost
from engramlog_server.projections.views.view import OwnerView

if TYPE_CHECKING:  # a process that rewords no question loads nothing of it
    from engramlog_server.projections.models.expansion import Expander

MOST_OFFSET = 100_000
MOST_EXPANSIONS, MOST_EXPANDED = 3, 300
"""Terms of a model's that a cursor may have, and their characters together."""
_UNLESS_TOLD = {"ranking": RANKINGS[0], "search_mode": "hybrid", "min_relevance": 0.0, "expand": True}


def semantic_refused() -> InputError:
    """What is raised where meaning alone is asked for, and nothing compares it."""
    return refused(
        "search_mode",
        "semantic",
        "keyword or hybrid, as no embedder counts here (ENGRAMLOG_EMBEDDER=auto, or the owner's parameter embedder)",
    )


SearchTerms = Mapping[str, Any]
"""What a search may ask beside its words, by the names of `api.operations.reading`; absent: as it has them."""


class PairAsked(NamedTuple):
    """Two memories, and the search that ranks them."""

    ids: tuple[str, str]
    query: str
    mode: Mode
    terms: SearchTerms
    language: str | None
    """Language of the sentence; None: the language of the query."""
    question: MeantQuestion
    expansion: QuestionExpansion | None
    """How else a model puts the query; None: as it is."""


def _refuse_without_pair(**asked: str | bool | None) -> None:
    """Raises InputError for what is only asked of two memories."""
    usual = {"mode": "normal", "ranking": RANKINGS[0], "search_mode": "hybrid", "language": None, "expand": True}
    for name, value in asked.items():
        if value != usual[name]:
            raise refused(name, value, "nothing without `above` and `query`, which compare two memories")


def request_of(terms: SearchTerms, now: int, zone: str, *, with_meaning: bool, reasons: bool = True) -> SearchRequest:
    """The wish, or InputError naming the field.

    `now`, `zone`: what "last week" is relative to; `with_meaning`: whether there is an embedder; `reasons`: whether they are told.
    """
    ranking = check_one_of("ranking", terms.get("ranking", "conversation"), RANKINGS)
    mode = check_one_of("search_mode", terms.get("search_mode", "hybrid"), SEARCH_MODES)
    if mode == "semantic" and ranking not in BY_MEANING:
        raise refused(
            "search_mode",
            mode,
            f"keyword or hybrid under the ranking {ranking}; semantic under {' or '.join(BY_MEANING)}",
        )
    if mode == "semantic" and not with_meaning:
        raise semantic_refused()
    filters = filters_of(terms, now, zone)
    return SearchRequest(
        ranking,
        mode,
        filters,
        check_name("near_project", terms.get("near_project")),
        terms.get("associations", False),
        terms.get("include_faded"),
        reasons,
    )


def tell_filters(understood: Understood, filters: Filters, zone: str) -> None:
    """Add from when, and to when (not included), was searched, where a filter says so: RFC 3339 in the time zone."""
    if filters.since is not None:
        understood["since"] = zoned_text(filters.since, zone)
    if filters.until is not None:
        understood["until"] = zoned_text(filters.until, zone)


def check_terms(terms: SearchTerms, *, with_meaning: bool) -> None:
    """InputError for whatever can be told to be wrong before the owner's zone and the question's instant are known."""
    check_name("since", terms.get("since"))
    check_name("until", terms.get("until"))
    request_of({**terms, "since": None, "until": None}, 0, "UTC", with_meaning=with_meaning)


class Cursor(NamedTuple):
    """Where the next page begins."""

    position: str
    at: int
    """Microseconds since 1970."""
    offset: int
    question: str
    """Digest of everything that was asked."""
    entries: int = 0
    """How long the owner's change log was."""
    meaning: str = ""
    """What was compared by meaning: see `compared`."""
    expansions: str = ""
    """How else a model put the question on the first page, a line each."""


FIRST_PAGE = Cursor("", 0, 0, "")


def compared(meaning: MeaningCompared | None) -> str:
    """A word for what an answer compared by meaning: the model and how many memories had its vectors."""
    if meaning is None:
        return ""
    return "failed" if "failed" in meaning else f"{meaning['model']} {meaning['embedded']}"


def question_digest(terms: SearchTerms, *asked: str | None) -> str:
    """A short name of a question: a cursor of one is refused for another. What is told as if it were not is as good as not told."""
    said = {name: value for name, value in terms.items() if not _as_good_as_untold(name, value)}
    return question_name(said, asked)


def _as_good_as_untold(name: str, value: Any) -> bool:
    """A number 0 says something: from it on is less than all, where weights fall below it; so does that nothing faded is wanted."""
    return (
        value is None
        or (value is False and name != "include_faded")
        or value in ((), [], "")
        or value == _UNLESS_TOLD.get(name)
    )


def cursor_text(cursor: Cursor) -> str:
    """A cursor as callers hold it: URL-safe, opaque."""
    return cursor_of(*cursor)


def read_cursor(text: str, question: str) -> Cursor:
    """A cursor as `cursor_text` made it for this question, or InputError."""
    found = Cursor(*cursor_parts(text, (str, int, int, str, int, str, str)))
    forged = len(found.expansions) > MOST_EXPANDED or found.expansions.count("\n") >= MOST_EXPANSIONS
    if found.question != question or not 0 < found.offset <= MOST_OFFSET or forged:
        raise refused("cursor", text[:80], CURSOR_RULE)
    return found


def spans_answer(wanted: RowsWanted, zone: str) -> SpansTold:
    """From when, and to when (not included), memories were made or revised, where a filter says so: RFC 3339 in the time zone."""
    found, filters, updated = SpansTold(), wanted.filters, wanted.updated
    if filters.since is not None:
        found["since"] = zoned_text(filters.since, zone)
    if filters.until is not None:
        found["until"] = zoned_text(filters.until, zone)
    if updated.since is not None:
        found["updated_since"] = zoned_text(updated.since, zone)
    if updated.until is not None:
        found["updated_until"] = zoned_text(updated.until, zone)
    return found


class Counter:
    """Counts one store's memories. Safe for threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def counts(
        self,
        owner: str,
        *,
        mode: str = "normal",
        as_of: str | None = None,
        known: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
        **filters: Any,
    ) -> Counts:
        """How many memories have each value of each filter, as if that one were not told. `filters`: those of a list."""
        checked = check_mode(mode)
        check_wanted(filters)
        told = TimesAsked(as_of=as_of, known=known, at=at)
        times = TimesAsked(**told, after=after, on_progress=on_progress)
        with self._reader.snapshot(check_owner(owner), **times) as snapshot:
            zone = snapshot.view.parameters.time_zone
            wanted = wanted_of(filters, snapshot.now, zone)
            answer = facets(ViewQuery(snapshot.view, snapshot.now, checked), wanted, Bounds(current_check(), weigh))
        return {**answer, **spans_answer(wanted, zone), **times_answer(told), **snapshot.place}


class MeaningReader(Histories):
    """Asks for all of it before any view is held. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, meanings: Senses | None = None) -> None:
        super().__init__(log, views)
        self._meanings = meanings
        self.alike: Alike = no_model if meanings is None else meanings.alike

    @property
    def compares_meaning(self) -> bool:
        """Whether there may be an embedder: which one counts is known of each owner."""
        return self._meanings is not None

    def unused_embedder(self, parameter: str) -> str:
        """Why this process will not use the embedder that an owner's parameter names; empty where it will, or it names none."""
        if self._meanings is not None:
            return self._meanings.unused(parameter)
        return "" if parameter in (STORE, NONE) else compares_nothing(parameter)

    def sense_of(self, view: OwnerView, owner: str, question: MeantQuestion) -> Sense | None:
        """A question's meaning beside that of a view's memories; None where it is not compared, which the question may tell."""
        sense = None if self._meanings is None else self._meanings.sense(view, owner, question)
        if sense is None and question.alone:
            raise semantic_refused()
        return sense

    def stands_out(self, owner: str, text: str, **times: Unpack[LineTerms]) -> float | None:
        """How far a text stands above idle ones (`projections.embedding.meaning`); None if nothing is compared."""
        if self._meanings is None or is_secret(text):
            return None
        with self.snapshot(owner, **times) as snapshot:
            return self._meanings.stands_out(snapshot.view, owner, text)

    def vectors_of(self, view: OwnerView, owner: str) -> KnownVectors | None:
        """The vectors of a view's memories; None where there is no embedder."""
        return None if self._meanings is None else self._meanings.known_vectors(view, owner)

    def question_of(self, owner: str, query: str, terms: SearchTerms, **times: Unpack[LineTerms]) -> MeantQuestion:
        """A question as far as it is compared by meaning; its vectors are asked for before any view is held, where that can be.

        `times`: what was said of who may be asked by what the answer waits for counts; of a past what counted then is loaded, not
        what counts today. Raises as the wait, and the way to that past, does.
        """
        mode = terms.get("search_mode", "hybrid")
        compares = mode != "keyword" and terms.get("ranking", RANKINGS[0]) in BY_MEANING
        past = (times.get("as_of"), times.get("known")) != (None, None)
        question = MeantQuestion(query, compares=compares, alone=compares and mode == "semantic", past=past)
        if self._meanings is None or not compares:
            return question
        if is_secret(query):
            if question.alone:
                raise refused(
                    "search_mode", mode, "keyword or hybrid: a query that looks like a secret goes to no embedder"
                )
            question.hidden = QUERY_HIDDEN
        self._meanings.ask(
            owner,
            question,
            lambda: self._parameters(owner, times.get("after")).embedder,
            lambda: self._view_of(owner, times),
        )
        return question

    @contextmanager
    def _view_of(self, owner: str, times: LineTerms) -> Iterator[OwnerView]:
        with self.snapshot(owner, **times) as snapshot:
            yield snapshot.view

    def _parameters(self, owner: str, after: str | None) -> Parameters:
        found = self.glance(owner, after=after)
        return DEFAULTS if found is None else found.view.parameters


def tell_erased_sources(views: RedisViews, owner: str, view: OwnerView, told: OriginTree) -> None:
    """Mark the origins of which a source turn was erased, whatever time is asked about. Raises StoreError."""
    named = {
        node["id"]: [(turn, _session(view, node["id"])) for turn in node.get("source_turns") or ()]
        for node in told["nodes"]
    }
    gone = views.erased_turns.among(owner, (turn for turns in named.values() for turn in turns))
    for node in told["nodes"] if gone else ():
        if not gone.isdisjoint(named[node["id"]]):
            node["source_erased"] = True


def _session(view: OwnerView, memory_id: str) -> str | None:
    memory = view.get(memory_id)
    return None if memory is None else memory.session


MOST_NODES = 1_000
"""Memories among the origins of one, where they are bounded."""


def _leave_out_lost(answer: UnplacedFound, snapshot: Snapshot) -> None:
    """Leave out of a page what was deleted since the first page."""
    answer["results"] = [one for one in answer["results"] if not snapshot.has_lost(one["id"])]
    if associated := answer.get("associated"):
        answer["associated"] = [one for one in associated if not snapshot.has_lost(one["id"])]
    for one in (*answer["results"], *(answer.get("associated") or ())):
        if corrected := one.get("corrected"):
            one["corrected"] = without_lost(corrected, snapshot.has_lost)


class Reader(MeaningReader):
    """Answers questions about one store's owners. Safe for threads."""

    def __init__(
        self,
        log: EventLog,
        views: RedisViews,
        accesses: AccessRecorder | None = None,
        meanings: Senses | None = None,
        await_turns: Callable[[str], None] = lambda _owner: None,
        expander: Expander | None = None,
    ) -> None:
        """`await_turns`: waits a moment until turns of an owner that were just written are read; called before a question.

        `expander` rewords questions by a language model, if the process is set to do so.
        """
        super().__init__(log, views, meanings)
        self._accesses = accesses
        self.await_turns = await_turns
        self._expander = expander

    def search(
        self,
        owner: str,
        query: str,
        *,
        mode: str = "normal",
        limit: int = 5,
        cursor: str | None = None,
        as_of: str | None = None,
        known: str | None = None,
        at: str | None = None,
        after: str | None = None,
        trace: bool = True,
        inspect: bool = False,
        reasons: bool = True,
        most_sensitive: int = SECRET - 1,
        proposals: bool = False,
        on_progress: Progress | None = None,
        **terms: Any,
    ) -> Found:
        """The memories that answer a query best, each with its reasons, and what the mode withheld; a page of them.

        `cursor`: what `next` said on the page before. `trace`: record what was shown, of normal mode and the present. `inspect`:
        somebody only looks, in any mode and at any time: recorded too, and no memory gains by it. `reasons`: compute what
        `explain` tells of scores and weights; without, only what was replaced, and the way, stand there.
        `most_sensitive`: of the memories that say whom the query means by a name or a role. `proposals`: also those that wait.
        """
        checked, wanted = check_mode(mode), check_limit(limit)
        check_query(query)
        check_terms(terms, with_meaning=self.compares_meaning)
        digest = question_digest(terms, owner, query, checked, as_of, known, at)
        page = FIRST_PAGE if cursor is None else read_cursor(cursor, digest)
        present = as_of is None and known is None and at is None
        self.await_turns(owner)
        traced = trace and (inspect or (checked == "normal" and present))
        question = self.question_of(owner, query, terms, as_of=as_of, known=known, after=after)
        in_words = self._expanded(owner, query, terms) if present and cursor is None else None
        expansions = page.expansions if in_words is None else "\n".join(in_words["terms"])
        told = TimesAsked(as_of=as_of, known=known, at=at)
        if cursor is not None:
            told["at"] = utc_text(from_micros(page.at))
            if known is None:
                told["as_of"] = as_of or page.position
        times = TimesAsked(**told, after=after, on_progress=on_progress)
        if cursor is not None and known is not None:
            times["known"] = page.position  # what was recorded by then, whatever came since
        entries = page.entries if terms.get("ranking", RANKINGS[0]) in BLIND_TO_ACCESSES else None
        with self.snapshot(owner, entries=entries, **times) as snapshot:
            zone = snapshot.view.parameters.time_zone
            request = request_of(terms, snapshot.now, zone, with_meaning=self.compares_meaning, reasons=reasons)
            request = request._replace(
                most_sensitive=most_sensitive, proposals=proposals, expansions=tuple(expansions.splitlines())
            )
            sense = self.sense_of(snapshot.view, owner, question)
            answer = search(ViewQuery(snapshot.view, snapshot.now, checked), query, wanted, request, sense, page.offset)
            if cursor is not None:
                _leave_out_lost(answer, snapshot)
            entries = snapshot.view.state.entries
            if snapshot.view.is_narrowed:
                answer["withheld"] = []
        tell_filters(answer["understood"], request.filters, zone)
        if in_words is not None:
            answer["understood"]["expansion"] = in_words
        if question.told is not None:
            answer["meaning"] = question.told
        end = page.offset + wanted
        following = Cursor(
            snapshot.position, snapshot.now, end, digest, entries, compared(answer["meaning"]), expansions
        )
        if cursor is not None and following.meaning != page.meaning:
            raise refused("cursor", cursor[:80], "no cursor: what is compared by meaning has changed; begin again")
        if end < answer["total"]:
            answer["next"] = cursor_text(following)
        if traced:
            read = Read(snapshot.position, checked, None if present and cursor is None else snapshot.now)
            self._record(owner, query, answer, read, inspect=inspect)
        return {**answer, **times_answer(told), **snapshot.place}

    def _expanded(self, owner: str, query: str, terms: SearchTerms) -> QuestionExpansion | None:
        """How else a model puts the question; None if none is set to, or the search goes by exact words, meaning or a formula."""
        by_both = terms.get("search_mode", "hybrid") == "hybrid" and terms.get("ranking", RANKINGS[0]) == RANKINGS[0]
        if self._expander is None or not by_both or not terms.get("expand", True):
            return None
        found = self._expander.expand(owner, query)
        return {"status": found.status, "terms": list(found.terms), "model": self._expander.model}

    def _record(self, owner: str, query: str, answer: UnplacedFound, read: Read, *, inspect: bool) -> None:
        """What a search showed, and what it brought to mind."""
        hit, mind = answer["results"], answer.get("associated") or ()
        self._shown(owner, hit, "inspection" if inspect else "recall", query, read, answer["offset"] + 1)
        self._shown(owner, mind, "inspection" if inspect else "association", query, read)

    def _shown(
        self, owner: str, cards: Iterable[Card], via: Via, query: str | None, read: Read, first: int = 1
    ) -> None:
        if self._accesses is not None:
            self._accesses.record(owner, [one["id"] for one in cards], via=via, query=query, first=first, read=read)

    def list(
        self,
        owner: str,
        *,
        mode: str = "normal",
        sort: str = "activated",
        order: str | None = None,
        limit: int = 50,
        offset: int = 0,
        as_of: str | None = None,
        known: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
        **filters: Any,
    ) -> Listing:
        """A page of an owner's memories. `filters`: those of `api.operations.reading`. Raises InputError naming the field."""
        checked, wanted, sorting = check_mode(mode), check_limit(limit, 1_000), sorting_of(sort, order)
        check_wanted(filters)
        told = TimesAsked(as_of=as_of, known=known, at=at)
        times = TimesAsked(**told, after=after, on_progress=on_progress)
        with self.snapshot(owner, **times) as snapshot:
            zone = snapshot.view.parameters.time_zone
            matched = wanted_of(filters, snapshot.now, zone)
            asked = ViewQuery(snapshot.view, snapshot.now, checked)
            answer = listing(asked, wanted, max(offset, 0), matched, sorting, Bounds(current_check(), weigh))
            if snapshot.view.is_narrowed:
                answer["withheld"] = []
        return {**answer, **spans_answer(matched, zone), **times_answer(told), **snapshot.place}

    def get(
        self,
        owner: str,
        memory_id: str,
        *,
        reveal: bool = False,
        trace: bool = True,
        inspect: bool = False,
        **times: Unpack[TimesAsked],
    ) -> Detail:
        """Everything about one memory; a secret's text only where it is to be revealed, which `api.access` records.

        `trace` and `inspect` as in a search; a deleted memory counts as shown only where somebody inspects it.
        """
        answer, read = self.looked_at(owner, memory_id, reveal=reveal, **times)
        if trace and (inspect or (read.read_at is None and answer["deleted_at"] is None)):
            self._shown(owner, [answer], "inspection" if inspect else "detail", None, read)
        return answer

    def looked_at(
        self, owner: str, memory_id: str, *, reveal: bool, **times: Unpack[TimesAsked]
    ) -> tuple[Detail, Read]:
        """The same without a trace, and how it was read."""
        with self.snapshot(owner, **times) as snapshot:
            memory = self.memory(snapshot, owner, memory_id)
            in_pattern = pattern_told(snapshot.view, memory)
            answer = detail(snapshot.view, memory, snapshot.now, in_pattern, reveal=reveal)
        present = snapshot.past is None and times.get("at") is None
        read = Read(snapshot.position, read_at=None if present else snapshot.now)
        return {**answer, **times_answer(times), **snapshot.place}, read

    def why(
        self,
        owner: str,
        memory_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: str = ORDERS[0],
        law: str | None = None,
        above: str | None = None,
        query: str | None = None,
        mode: str = "normal",
        ranking: str = RANKINGS[0],
        search_mode: str = "hybrid",
        language: str | None = None,
        expand: bool = True,
        **times: Unpack[TimesAsked],
    ) -> Why:
        """Why a memory weighs what it weighs: factors, changes, provenance. Leaves no trace.

        Of changes a page, as `history` tells them, in a `law`'s numbers, and with its cursors; all of them without a limit. With
        one the origins are bounded too (`nodes_left_out`, `events_left_out`). Raises as `history` does.

        `above`, `query`: also why the memory ranks above or below another, as a search of this mode, ranking and search mode ranks
        both; `language` (`en` or `zh`) of the sentence is the question's by default, `expand` as for a search. Raises InputError if
        one of the two is missing or both memories are the same, and NotFound if the owner has no such other memory. A caller who
        reads below level 2 is shown neither changes nor origins (`limited`), because the log does not say which lower level its
        words have.
        """
        page = page_asked(owner, memory_id, limit, cursor, order, times, {"law": law})
        pair = None
        if above is None and query is None:
            _refuse_without_pair(mode=mode, ranking=ranking, search_mode=search_mode, language=language, expand=expand)
        else:
            terms = {"ranking": ranking, "search_mode": search_mode, "expand": expand}
            pair = self._pair_asked(owner, (memory_id, above), query, check_mode(mode), terms, language, times)
        answer, place = self._why(owner, memory_id, page, times, pair)
        return {**answer, **times_answer(times), **place}

    def _pair_asked(
        self,
        owner: str,
        ids: tuple[str, str | None],
        query: str | None,
        mode: Mode,
        terms: SearchTerms,
        language: str | None,
        times: TimesAsked,
    ) -> PairAsked:
        memory_id, other = ids
        if other is None:
            raise refused("above", None, "the id of the other memory, because a query is given")
        if query is None:
            raise refused("query", None, "the question that ranks both memories, because another memory is given")
        check_query(query)
        if check_memory_id(other) == memory_id:
            raise refused("above", other, "another memory than the first")
        if language is not None:
            check_one_of("language", language, LANGUAGES)
        check_terms(terms, with_meaning=self.compares_meaning)
        lines = LineTerms(as_of=times.get("as_of"), known=times.get("known"), after=times.get("after"))
        question = self.question_of(owner, query, terms, **lines)
        present = all(times.get(name) is None for name in ("as_of", "known", "at"))
        in_words = self._expanded(owner, query, terms) if present else None
        return PairAsked((memory_id, other), query, mode, terms, language, question, in_words)

    def _compare_ranks(self, owner: str, snapshot: Snapshot, pair: PairAsked) -> RankComparison:
        self.memory(snapshot, owner, pair.ids[1])
        zone = snapshot.view.parameters.time_zone
        request = request_of(pair.terms, snapshot.now, zone, with_meaning=self.compares_meaning, reasons=False)
        if pair.expansion is not None:
            request = request._replace(expansions=tuple(pair.expansion["terms"]))
        sense = self.sense_of(snapshot.view, owner, pair.question)
        compared = compare_ranks(
            ViewQuery(snapshot.view, snapshot.now, pair.mode), pair.query, pair.ids, request, sense
        )
        language = pair.language or ("zh" if is_chinese(pair.query) else "en")
        return {
            "query": masked(pair.query),
            "order": compared.order,
            "tied": compared.tied,
            "sentence": sentence(compared, language),
            "language": language,
            "first": compared.first,
            "second": compared.second,
            "difference": compared.difference,
            "terms": compared.terms,
            "rules": compared.rules,
            "mode": pair.mode,
            "ranking": request.ranking,
            "search_mode": request.search_mode,
            "meaning": None if pair.question.told is None else pair.question.told.get("failed"),
            "expansion": pair.expansion,
        }

    def _why(
        self, owner: str, memory_id: str, asked: HistoryPage, times: TimesAsked, pair: PairAsked | None = None
    ) -> tuple[UnplacedWhy, Placed]:
        limit = asked.limit
        with self.snapshot(owner, **times) as snapshot:
            memory = self.memory(snapshot, owner, memory_id)
            self._weigh_search(owner, snapshot)
            answer = why(snapshot.view, memory, snapshot.now, None if limit is None else MOST_NODES)
            telling = telling_in_hand()
            if pair is not None and telling is not None and telling.by_sensitivity:
                nothing: OriginTree = {"memory": memory_id, "nodes": []}
                ranks = self._compare_ranks(owner, snapshot, pair)
                return {**answer, "provenance": nothing, "above": ranks, "limited": True}, snapshot.place
            answer["aside"] = self.aside_of(owner, snapshot, memory_id)
            tell_erased_sources(self._views, owner, snapshot.view, answer["provenance"])
            if pair is not None:
                answer["above"] = self._compare_ranks(owner, snapshot, pair)
            hidden = snapshot.view.hidden()
        progress = times.get("on_progress")
        answer["changes"], answer["next"] = self._page(owner, snapshot, memory_id, asked, progress, hidden)
        answer["order"] = ORDERS[asked.newest]
        self._tell_events(owner, snapshot, answer["provenance"], None if limit is None else MOST_CHANGES, hidden)
        return answer, snapshot.place

    def _tell_events(
        self, owner: str, snapshot: Snapshot, told: OriginTree, most: int | None, hidden: frozenset[str]
    ) -> None:
        names = {node["id"] for node in told["nodes"]} - hidden
        entries = (entry for _, entry in self._entries(owner, snapshot, names))
        with_events(told, entries, snapshot.partition, most)

    def provenance(
        self, owner: str, memory_id: str, *, bounded: bool = False, **times: Unpack[LineTerms]
    ) -> Provenance:
        """Where a memory comes from, to any depth; `bounded` as `why` with a limit is."""
        asked = page_asked(owner, memory_id, 1 if bounded else None, None, ORDERS[0], {**times, "at": None})
        answer, place = self._why(owner, memory_id, asked, {**times, "at": None})
        return {"id": answer["id"], "provenance": answer["provenance"], **lines_answer(times), **place}
