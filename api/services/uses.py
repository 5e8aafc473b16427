"""Which answers used a memory: the turns for which it was put into a prompt, and what was replied. Leaves no trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

from engramlog_server.api.requests.checks import LineTerms, check_limit, told_lines
from engramlog_server.api.requests.snapshots import PIECE
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.shapes import MemoryUses, TurnSaid
from engramlog_server.api.work.patience import both, current_check
from engramlog_server.projections.language.sensitivity.event_level import at_most
from engramlog_server.projections.memory.deletion_view import forgotten_turns
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.memory.sources import Asides
from engramlog_server.projections.memory.working_memory import Injection, Said, Turn, read_said, set_aside_among
from engramlog_server.projections.redis.said import all_said, said_among
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.event_words import ERASED as ERASED_WHY
from engramlog_server.projections.views.event_words import mark
from engramlog_server.projections.views.query import card, moment
from engramlog_server.projections.views.uses import MemoryUse, uses_of
from engramlog_server.projections.views.view import WITHHELD

MOST_USES = 1_000
ASIDE = "[withheld: set aside]"
ERASED = mark(ERASED_WHY)


class Uses:
    """Answers what memories were used for, on one store. Safe for threads."""

    def __init__(self, views: RedisViews, reader: Reader) -> None:
        self._views = views
        self._reader = reader

    def uses(
        self, owner: str, memory_id: str, *, limit: int = 20, offset: int = 0, **times: Unpack[LineTerms]
    ) -> MemoryUses:
        """The turns for which a memory was injected, newest first, each with its replies. Reads all that was said to the owner.

        Texts of turns that hold a secret, or that a memory was made of that is deleted today, are withheld at any time.
        """
        wanted = check_limit(limit, MOST_USES)
        check = both(current_check(), times.get("on_progress"))
        with self._reader.snapshot(owner, **times) as snapshot:
            memory = self._reader.memory(snapshot, owner, memory_id)
            told = card(memory, "full")
            forgotten = forgotten_turns(snapshot.present.columns)
            asides = snapshot.present.state.asides
            if snapshot.past is not None:
                forgotten |= forgotten_turns(snapshot.view.columns)
        if snapshot.past is None:
            said = all_said(self._views, owner, check)
        else:
            said = said_among(self._views, owner, snapshot.past.silent(), check)
        found = uses_of(memory_id, [one for each in said if (one := without_text(each)) is not None][::-1])
        skipped = max(offset, 0)
        page = self._with_texts(owner, found[skipped : skipped + wanted])
        return {
            "owner": owner,
            "id": memory_id,
            "memory": told["memory"],
            "status": told["status"],
            "uses": [
                {
                    "turn_id": use.injection.turn_id,
                    "session": use.injection.session if use.turn is None else use.turn.session,
                    "injected_at": moment(use.injection.at),
                    "turn": None if use.turn is None else turn_told(use.turn, forgotten, asides),
                    "replies": [turn_told(reply, forgotten, asides) for reply in use.replies],
                    "linked_by": ("reply_to" if use.linked else "order") if use.replies else None,
                }
                for use in page
            ],
            "total": len(found),
            "offset": skipped,
            **told_lines(times),
            **snapshot.place,
        }

    def _with_texts(self, owner: str, page: Sequence[MemoryUse]) -> list[MemoryUse]:
        """The uses of a page with what was said, read from the log."""
        turns = [turn for use in page for turn in (use.turn, *use.replies) if turn is not None]
        texts = said_whole(self._views, owner, turns)
        return [
            use._replace(
                turn=None if use.turn is None else texts[use.turn.seq],
                replies=tuple(texts[reply.seq] for reply in use.replies),
            )
            for use in page
        ]


def said_whole(views: RedisViews, owner: str, turns: Iterable[Turn]) -> dict[int, Turn]:
    """These turns by seq with their texts, read from the log in pieces."""
    seqs, check = sorted({turn.seq for turn in turns}), current_check()
    texts: dict[int, Turn] = {}
    for start in range(0, len(seqs), PIECE):
        check(start, len(seqs))
        read = map(read_said, views.stored(owner, seqs[start : start + PIECE]))
        texts |= {one.seq: one for one in read if isinstance(one, Turn)}
    return texts


def without_text(said: Said) -> Turn | Injection | None:
    """What tells which turn a memory was used for: a text may be 64 KiB, and all that was said is looked through."""
    if isinstance(said, Turn):
        return said._replace(text="")
    return said if isinstance(said, Injection) else None


def turn_told(turn: Turn, forgotten: frozenset[str], asides: Asides) -> TurnSaid:
    """A turn as far as it may be told today: who spoke is words of it too, of which a producer sends what it likes."""
    hidden = turn.turn_id in forgotten or not at_most(SECRET - 1, f"{turn.speaker or ''} {turn.text}", turn.level)
    aside = bool(set_aside_among([turn], asides))
    return {
        "turn_id": turn.turn_id,
        "role": turn.role,
        "speaker": None if hidden or aside else turn.speaker,
        "text": ERASED if turn.is_erased else WITHHELD if hidden else ASIDE if aside else turn.text,
        "at": moment(turn.at),
    }
