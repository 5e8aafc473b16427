"""The same history under every law: all memories at an instant, or one memory over time. Pure.

A law is only a reading of the records, so all of them can be asked at once, whatever the owner's profile. Weights are the
unclipped ones, as thresholds and ranks read them; what normal mode shows is asked of `projections.modes`, law by law.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from events.catalogue import MemoriesAccessed, ParametersChanged
from events.envelope import Event, Stored, decode, micros
from events.parameters import DEFAULTS, Parameters
from events.partitions import position_text
from projections.columns import Columns
from projections.evolve import Change, evolve, names, parameters_of
from projections.laws import LAWS
from projections.laws.law import Floats
from projections.memory import LEVELS, Memory
from projections.modes import REASONS, Visibility, reasons_told, visibility
from projections.query import card, moment
from projections.scene import Settings
from projections.view import OwnerView

# --- all memories at an instant


def compare_laws(view: OwnerView, now: int, limit: int, offset: int = 0) -> dict[str, Any]:
    """An owner's memories under every law at `now` (microseconds since 1970), those first on which the laws disagree most.

    Ranked are the memories that are neither deleted, merged away nor retired: about the others no law has a say.
    """
    columns = view.columns
    seen = {name: visibility(columns, law, now, view.parameters, "normal") for name, law in LAWS.items()}
    rows = np.flatnonzero(columns.standing() == Columns.LIVE)
    ranks = {name: mean_ranks(one.weights[rows]) for name, one in seen.items()}
    spread = np.ptp(np.array(list(ranks.values())), axis=0)
    order = np.lexsort((rows, -spread))[offset : offset + limit]
    return {
        "profile": view.state.profile,
        "laws": {
            name: {
                "threshold": LAWS[name].normal_threshold(view.parameters),
                "shown": int(one.shown.sum()),
                "withheld": reasons_told(one.reasons, "normal"),
            }
            for name, one in seen.items()
        },
        "pairs": [
            {
                "laws": [one, other],
                "shown_by_one": int((seen[one].shown[rows] != seen[other].shown[rows]).sum()),
                "rank_correlation": _correlation(ranks[one], ranks[other]),
            }
            for one, other in combinations(LAWS, 2)
        ],
        "memories": [
            {
                **_named(columns.memories[rows[at]]),
                "laws": {name: _standing(seen[name], rows[at]) | {"rank": float(ranks[name][at])} for name in LAWS},
                "spread": float(spread[at]),
            }
            for at in order
        ],
        "total": len(rows),
        "offset": offset,
    }


def mean_ranks(weights: Floats) -> Floats:
    """Rank of every weight, 1 for the highest; equal ones (to 9 decimals) share the mean of their places. Shape (n,)."""
    _, place, counts = np.unique(-np.round(weights, 9), return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _correlation(one: Floats, other: Floats) -> float | None:
    """Spearman's: 1 where two laws order alike, -1 where in reverse; None where one of them tells no memories apart."""
    if one.size < 2 or not one.std() or not other.std():
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 6)


def _named(memory: Memory) -> dict[str, Any]:
    told = card(memory, "full")
    return {name: told[name] for name in ("id", "memory", "category", "kind", "status")} | {"tier": memory.tier}


def _standing(seen: Visibility, row: int) -> dict[str, Any]:
    reason = int(seen.reasons[row])
    return {
        "weight": round(float(seen.weights[row]), 6),
        "level": LEVELS[int(seen.levels[row])],
        "shown": bool(seen.shown[row]),
        "reason": None if reason < 0 else REASONS[reason],
    }


# --- one memory over time


class State(NamedTuple):
    """What laws read at some instant: the memory's record, None before it was there, and the parameters in force."""

    memory: Memory | None
    parameters: Parameters


class Touch(NamedTuple):
    """An event that changed the memory's record, or the parameters by which it is read; `at` in microseconds since 1970."""

    at: int
    seq: int
    event: str
    decision: str
    """As in the change log; `access` of what writes no entry there, `adjust` of what follows from another memory."""
    reason: str
    before: State
    after: State


class _Told(NamedTuple):
    at: int
    seq: int
    event: Event[Any]
    names: tuple[str, ...]


def life_of(stored: Iterable[Stored], memory_id: str, base: Parameters = DEFAULTS) -> list[Touch]:
    """What changed a memory, in order of time: after each touch it is as an `as_of` of that instant has it.

    `stored`: the owner's events in the order of folding. Only those about this memory and what hangs together with it are
    folded; edges to other memories, which no law reads, are therefore not complete. An event that came late is folded at
    its place in the log, for which the events about the memory are folded anew.
    """
    told = _about(stored, memory_id)
    fold, folded = _Fold(base), list[int]()
    state = fold.state(memory_id)
    touches = []
    for index in sorted(range(len(told)), key=lambda i: told[i].at):
        late = bool(folded) and index < folded[-1]
        insort(folded, index)
        if late:
            fold = _Fold(base)
            change = [fold.take(told[i]) for i in folded][folded.index(index)]
        else:
            change = fold.take(told[index])
        before, state = state, fold.state(memory_id)
        if state != before:
            one = told[index]
            decision, reason = _decided(change, one.event, memory_id)
            touches.append(Touch(one.at, one.seq, one.event.type, decision, reason, before, state))
    return touches


def _about(stored: Iterable[Stored], memory_id: str) -> list[_Told]:
    """The events that may have a part in what the memory is: those that name it, or one that it hangs together with."""
    groups: dict[str, set[str]] = {memory_id: {memory_id}}
    kept = []
    for one in stored:
        event = decode(one.kind, one.body)
        named = names(event.data)
        if not named and not isinstance(event.data, ParametersChanged):
            continue
        kept.append(_Told(micros(event.occurred_at), one.seq, event, named))
        if len(named) > 1 and not isinstance(event.data, MemoriesAccessed):
            _join(groups, named)
    wanted = groups[memory_id]
    return [one for one in kept if not one.names or not wanted.isdisjoint(one.names)]


def _join(groups: dict[str, set[str]], named: Sequence[str]) -> None:
    """These memories hang together from here on, each with whatever it hung together with before."""
    largest = max((groups.get(name, {name}) for name in named), key=len)
    for name in named:
        if name not in largest:
            others = groups.get(name, {name})
            largest |= others
            groups.update(dict.fromkeys(others, largest))
    groups.update(dict.fromkeys(named, largest))


class _Fold:
    """Memories and settings as some events have left them."""

    def __init__(self, base: Parameters) -> None:
        self._base = base
        self._settings = Settings()
        self._memories: dict[str, Memory] = {}

    def take(self, told: _Told) -> Change:
        """Fold one more event."""
        change = evolve(self._settings, self._memories, told.event, told.seq, self._base)
        self._settings = change.settings
        self._memories.update(change.memories)
        return change

    def state(self, memory_id: str) -> State:
        """The memory as it is by now, and the parameters in force."""
        return State(self._memories.get(memory_id), parameters_of(self._settings, self._base))


def _decided(change: Change, event: Event[Any], memory_id: str) -> tuple[str, str]:
    if isinstance(event.data, ParametersChanged):
        return "parameters", "the owner's parameters from here on"
    if isinstance(event.data, MemoriesAccessed):
        return "access", f"via {event.data.via}"
    for note in reversed(change.notes):
        if note.memory_id == memory_id and note.decision not in ("named", "ignored"):
            return note.decision, note.reason
    return "adjust", "followed from what the event did to another memory"


def curves(life: Sequence[Touch], start: int, end: int, points: int, partition: int) -> dict[str, Any]:
    """A memory's weights under every law from `start` to `end` (microseconds since 1970), with what touched it meanwhile.

    Beside the evenly spaced `points` (2 and more) there are two instants for every event, just before it and at it, so that
    a jump is drawn as one. A weight is None before the memory's creation and after its purge. Thresholds are those at `end`.
    """
    touches = [one for one in life if start <= one.at <= end and one.after.memory is not None]
    grid = {start + (end - start) * number // (points - 1) for number in range(points)}
    jumps = {instant for one in touches for instant in (one.at - 1, one.at) if instant >= start}
    times = sorted(grid | jumps)
    moments = [one.at for one in life]
    sheet: dict[str, tuple[list[float | None], list[bool]]] = {name: ([], []) for name in LAWS}
    reached, state, columns = -1, State(None, DEFAULTS), Columns()
    for instant in times:
        place = bisect_right(moments, instant)
        if place != reached:
            reached, state = place, life[place - 1].after if place else State(None, DEFAULTS)
            columns = _alone(state)
        for name, law in LAWS.items():
            seen = visibility(columns, law, instant, state.parameters, "normal")
            sheet[name][0].append(round(float(seen.weights[0]), 6) if len(columns) else None)
            sheet[name][1].append(bool(seen.shown.any()))
    return {
        "times": [moment(instant) for instant in times],
        "laws": {
            name: {"threshold": LAWS[name].normal_threshold(state.parameters), "weights": weights, "shown": shown}
            for name, (weights, shown) in sheet.items()
        },
        "events": [_told(one, partition) for one in touches],
    }


def _alone(state: State) -> Columns:
    """The memory of a state as columns of one row; of none where there is none, or only a tombstone."""
    columns = Columns()
    if state.memory is not None and state.memory.purged_at is None:
        columns.put(state.memory)
    return columns


def _told(touch: Touch, partition: int) -> dict[str, Any]:
    return {
        "position": position_text(partition, touch.seq),
        "time": moment(touch.at),
        "event": touch.event,
        "decision": touch.decision,
        "reason": touch.reason,
        "weights": {
            name: {"before": _weight(name, touch.before, touch.at), "after": _weight(name, touch.after, touch.at)}
            for name in LAWS
        },
    }


def _weight(law: str, state: State, instant: int) -> float | None:
    if state.memory is None or state.memory.purged_at is not None:
        return None
    return round(LAWS[law].read(state.memory, instant, state.parameters).unclipped, 6)
