"""Reading: search, get, list, why, history and provenance, at present or as of any instant or position."""

from __future__ import annotations

from typing import Any, Unpack

from api.accesses import AccessRecorder
from api.asked import (
    check_limit,
    check_mode,
    check_query,
    refused,
)
from api.histories import MOST_CHANGES, ORDERS, SCANNED, Histories, page_asked
from api.patience import weigh
from api.scenes import Progress, Scene
from api.searching import (
    FIRST_PAGE,
    Cursor,
    SearchTerms,
    check_terms,
    compared,
    cursor_text,
    question_digest,
    read_cursor,
    told_filters,
    wish_of,
)
from api.secrets import QUERY_HIDDEN, is_secret
from events.envelope import from_micros, utc_text
from events.errors import BadSetting, EmbedderFailed
from events.log import EventLog
from projections.meaning import EmbeddedQuestion
from projections.provenance import with_events
from projections.query import Asked, detail, listing, why
from projections.recall import search
from projections.redis_view import RedisViews
from projections.senses import Senses
from projections.wish import BLIND_TO_ACCESSES, BY_MEANING, RANKINGS

MOST_NODES = 1_000
"""Memories among the origins of one, where they are bounded."""


class Reader(Histories):
    """Answers questions about one store's owners. Safe for threads."""

    def __init__(
        self,
        log: EventLog,
        views: RedisViews,
        accesses: AccessRecorder | None = None,
        meanings: Senses | None = None,
    ) -> None:
        super().__init__(log, views)
        self._accesses = accesses
        self._meanings = meanings

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
        check_terms(terms, with_meaning=self._meanings is not None)
        digest = question_digest(terms, owner, query, checked, as_of, at)
        page = FIRST_PAGE if cursor is None else read_cursor(cursor, digest)
        traced = trace and checked == "normal" and as_of is None and at is None
        question, failed = self._question(query, terms)
        if cursor is not None:
            as_of, at = as_of or page.position, utc_text(from_micros(page.at))
        entries = page.entries if terms.get("ranking", RANKINGS[0]) in BLIND_TO_ACCESSES else None
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress, entries=entries) as scene:
            zone = scene.view.parameters.time_zone
            wish = wish_of(terms, scene.now, zone, with_meaning=self._meanings is not None)
            sense = None
            if self._meanings is not None and question is not None:
                sense = self._meanings.sense(scene.view, owner, question)
            answer = search(Asked(scene.view, scene.now, checked), query, wanted, wish, sense, page.offset)
            for part in answer.keys() & {"results", "associated"} if cursor is not None else ():
                answer[part] = [one for one in answer[part] if not scene.has_lost(one["id"])]
            entries = scene.view.state.entries
        answer["understood"] |= told_filters(wish.filters, zone)
        if failed is not None:
            answer["meaning"] = {"failed": failed}
        end = page.offset + wanted
        following = Cursor(scene.position, scene.now, end, digest, entries, compared(answer["meaning"]))
        if cursor is not None and following.meaning != page.meaning:
            raise refused("cursor", cursor[:80], "no cursor: what is compared by meaning has changed; begin again")
        answer["offset"] = page.offset
        answer["next"] = cursor_text(following) if end < answer["total"] else None
        if traced:
            self._record(owner, query, answer)
        return answer | {"mode": checked, "as_of": as_of, "at": at, "position": scene.position} | scene.told

    def _record(self, owner: str, query: str, answer: dict[str, Any]) -> None:
        """What a search showed, and what it brought to mind."""
        if self._accesses is not None:
            ids = [one["id"] for one in answer["results"]]
            self._accesses.record(owner, ids, via="recall", query=query, first=answer["offset"] + 1)
            brought = [one["id"] for one in answer.get("associated", ())]
            self._accesses.record(owner, brought, via="association", query=query)

    def _question(self, query: str, terms: SearchTerms) -> tuple[EmbeddedQuestion | None, str | None]:
        """The question's vectors, asked for before any view is held; or why hybrid goes by words after all."""
        mode = terms.get("search_mode", "hybrid")
        if self._meanings is None or mode == "keyword" or terms.get("ranking", RANKINGS[0]) not in BY_MEANING:
            return None, None
        if is_secret(query):
            if mode == "semantic":
                raise refused(
                    "search_mode", mode, "keyword or hybrid: a query that looks like a secret goes to no embedder"
                )
            return None, QUERY_HIDDEN
        try:
            return self._meanings.question(query), None
        except (EmbedderFailed, BadSetting) as error:
            if mode == "semantic":
                raise
            return None, str(error)

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
        return answer | {"mode": checked, "as_of": as_of, "at": at, "position": scene.position} | scene.told

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
        """Everything about one memory; a secret's text only where it is to be revealed, which `api.revealing` records."""
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress) as scene:
            memory = self.memory(scene, owner, memory_id)
            answer = detail(scene.view, memory, scene.now, reveal=reveal)
        if trace and scene.past is None and at is None and memory.deleted_at is None and self._accesses is not None:
            self._accesses.record(owner, [memory_id], via="detail", query=None)
        return answer | {"as_of": as_of, "at": at, "position": scene.position} | scene.told

    def why(
        self,
        owner: str,
        memory_id: str,
        *,
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: str = ORDERS[0],
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Why a memory weighs what it weighs: factors, changes, provenance. Leaves no trace.

        Of changes a page, as `history` tells them and with its cursors; all of them without a limit. With one the origins are
        bounded too (`nodes_left_out`, `events_left_out`). Raises as `history` does.
        """
        asked = page_asked(owner, memory_id, limit, cursor, order, as_of)
        with self.scene(owner, as_of=as_of, at=at, after=after, on_progress=on_progress) as scene:
            memory = self.memory(scene, owner, memory_id)
            if scene.past is None:
                weigh(scene.view.state.entries // SCANNED)
            answer = why(scene.view, memory, scene.now, None if limit is None else MOST_NODES)
        answer["changes"], answer["next"] = self._page(owner, scene, memory_id, asked, on_progress)
        self._tell_events(owner, scene, answer["provenance"], None if limit is None else MOST_CHANGES)
        place = {"order": order, "as_of": as_of, "at": at, "position": scene.position}
        return answer | place | scene.told

    def _tell_events(self, owner: str, scene: Scene, told: dict[str, Any], most: int | None) -> None:
        names = {node["id"] for node in told["nodes"]}
        entries = (entry for _, entry in self._entries(owner, scene, names))
        with_events(told, entries, scene.partition, most)

    def provenance(
        self,
        owner: str,
        memory_id: str,
        *,
        as_of: str | None = None,
        after: str | None = None,
        bounded: bool = False,
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Where a memory comes from, to any depth; `bounded` as `why` with a limit is."""
        limit = 1 if bounded else None
        answer = self.why(owner, memory_id, as_of=as_of, after=after, limit=limit, on_progress=on_progress)
        names = ("id", "provenance", "as_of", "position", "behind", "quarantined")
        return {name: answer[name] for name in names if name in answer}
