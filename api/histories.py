"""The change log of a memory or of an owner, page by page: no question holds more of it than its page."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

import orjson

from api.asked import check_limit, refused
from api.patience import both, current_check, weigh
from api.scenes import Progress, Scene, Scenes
from events.envelope import cause_of
from events.partitions import parse_position
from projections.changelog import Entry, describe
from projections.redis_changelog import Place

MOST_CHANGES = 1_000
"""Changes a page at the most."""
ORDERS = ("oldest", "newest")
SCANNED = 20
"""Entries that are passed over in about the time in which one event is folded."""
_RULE = "what `next` said on the page before, with nothing else changed in the question"


class PageAsked(NamedTuple):
    """Which changes are to be told."""

    limit: int | None
    start: Place | None
    newest: bool
    question: str
    """What a cursor must have been made for."""


class Histories(Scenes):
    """Answers what happened to one store's owners. Safe for threads."""

    def history(
        self,
        owner: str,
        memory_id: str | None = None,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: str = ORDERS[0],
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """A page of the change log of a memory, or of the whole owner; all of it without a limit.

        `order`: oldest or newest first, in the order of folding. `cursor`: what `next` said on the page before.
        Raises InputError for what cannot be asked, and for a cursor of before a rebuild.
        """
        asked = page_asked(owner, memory_id, limit, cursor, order, as_of)
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress) as scene:
            if memory_id is not None:
                self.memory(scene, owner, memory_id)
                if scene.past is None:
                    weigh(scene.view.state.entries // SCANNED)
            chain = scene.view.state.chain.hex()
        changes, following = self._page(owner, scene, memory_id, asked, on_progress)
        return {
            "owner": owner,
            "id": memory_id,
            "changes": changes,
            "next": following,
            "order": order,
            "chain": chain,
            "as_of": as_of,
            "position": scene.position,
        } | scene.told

    def _page(
        self, owner: str, scene: Scene, memory_id: str | None, asked: PageAsked, on_progress: Progress | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of changes as they are told, and the cursor of the next."""
        if asked.limit is None:
            weigh(scene.view.state.entries)
        of = None if memory_id is None else [memory_id]
        found = self._entries(owner, scene, of, asked.start, newest=asked.newest)
        page = list(islice(found, asked.limit))
        following = next(found, None) if asked.limit is not None else None
        changes = [describe(entry, scene.partition) for _, entry in page]
        self._name_actors(owner, changes, both(current_check(), on_progress))
        return changes, None if following is None else _text(following[0], asked.question)

    def history_pages(
        self,
        owner: str,
        memory_id: str | None = None,
        *,
        order: str = ORDERS[0],
        as_of: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All pages of a history, one after the other."""
        cursor: str | None = None
        while True:
            page = self.history(
                owner,
                memory_id,
                limit=MOST_CHANGES,
                cursor=cursor,
                order=order,
                as_of=as_of,
                after=after,
                on_progress=on_progress,
            )
            yield page
            cursor = page["next"]
            if cursor is None:
                return

    def count_changes(self, owner: str, memory_id: str | None = None) -> int:
        """How many entries the change log of a memory, or of the owner, has; none of them is kept."""
        with self.scene(owner) as scene:
            if memory_id is None:
                return scene.view.state.entries
            weigh(scene.view.state.entries // SCANNED)
        return sum(1 for _ in self._views.changelogs.entries(owner, [memory_id], check=current_check()))

    def _entries(
        self,
        owner: str,
        scene: Scene,
        of: Collection[str] | None,
        start: Place | None = None,
        *,
        newest: bool = False,
    ) -> Iterator[tuple[Place, Entry]]:
        """Entries from a place on: of a past from what was folded, else as they lie in the store."""
        if scene.past is not None:
            return _of_past(scene.past.entries, of, start, newest=newest)
        logs = self._views.changelogs
        if start is not None and start.build != logs.live(owner):
            raise refused("cursor", "one of before a rebuild", "no cursor: the store was rebuilt since; begin again")
        return logs.entries(owner, of, start=start, newest=newest, check=current_check())

    def _name_actors(self, owner: str, changes: Sequence[dict[str, Any]], on_progress: Progress | None) -> None:
        """Put beside each change who caused its event, and which model did: the change log does not hold it, the log does."""
        seqs = sorted({parse_position(change["position"])[1] for change in changes})
        causes = {stored.seq: cause_of(stored) for stored in self.stored(owner, seqs, on_progress)}
        for change in changes:
            actor, correlation_id = causes.get(parse_position(change["position"])[1], (None, None))
            change |= {"actor": actor, "correlation_id": correlation_id}


_PAST = "past"
"""Stands for a build in the places of what was folded for the question."""


def _of_past(
    entries: Sequence[Entry], of: Collection[str] | None, start: Place | None, *, newest: bool
) -> Iterator[tuple[Place, Entry]]:
    if start is not None and start.build != _PAST:
        raise refused("cursor", "one of the present", _RULE)
    last = len(entries) - 1
    first = (last if newest else 0) if start is None else min(start.number, last)
    for number in range(first, -1, -1) if newest else range(first, len(entries)):
        if of is None or entries[number].memory_id in of:
            yield Place(_PAST, 0, number), entries[number]


def page_asked(
    owner: str, memory_id: str | None, limit: int | None, cursor: str | None, order: str, as_of: str | None
) -> PageAsked:
    """What was asked for, checked. A cursor of `history` does for `why` too, and the other way round."""
    wanted = None if limit is None else check_limit(limit, MOST_CHANGES)
    if order not in ORDERS:
        raise refused("order", order, " or ".join(ORDERS))
    question = _digest(owner, memory_id, order, as_of)
    return PageAsked(wanted, None if cursor is None else _read(cursor, question), order == ORDERS[1], question)


def _digest(*asked: str | None) -> str:
    return blake2b(orjson.dumps(asked), digest_size=9).hexdigest()


def _text(place: Place, question: str) -> str:
    """A cursor as callers hold it: URL-safe, opaque."""
    return urlsafe_b64encode(orjson.dumps([*place, question])).decode().rstrip("=")


def _read(text: str, question: str) -> Place:
    try:
        build, pack, number, asked = orjson.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, TypeError):
        raise refused("cursor", text[:80], _RULE) from None
    whole = isinstance(build, str) and isinstance(pack, int) and isinstance(number, int)
    if not whole or asked != question or min(pack, number) < 0 or max(pack, number) >= 1 << 63:
        raise refused("cursor", text[:80], _RULE)
    return Place(build, pack, number)
