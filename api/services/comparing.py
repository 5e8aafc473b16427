"""Comparing the laws on one history, and two memories under a question's ranking. Writes nothing and leaves no trace."""

from __future__ import annotations

from typing import Unpack, cast

from engramlog_server.api.pictures.text import cut
from engramlog_server.api.requests.checks import (
    LineTerms,
    TimesAsked,
    check_limit,
    parse_instant,
    told_lines,
    told_times,
)
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.work.patience import both, current_check
from engramlog_server.events.errors import refused
from engramlog_server.projections.past.life import life_of
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.comparison import compare_laws, curves
from engramlog_server.projections.shapes import Compared, Curves
from engramlog_server.projections.views.query import card, moment

MOST_MEMORIES = 1_000
MOST_POINTS = 2_000
TITLE_EMS = 42.0
"""How much of a memory's text stands in the title of its curves: some sixty letters, or forty Chinese characters."""


class Comparer:
    """Reads an owner's history under every law."""

    def __init__(self, reader: Reader, views: RedisViews) -> None:
        self._reader = reader
        self._views = views

    def compare(self, owner: str, *, limit: int = 20, offset: int = 0, **times: Unpack[TimesAsked]) -> Compared:
        """Every law's weights of the owner's memories, what each shows in normal mode, and where they disagree most."""
        wanted = check_limit(limit, MOST_MEMORIES)
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = compare_laws(snapshot.view, snapshot.now, wanted, max(offset, 0), current_check())
            told = {"owner": owner, "instant": moment(snapshot.now)} | told_times(times)
            return cast("Compared", answer | told | snapshot.place)

    def curves(
        self,
        owner: str,
        memory_id: str,
        *,
        since: str | None = None,
        until: str | None = None,
        points: int = 200,
        **times: Unpack[LineTerms],
    ) -> Curves:
        """One memory's weights under every law over time, each on the record as it was then, with what touched it.

        From its creation until now, or until the past that is asked about, unless told.
        Raises NotFound where the owner has no such memory, and InputError for a
        window that ends before it begins.
        """
        if not 2 <= points <= MOST_POINTS:
            raise refused("points", points, f"a whole number from 2 to {MOST_POINTS}")
        start = None if since is None else parse_instant(since, "since")
        end = None if until is None else parse_instant(until, "until")
        with self._reader.snapshot(owner, **times) as snapshot:
            memory = self._reader.memory(snapshot, owner, memory_id)
            text = card(memory, "full")["memory"]
            seqs, now = self._reader.seqs(owner, snapshot), snapshot.now
            partition, place = snapshot.partition, {"position": snapshot.position} | snapshot.told
        check = current_check()
        life = life_of(self._reader.stored(owner, seqs, both(check, times.get("on_progress"))), memory_id, check=check)
        if start is None:
            start = next((one.at for one in life if one.after.memory is not None), memory.created_at)
        if end is None:
            end = max(now, start)
        if end < start:
            raise refused("until", moment(end), f"an instant not before {moment(start)}, where the curves begin")
        title = f"{memory_id}: {cut(text, TITLE_EMS, 1.0)}" if text else memory_id
        told = {"owner": owner, "id": memory_id, "title": title, "window": {"from": moment(start), "to": moment(end)}}
        return cast("Curves", told | curves(life, start, end, points, partition, check) | told_lines(times) | place)
