"""Replaying an owner under other parameters, or without some of its events, beside what it is today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.asked import check_actor, check_limit, check_mode, check_query, refused
from api.reading import Reader
from events.envelope import Stored
from events.parameters import ParameterValue, problem_with
from projections.changelog import id_text
from projections.fold import fold_owner
from projections.query import Asked, level_at, status
from projections.recall import search
from projections.redis_view import RedisViews
from projections.view import OwnerView


def parse_settings(pairs: Sequence[str]) -> dict[str, ParameterValue]:
    """`name=value` pairs as parameters within their bounds, or InputError."""
    values: dict[str, ParameterValue] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise refused("set", pair, "name=value, e.g. user_factor=1.3")
        value = _value(text)
        if rule := problem_with(name, value):
            raise refused(f"set {name}", text, rule)
        values[name] = value
    return values


def _value(text: str) -> ParameterValue:
    """A truth value, a number, or else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


class Replayer:
    """Folds an owner's own events anew, in memory; writes nothing."""

    def __init__(self, reader: Reader, views: RedisViews) -> None:
        self._reader = reader
        self._views = views

    def replay(
        self,
        owner: str,
        *,
        parameters: Mapping[str, ParameterValue] | None = None,
        without: Sequence[str] = (),
        without_actors: Sequence[str] = (),
        query: str | None = None,
        mode: str = "review",
        limit: int = 10,
        at: str | None = None,
    ) -> dict[str, Any]:
        """What differs from today: memories that appear or vanish, weights, levels, and the order of a query's results."""
        limit, checked = check_limit(limit), check_mode(mode)
        if query is not None:
            check_query(query)
        for actor in without_actors:
            check_actor(actor, "without_actors")
        with self._reader.scene(owner, at=at) as scene:
            now, position, warning = scene.now, scene.position, scene.warning
            records = list(scene.view.columns)
        stored = self._views.stored(owner, self._views.history(owner)[0])
        kept = _leave_out(stored, without)
        today = OwnerView.of_history(owner, fold_owner(stored), records)
        history = fold_owner(kept, forced=dict(parameters or {}), keep=lambda event: event.actor not in without_actors)
        other = OwnerView.of_history(owner, history, records)
        answer: dict[str, Any] = {
            "owner": owner,
            "set": dict(parameters or {}),
            "without": list(without),
            "without_actors": list(without_actors),
            "position": position,
            "events": {"today": today.state.applied, "replayed": other.state.applied},
            "differences": _differences(today, other, now),
        } | warning
        if query is not None:
            answer["query"] = {"text": query, "mode": checked} | _orders(today, other, now, query, checked, limit)
        return answer


def _leave_out(stored: Sequence[Stored], without: Sequence[str]) -> list[Stored]:
    unwanted = {text.lower() for text in without}
    unknown = unwanted - {id_text(one.raw_id) for one in stored}
    if unknown:
        raise refused(
            "without", ", ".join(sorted(unknown)), "event ids of this owner; `engramlog history OWNER` shows them"
        )
    return [one for one in stored if id_text(one.raw_id) not in unwanted]


def _differences(today: OwnerView, other: OwnerView, now: int) -> list[dict[str, Any]]:
    ids = dict.fromkeys([m.id for m in today.columns] + [m.id for m in other.columns])
    found = []
    for memory_id in ids:
        before, after = _told(today, memory_id, now), _told(other, memory_id, now)
        if before != after:
            found.append({"id": memory_id, "today": before, "replayed": after})
    return found


def _told(view: OwnerView, memory_id: str, now: int) -> dict[str, Any] | None:
    memory = view.get(memory_id)
    if memory is None:
        return None
    return {
        "weight": round(view.law.read(memory, now, view.parameters).unclipped, 6),
        "level": level_at(view, memory, now),
        "status": status(memory),
        "is_negated": memory.is_negated,
        "mention_count": memory.mention_count,
    }


def _orders(today: OwnerView, other: OwnerView, now: int, query: str, mode: Any, limit: int) -> dict[str, Any]:
    before, after = ([r["id"] for r in search(Asked(v, now, mode), query, limit)["results"]] for v in (today, other))
    moves = [
        {
            "id": i,
            "today": before.index(i) + 1 if i in before else None,
            "replayed": after.index(i) + 1 if i in after else None,
        }
        for i in dict.fromkeys(before + after)
    ]
    return {"today": before, "replayed": after, "moved": [move for move in moves if move["today"] != move["replayed"]]}
