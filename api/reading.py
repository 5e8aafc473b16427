"""Reading: search, get, list, why, history and provenance, at present or as of any instant or position."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple, Unpack

from api.accesses import AccessRecorder
from api.asked import (
    PRESENT,
    AsOf,
    check_limit,
    check_memory_id,
    check_mode,
    check_owner,
    check_query,
    parse_as_of,
    parse_instant,
    position_of,
)
from api.searching import Cursor, SearchTerms, cursor_text, question_digest, read_cursor, wish_of
from events.envelope import Stored, from_micros, micros, utc_text
from events.errors import EmbedderFailed, NotFound
from events.log import EventLog
from events.partitions import position_text
from projections.changelog import Entry, describe
from projections.fold import AnyEvent, fold_owner
from projections.memory import SECRET, Memory
from projections.partition import Quarantine
from projections.query import Asked, detail, listing, why
from projections.recall import search
from projections.redis_view import RedisViews
from projections.senses import Senses
from projections.view import OwnerView
from projections.wish import BY_MEANING, RANKINGS

KEPT_PASTS = 8
PIECE = 500
Progress = Callable[[int, int], None]


class Past(NamedTuple):
    """An owner folded as of some place, with its change log up to there."""

    view: OwnerView
    now: int
    entries: list[Entry]


class Scene(NamedTuple):
    """A question's view, the instant it is asked at, and the position it is answered at."""

    view: OwnerView
    now: int
    position: str
    partition: int
    past: Past | None
    present: OwnerView
    """The owner today: what has been deleted since is not shown of the past."""
    quarantine: Quarantine | None = None

    @property
    def warning(self) -> dict[str, Any]:
        """What marks the answers about a quarantined owner: they are as of the event before the one that stuck."""
        if self.quarantine is None:
            return {}
        where = position_text(self.partition, self.quarantine.seq)
        return {"quarantined": {"position": where, "reason": self.quarantine.reason}}


class Reader:
    """Answers questions about one store's owners. Safe for threads."""

    def __init__(
        self,
        log: EventLog,
        views: RedisViews,
        accesses: AccessRecorder | None = None,
        meanings: Senses | None = None,
    ) -> None:
        self._log = log
        self._views = views
        self._accesses = accesses
        self._meanings = meanings
        self._pasts: OrderedDict[tuple[Any, ...], Past] = OrderedDict()
        self._lock = Lock()

    def search(
        self,
        owner: str,
        query: str,
        *,
        mode: str = "normal",
        limit: int = 5,
        cursor: str | None = None,
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        trace: bool = True,
        on_progress: Progress | None = None,
        **terms: Unpack[SearchTerms],
    ) -> dict[str, Any]:
        """The memories that answer a query best, each with its reasons, and what the mode withheld; a page of them.

        `cursor`: what `next` said on the page before.
        """
        checked, wanted = check_mode(mode), check_limit(limit)
        check_query(query)
        digest = question_digest(terms, owner, query, checked, as_of, at)
        senses, failed = self._senses(query, terms)
        page = None if cursor is None else read_cursor(cursor, digest)
        if page is not None:
            as_of, at = as_of or page.position, utc_text(from_micros(page.at))
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress) as scene:
            zone = scene.view.parameters.time_zone
            wish = wish_of(terms, scene.now, zone, with_meaning=self._meanings is not None)
            sense = None if senses is None else senses.sense(scene.view, owner, query)
            offset = 0 if page is None else page.offset
            answer = search(Asked(scene.view, scene.now, checked), query, wanted, wish, sense, offset)
            if page is not None:
                answer["results"] = [one for one in answer["results"] if not _deleted(scene.present, one["id"])]
        further = offset + wanted < answer["total"]
        following = Cursor(scene.position, scene.now, offset + wanted, digest)
        answer["next"] = cursor_text(following) if further else None
        if failed is not None:
            answer["meaning"] = {"failed": failed}
        if (
            trace
            and checked == "normal"
            and self._accesses is not None
            and (page or (scene.past is None and at is None))
        ):
            self._accesses.record(
                owner, [r["id"] for r in answer["results"]], via="recall", query=query, first=offset + 1
            )
            brought = [one["id"] for one in answer.get("associated", ())]
            self._accesses.record(owner, brought, via="association", query=query)
        return answer | {"mode": checked, "as_of": as_of, "at": at, "position": scene.position} | scene.warning

    def _senses(self, query: str, terms: SearchTerms) -> tuple[Senses | None, str | None]:
        """What compares meanings, asked before any view is held; or why hybrid goes by words after all."""
        mode = terms.get("search_mode", "hybrid")
        wanted = mode != "keyword" and terms.get("ranking", RANKINGS[0]) in BY_MEANING
        if self._meanings is None or not wanted:
            return None, None
        try:
            self._meanings.question(query)
        except EmbedderFailed as error:
            if mode == "semantic":
                raise
            return None, str(error)
        return self._meanings, None

    def list(
        self,
        owner: str,
        *,
        mode: str = "normal",
        limit: int = 50,
        offset: int = 0,
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """An owner's memories, newest activation first."""
        checked, wanted = check_mode(mode), check_limit(limit, 1_000)
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress) as scene:
            answer = listing(Asked(scene.view, scene.now, checked), wanted, max(offset, 0))
        return answer | {"mode": checked, "as_of": as_of, "at": at, "position": scene.position} | scene.warning

    def get(
        self,
        owner: str,
        memory_id: str,
        *,
        reveal: bool = False,
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        trace: bool = True,
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Everything about one memory; a secret only where it is asked to be revealed."""
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress) as scene:
            memory = self.memory(scene, owner, memory_id)
            answer = detail(scene.view, memory, scene.now, reveal=reveal)
        if trace and scene.past is None and at is None and memory.deleted_at is None and self._accesses is not None:
            self._accesses.record(owner, [memory_id], via="detail", query=None)
        return answer | {"as_of": as_of, "at": at, "position": scene.position} | scene.warning

    def why(
        self,
        owner: str,
        memory_id: str,
        *,
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Why a memory weighs what it weighs: factors, every change, provenance. Leaves no trace."""
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress) as scene:
            memory = self.memory(scene, owner, memory_id)
            entries = self._entries(owner, scene)
            answer = why(scene.view, memory, scene.now, entries, scene.partition)
        return answer | {"as_of": as_of, "at": at, "position": scene.position} | scene.warning

    def history(
        self,
        owner: str,
        memory_id: str | None = None,
        *,
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """The change log of a memory, or of the whole owner."""
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress) as scene:
            if memory_id is not None:
                self.memory(scene, owner, memory_id)
            entries = self._entries(owner, scene)
            chain = scene.view.state.chain.hex()
        changes = [
            describe(entry, scene.partition) for entry in entries if memory_id is None or entry.memory_id == memory_id
        ]
        return {
            "owner": owner,
            "id": memory_id,
            "changes": changes,
            "chain": chain,
            "as_of": as_of,
            "position": scene.position,
        } | scene.warning

    def provenance(
        self,
        owner: str,
        memory_id: str,
        *,
        as_of: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Where a memory comes from, to any depth."""
        answer = self.why(owner, memory_id, as_of=as_of, after=after, on_progress=on_progress)
        names = ("id", "provenance", "as_of", "position", "quarantined")
        return {name: answer[name] for name in names if name in answer}

    def memory(self, scene: Scene, owner: str, memory_id: str) -> Memory:
        """The memory, or NotFound."""
        found = scene.view.get(check_memory_id(memory_id))
        if found is None:
            raise NotFound(
                f"owner {owner} has no memory {memory_id} (position {scene.position}); see `engramlog list {owner}`",
                owner=owner,
                memory_id=memory_id,
            )
        return found

    def _entries(self, owner: str, scene: Scene) -> Sequence[Entry]:
        return scene.past.entries if scene.past is not None else self._views.history(owner)[1]

    @contextmanager
    def scene(
        self,
        owner: str,
        *,
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
    ) -> Iterator[Scene]:
        """The view that answers a question, held for its length."""
        check_owner(owner)
        place = parse_as_of(as_of, owner, self._log.partitions)
        instant = None if at is None else parse_instant(at)
        waits = position_of(after, owner, self._log.partitions) if after is not None else 0
        with self._views.view(owner, after=max(waits, place.seq or 0)) as (view, standing):
            partition, stuck = standing.partition, standing.quarantine
            known = standing.checkpoint if stuck is None else min(standing.checkpoint, stuck.seq - 1)
            position = position_text(partition, known if place.seq is None else place.seq)
            # Nothing of the owner came after the position: today's view is the one that was known then.
            unmoved = place.seq is not None and place.seq >= view.state.seq and instant is not None and stuck is None
            if place == PRESENT or unmoved:
                now = self._log.now() if instant is None else instant
                yield Scene(view, now, position, partition, None, view, stuck)
                return
            past = self._past(owner, view, place, on_progress)
            yield Scene(past.view, past.now if instant is None else instant, position, partition, past, view, stuck)

    def _past(self, owner: str, view: OwnerView, place: AsOf, on_progress: Progress | None) -> Past:
        """The owner folded from its own events as of a place; what is purged or secret today stays so."""
        seqs: Sequence[int] = ()
        key: tuple[Any, ...] = (owner, view.state.applied, view.state.chain, place)
        if place.seq is not None:  # what comes later changes nothing of it, but for what is hidden
            seqs = [seq for seq in self._views.history(owner)[0] if seq <= place.seq]
            hidden = (m.id for m in view.columns if m.purged_at is not None or m.sensitivity >= SECRET)
            key = (owner, place, tuple(seqs), frozenset(hidden))
        with self._lock:
            if key in self._pasts:
                self._pasts.move_to_end(key)
                return self._pasts[key]
        wanted = seqs if place.seq is not None else self._views.history(owner)[0]
        history = fold_owner(self._stored(owner, wanted, on_progress), keep=_happened_by(place.instant))
        now = place.instant if place.instant is not None else history.newest
        past = Past(OwnerView.of_history(owner, history, view.columns), now, history.entries)
        with self._lock:
            self._pasts[key] = past
            while len(self._pasts) > KEPT_PASTS:
                self._pasts.popitem(last=False)
        return past

    def _stored(self, owner: str, seqs: Sequence[int], on_progress: Progress | None) -> Iterator[Stored]:
        for start in range(0, len(seqs), PIECE):
            yield from self._views.stored(owner, seqs[start : start + PIECE])
            if on_progress is not None:
                on_progress(min(start + PIECE, len(seqs)), len(seqs))


def _happened_by(instant: int | None) -> Callable[[AnyEvent], bool]:
    return (lambda _: True) if instant is None else (lambda event: micros(event.occurred_at) <= instant)


def _deleted(view: OwnerView, memory_id: str) -> bool:
    """Whether a memory has been deleted or purged by now."""
    memory = view.get(memory_id)
    return memory is not None and (memory.deleted_at is not None or memory.purged_at is not None)
