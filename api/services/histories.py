"""The change log of a memory or of an owner, page by page: no question holds more of it than its page.

Also when, by whom and why a source was set aside.

A page in another law's numbers folds the owner's own events up to it, from the nearest kept moment on. Which changes there are, and
everything else about them, comes from the stored change log. A fold holds the owner's records as they are at one event, and of the
changes those of the page.

Count an owner's events on both time lines. Leaves no trace.

Every page of the console asks for them, so no record is loaded and no event is read twice.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple, TypedDict, Unpack

from engramlog_server.api.checks import (
    CURSOR_RULE,
    WHOLE,
    LineTerms,
    Progress,
    TimesAsked,
    TimeSpan,
    check_limit,
    check_memory_id,
    check_one_of,
    cursor_of,
    cursor_parts,
    lines_answer,
    question_name,
    recorded_positions,
    span_of,
    telling_in_hand,
)
from engramlog_server.api.choices import MOST_CHANGES
from engramlog_server.api.snapshots import Pasts, Snapshot, Snapshots
from engramlog_server.api.work import both, current_check, weigh
from engramlog_server.events.catalogue import EVENT_TYPES, SourceSetAside
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import DamagedState, NotFound, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import parse_position, position_text
from engramlog_server.projections.checks import Bounds
from engramlog_server.projections.fold.changelog import DECISIONS, Entry, describe
from engramlog_server.projections.fold.owner import NO_WEIGHTS, ChangeWeights, LawReader, OwnerState, dropping, fold_on
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.memory.deletion import forgotten_turns
from engramlog_server.projections.memory.record import SECRET, Aside
from engramlog_server.projections.past.folding import OwnerEvents, Passage, fold_from, to_fold
from engramlog_server.projections.past.moments import NotKept
from engramlog_server.projections.redis.history import EntryPlace, OwnerLog
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.shapes import AsideTold, Change, History
from engramlog_server.projections.views.event_words import UNTOLD, Teller, Words, telling
from engramlog_server.projections.views.query import moment
from engramlog_server.projections.views.quoting import purged_ids
from engramlog_server.projections.views.view import WITHHELD, OwnerView

STORED = "weighted"
"""The law whose numbers the change log holds."""
logger = logging.getLogger(__name__)


def check_law(law: str | None) -> str:
    """The law that was asked for, that of the stored numbers where none was; or InputError."""
    return STORED if law is None else check_one_of("law", law, LAWS)


class _Page(NamedTuple):
    owner: str
    snapshot: Snapshot
    entries: Sequence[Entry]
    law: str
    on_progress: Progress | None

    @property
    def last(self) -> int:
        """Seq of the last event that has to be folded: an owner's events are folded in their order."""
        return max(one.seq for one in self.entries)

    def reader(self) -> LawReader:
        """What reads these changes while a fold passes."""
        return LawReader(LAWS[self.law], {(one.seq, one.memory_id) for one in self.entries})


class LawNumbers:
    """Tells the changes of one store's owners in a law's numbers. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, pasts: Pasts) -> None:
        self._log, self._views, self._pasts = log, views, pasts

    def put(
        self,
        owner: str,
        snapshot: Snapshot,
        entries: Sequence[Entry],
        changes: list[Change],
        law: str,
        on_progress: Progress | None = None,
    ) -> None:
        """Put a law's numbers in the place of the stored ones; `changes` tell of `entries`, one each."""
        if law == STORED or not entries:
            return
        found = self._read(_Page(owner, snapshot, entries, law, on_progress))
        for number, entry in enumerate(entries):
            old, new, factors = found.get((entry.seq, entry.memory_id), NO_WEIGHTS)
            delta = None if old is None or new is None else round(new - old, 6)
            changes[number] = {
                **changes[number],
                "law": law,
                "old_weight": old,
                "new_weight": new,
                "delta": delta,
                "factors": factors,
            }

    def _read(self, page: _Page) -> dict[tuple[int, str], ChangeWeights]:
        owner, past = page.owner, page.snapshot.past
        view, standing = self._views.glance(owner)
        log = self._pasts.source(owner, page.on_progress)
        secret = self._log.secrets_of([owner]).get(owner, b"")
        bounds = Bounds(current_check(), weigh)
        times = self._views.moments.events(owner, standing.build, view.state, log, bounds)
        seqs = None if past is None else past.seqs
        if times is not None and (seqs is None or times.seqs[: len(seqs)].tolist() == list(seqs)):
            try:
                return self._from_a_moment(page, standing.build, view.state, times, log, secret)
            except NotKept:  # an event is about what is purged by now: only the log still tells of it
                logger.debug("no kept moment serves for %s", owner)
            except DamagedState as error:
                logger.warning(error.message)
        check = both(current_check(), page.on_progress)
        wanted = [one for one in seqs or self._views.changelogs.seqs(owner, check) if one <= page.last]
        weigh(len(wanted))
        reader = page.reader()
        steps = fold_on(
            OwnerState(),
            {},
            log.read(wanted),
            dropping(log.held),
            check=current_check(),
            total=len(wanted),
            secret=secret,
        )
        for _, step in steps:
            reader.took(step)
        return reader.found

    def _from_a_moment(
        self, page: _Page, build: str, state: OwnerState, times: OwnerEvents, log: OwnerLog, secret: bytes
    ) -> dict[tuple[int, str], ChangeWeights]:
        """What a fold reads that begins before the page's first event and ends behind its last."""
        moments, owner = self._views.moments, page.owner
        first = int(times.seqs.searchsorted(min(one.seq for one in page.entries)))
        upto = int(times.seqs.searchsorted(page.last, "right"))
        start, head = moments.begin(owner, build, times, None, first, state)
        numbers = to_fold(start, times, None, upto)
        weigh(len(numbers))
        keeping = None
        if len(numbers) >= moments.limits.fold and head is not None:
            with self._views.view(owner, bounds=Bounds(current_check(), weigh)) as (today, _):
                purged = frozenset(purged_ids(today.columns))
            keeping = moments.keeping(
                owner, build, head, start, Passage(times, None, numbers, state, purged, bool(secret))
            )
        reader = page.reader()
        check = current_check()
        fold_from(start, times, numbers, log.read, secret=secret, keeping=keeping, took=reader.took, check=check)
        return reader.found


def aside_answer(views: RedisViews, owner: str, partition: int, one: Aside) -> AsideTold:
    """One source that is set aside; by whom and why stands in the log alone."""
    (stored,) = views.stored(owner, [one.seq])
    event = decode(stored.kind, stored.body)
    reason = event.data.reason if isinstance(event.data, SourceSetAside) else ""
    return {
        "session": one.source.session,
        "principal": one.source.principal,
        "of_actor": one.source.actor,
        "since": moment(one.at),
        "set_aside_at": position_text(partition, one.seq),
        "by_actor": event.actor,
        "by_principal": stored.principal,
        "reason": WITHHELD if detect_sensitivity(reason) >= SECRET else reason,
    }


def aside_by(view: OwnerView, memory_id: str) -> Aside | None:
    """The setting aside by which a memory is withheld; None where it is not."""
    memory = view.get(memory_id)
    if memory is None or memory.aside_seq is None:
        return None
    return next((one for one in view.state.asides if one.seq == memory.aside_seq), None)


_TYPES = tuple(EVENT_TYPES)


class ChangeTerms(TypedDict, total=False):
    """Which changes, as they are asked for."""

    since: str | None
    """Happened then or later."""
    until: str | None
    """Happened then or before."""
    recorded_since: str | None
    recorded_until: str | None
    kinds: Sequence[str]
    """Decisions (`negate`) and types of events (`MemoryNegated`)."""
    law: str | None
    """In the numbers of which law; the stored ones are the weighted law's."""


class ChangesWanted(NamedTuple):
    """The same, checked."""

    happened: TimeSpan = WHOLE
    decisions: frozenset[int] = frozenset()
    types: frozenset[int] = frozenset()
    """Either will do; where both are empty any does."""
    positions: range | None = None
    """Seqs that were recorded when asked for; None: any."""

    @property
    def all(self) -> bool:
        """Whether every change is asked for."""
        return self == ANY

    def holds(self, entry: Entry) -> bool:
        """Whether a change is asked for."""
        kinds = not (self.decisions or self.types)
        return (
            (kinds or entry.decision in self.decisions or entry.type in self.types)
            and self.happened.holds(entry.at)
            and (self.positions is None or entry.seq in self.positions)
        )


ANY = ChangesWanted()


def kinds_of(kinds: Sequence[str]) -> ChangesWanted:
    """Changes of these kinds. Raises InputError for what is none."""
    for one in kinds:
        if one not in DECISIONS and one not in EVENT_TYPES:
            raise refused("kinds", one, f"a decision ({', '.join(DECISIONS)}) or a type of events (MemoryNegated)")
    return ChangesWanted(
        decisions=frozenset(DECISIONS.index(one) for one in kinds if one in DECISIONS),
        types=frozenset(_TYPES.index(one) for one in kinds if one in EVENT_TYPES),
    )


ORDERS = ("oldest", "newest")
SCANNED = 20
"""Entries that are passed over in about the time in which one event is folded."""


class HistoryPage(NamedTuple):
    """Which changes are to be told."""

    limit: int | None
    start: EntryPlace | None
    newest: bool
    question: str
    """What a cursor must have been made for."""
    law: str = STORED
    """In whose numbers."""
    wanted: ChangesWanted = ANY


class Histories(Snapshots):
    """Answers what happened to one store's owners. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews) -> None:
        super().__init__(log, views)
        self._numbers = LawNumbers(log, views, self._pasts)

    def history(
        self,
        owner: str,
        memory_id: str | None = None,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: str = ORDERS[0],
        since: str | None = None,
        until: str | None = None,
        recorded_since: str | None = None,
        recorded_until: str | None = None,
        kinds: Sequence[str] = (),
        law: str | None = None,
        **times: Unpack[TimesAsked],
    ) -> History:
        """A page of the change log of a memory, or of the whole owner; all of it without a limit.

        `order`: oldest or newest first, in the order of folding. `cursor`: what `next` said on the page before. `since`, `until`:
        when it happened, `recorded_since`, `recorded_until`: when the log took it in; instants or days, both ends count. `kinds`:
        decisions and types of events, any of them. `law`: in whose numbers.
        Raises InputError for what cannot be asked, and for a cursor of before a rebuild.
        """
        terms = ChangeTerms(
            since=since,
            until=until,
            recorded_since=recorded_since,
            recorded_until=recorded_until,
            kinds=kinds,
            law=law,
        )
        asked = page_asked(owner, memory_id, limit, cursor, order, times, terms)
        with self._asked_of(owner, times) as snapshot:
            if memory_id is not None:
                self._weigh_search(owner, snapshot)
                self._named(owner, snapshot, memory_id)
            chain, profile = snapshot.chain.hex(), snapshot.view.state.profile
            asked = asked._replace(wanted=self._wanted(asked.wanted, snapshot, terms))
            aside = None if memory_id is None else self._aside(owner, snapshot, memory_id, times)
            hidden = snapshot.view.hidden()
        changes, following = self._page(owner, snapshot, memory_id, asked, times.get("on_progress"), hidden)
        return {
            "owner": owner,
            "id": memory_id,
            "changes": changes,
            "next": following,
            "order": order,
            "law": asked.law,
            "profile": profile,
            "chain": chain,
            "aside": aside,
            **lines_answer(times),
            **snapshot.place,
        }

    def _aside(self, owner: str, snapshot: Snapshot, memory_id: str, times: TimesAsked) -> AsideTold | None:
        """By whose setting aside a memory is withheld: what it is made of decides, so all memories are read, where any is."""
        view = snapshot.view
        if not any(one.stands for one in view.state.asides):
            return None
        if snapshot.past is not None or len(view.columns):
            return self.aside_of(owner, snapshot, memory_id)
        with self.snapshot(owner, **times) as whole:
            return self.aside_of(owner, whole, memory_id)

    def aside_of(self, owner: str, snapshot: Snapshot, memory_id: str) -> AsideTold | None:
        """By whose setting aside a memory of a snapshot is withheld; None where it is not."""
        one = aside_by(snapshot.view, memory_id)
        return None if one is None else aside_answer(self._views, owner, snapshot.partition, one)

    def _wanted(self, kinds: ChangesWanted, snapshot: Snapshot, terms: ChangeTerms) -> ChangesWanted:
        """Which changes are asked for, by the owner's clocks."""
        zone = snapshot.view.parameters.time_zone
        happened = span_of(terms.get("since"), terms.get("until"), zone)
        recorded = span_of(terms.get("recorded_since"), terms.get("recorded_until"), zone, "recorded_")
        if recorded == WHOLE:
            return kinds._replace(happened=happened)
        partition = snapshot.partition
        positions = recorded_positions(
            recorded, self._log.head(partition), lambda seq: self._log.read_at(partition, [seq])[0]
        )
        return kinds._replace(happened=happened, positions=positions)

    @contextmanager
    def _asked_of(self, owner: str, times: TimesAsked) -> Iterator[Snapshot]:
        """The snapshot of a question about the change log: of the present one without memories, which nobody has to load."""
        found = None if telling_in_hand() is not None else self.glance(owner, **times)
        if found is not None:
            yield found
            return
        with self.snapshot(owner, **times) as snapshot:
            yield snapshot

    def _weigh_search(self, owner: str, snapshot: Snapshot) -> None:
        """What finding a memory in the change log takes: a past is at hand, and of the present what no index tells is read."""
        if snapshot.past is None:
            weigh(self._views.changelogs.unread(owner, snapshot.view.state.entries) // SCANNED)

    def _named(self, owner: str, snapshot: Snapshot, memory_id: str) -> None:
        """Raises NotFound where the change log names no such memory: what was refused became none, and is told why."""
        narrowed = snapshot.view.is_narrowed
        if not narrowed and snapshot.past is None and self._views.records(owner, [check_memory_id(memory_id)]):
            return
        try:
            self.memory(snapshot, owner, memory_id)
        except NotFound:
            if narrowed or next(self._entries(owner, snapshot, [memory_id]), None) is None:
                raise

    def _page(
        self,
        owner: str,
        snapshot: Snapshot,
        memory_id: str | None,
        asked: HistoryPage,
        on_progress: Progress | None,
        hidden: Collection[str],
    ) -> tuple[list[Change], str | None]:
        """A page of changes as they are told, and the cursor of the next; none of what is `hidden` from the caller."""
        if asked.limit is None:
            weigh(snapshot.view.state.entries)
        of = None if memory_id is None else [memory_id]
        found = self._entries(owner, snapshot, of, asked.start, newest=asked.newest)
        if not asked.wanted.all:
            weigh(snapshot.view.state.entries // SCANNED)
            found = (one for one in found if asked.wanted.holds(one[1]))
        if hidden:
            weigh(snapshot.view.state.entries // SCANNED)
            found = (one for one in found if one[1].memory_id not in hidden)
        page = list(islice(found, asked.limit))
        following = next(found, None) if asked.limit is not None else None
        changes = [describe(entry, snapshot.partition) for _, entry in page]
        self._numbers.put(owner, snapshot, [entry for _, entry in page], changes, asked.law, on_progress)
        self.add_log_facts(owner, changes, both(current_check(), on_progress), hidden)
        return changes, None if following is None else cursor_of(*following[0], asked.question)

    def history_pages(
        self, owner: str, memory_id: str | None = None, *, order: str = ORDERS[0], **times: Unpack[LineTerms]
    ) -> Iterator[History]:
        """All pages of a history, one after the other."""
        cursor: str | None = None
        while True:
            page = self.history(owner, memory_id, limit=MOST_CHANGES, cursor=cursor, order=order, **times)
            yield page
            cursor = page["next"]
            if cursor is None:
                return

    def _entries(
        self,
        owner: str,
        snapshot: Snapshot,
        of: Collection[str] | None,
        start: EntryPlace | None = None,
        *,
        newest: bool = False,
    ) -> Iterator[tuple[EntryPlace, Entry]]:
        """Entries from a place on: of a past from what was folded, else as they lie in the store."""
        if snapshot.past is not None:
            return _of_past(snapshot.past.entries, of, start, newest=newest)
        logs = self._views.changelogs
        if start is not None and start.build != logs.live(owner):
            raise refused("cursor", "one of before a rebuild", "no cursor: the store was rebuilt since; begin again")
        found = logs.entries(owner, of, start=start, newest=newest, check=current_check())
        upto = snapshot.view.state.seq  # what was folded since is not told beside this moment's chain and position
        return (one for one in found if one[1].seq <= upto)

    def add_log_facts(
        self,
        owner: str,
        changes: list[Change],
        on_progress: Progress | None,
        hidden: Collection[str] = (),
    ) -> None:
        """Put beside each change what the log alone holds of its event: who brought it, when it was known, and why.

        Words are told as far as the owner's memories of today let them be, whatever time is asked about, and none that are about
        what is `hidden` from the caller. Of an event that the log has lost nothing is told beside.
        """
        seqs = sorted({parse_position(change["position"])[1] for change in changes})
        told = {one.seq: telling(one) for one in self.pasts.stored(owner, seqs, on_progress, whole=False)}
        worded: list[tuple[Change, Words]] = []
        for number, change in enumerate(changes):
            beside = told.get(parse_position(change["position"])[1], UNTOLD)
            changes[number] = {**beside.beside(change), "said_reason": None, "because": None}
            if beside.words is not None and not any(one in hidden for one in beside.words.named):
                worded.append((changes[number], beside.words))
        if worded:
            named = {one for change, words in worded for one in (*words.named, change["memory"]) if one is not None}
            teller = Teller(self._views.told_records(owner, named).get, lambda: self._forgotten(owner))
            for change, words in worded:
                change["said_reason"], change["because"] = teller.told(words, change["memory"])

    def _forgotten(self, owner: str) -> frozenset[str]:
        with self.snapshot(owner) as today:
            return forgotten_turns(today.view.columns)


_PAST = "past"
"""Stands for a build in the places of what was folded for the question."""


def _of_past(
    entries: Sequence[Entry], of: Collection[str] | None, start: EntryPlace | None, *, newest: bool
) -> Iterator[tuple[EntryPlace, Entry]]:
    if start is not None and start.build != _PAST:
        raise refused("cursor", "one of the present", CURSOR_RULE)
    last = len(entries) - 1
    first = (last if newest else 0) if start is None else min(start.number, last)
    for number in range(first, -1, -1) if newest else range(first, len(entries)):
        if of is None or entries[number].memory_id in of:
            yield EntryPlace(_PAST, 0, number), entries[number]


def page_asked(
    owner: str,
    memory_id: str | None,
    limit: int | None,
    cursor: str | None,
    order: str,
    times: TimesAsked,
    terms: ChangeTerms | None = None,
) -> HistoryPage:
    """What was asked for, checked but for its instants. A cursor of `history` does for `why` too, and the other way round."""
    wanted = None if limit is None else check_limit(limit, MOST_CHANGES)
    check_one_of("order", order, ORDERS)
    told = terms or {}
    law, kinds = check_law(told.get("law")), kinds_of(told.get("kinds", ()))
    others = told.get("since"), told.get("until"), told.get("recorded_since"), told.get("recorded_until")
    question = question_name(
        owner, memory_id, order, times.get("as_of"), times.get("known"), law, *others, *sorted(told.get("kinds", ()))
    )
    start = None if cursor is None else _read(cursor, question)
    return HistoryPage(wanted, start, order == ORDERS[1], question, law, kinds)


def _read(text: str, question: str) -> EntryPlace:
    build, pack, number, asked = cursor_parts(text, (str, int, int, str))
    if asked != question or min(pack, number) < 0 or max(pack, number) >= 1 << 63:
        raise refused("cursor", text[:80], CURSOR_RULE)
    return EntryPlace(build, pack, number)
