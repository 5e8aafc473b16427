"""Which answers used a memory: the turns for which it was put into a prompt, and what was replied. Leaves no trace."""

from __future__ import annotations

from typing import Any

from api.asked import check_limit
from api.patience import both, current_check
from api.reading import Reader
from api.scenes import Progress
from projections.memory import SECRET
from projections.query import card, moment
from projections.redis_said import all_said
from projections.redis_view import RedisViews
from projections.retraction import forgotten_turns
from projections.sensitivity import detect_sensitivity
from projections.sessions import Turn
from projections.uses import uses_of
from projections.view import WITHHELD

MOST_USES = 1_000


class Uses:
    """Answers what memories were used for, on one store. Safe for threads."""

    def __init__(self, views: RedisViews, reader: Reader) -> None:
        self._views = views
        self._reader = reader

    def uses(
        self,
        owner: str,
        memory_id: str,
        *,
        limit: int = 20,
        offset: int = 0,
        after: str | None = None,
        on_progress: Progress | None = None,
    ) -> dict[str, Any]:
        """The turns for which a memory was injected, newest first, each with its replies. Reads all that was said to the owner.

        Texts of turns that hold a secret, or that a deleted memory was made of, are withheld.
        """
        wanted = check_limit(limit, MOST_USES)
        with self._reader.scene(owner, after=after) as scene:
            memory = self._reader.memory(scene, owner, memory_id)
            told = card(memory, "full")
            forgotten = forgotten_turns(scene.view.columns)
        found = uses_of(memory_id, list(all_said(self._views, owner, both(current_check(), on_progress)))[::-1])
        skipped = max(offset, 0)
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
                    "turn": None if use.turn is None else _turn(use.turn, forgotten),
                    "replies": [_turn(reply, forgotten) for reply in use.replies],
                    "linked_by": ("reply_to" if use.linked else "order") if use.replies else None,
                }
                for use in found[skipped : skipped + wanted]
            ],
            "total": len(found),
            "offset": skipped,
            "position": scene.position,
        } | scene.told


def _turn(turn: Turn, forgotten: frozenset[str]) -> dict[str, Any]:
    hidden = turn.turn_id in forgotten or detect_sensitivity(turn.text) >= SECRET
    return {
        "turn_id": turn.turn_id,
        "role": turn.role,
        "speaker": turn.speaker,
        "text": WITHHELD if hidden else turn.text,
        "at": moment(turn.at),
    }
