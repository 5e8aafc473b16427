"""Replaying an owner under other parameters, or without some of its events, beside what it is today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from api.requests.checks import check_actor, check_limit, check_mode, check_query
from api.requests.timelines import TimesAsked, told_times
from api.services.reading import Reader
from api.work.patience import current_check
from events.envelope import Stored
from events.errors import refused
from events.parameters import ParameterValue, problem_with
from projections.fold.changelog import id_text
from projections.fold.evolve import parameters_of
from projections.fold.owner import AnyEvent, Folded, OwnerState, fold_records
from projections.laws import LAWS
from projections.memory.columns import Columns
from projections.memory.record import Memory
from projections.memory.twins import Twins
from projections.ranking.recall import search
from projections.ranking.search_request import ALONE
from projections.redis.view import RedisViews
from projections.reports.standing import LawStanding, differences, standings
from projections.views.hidden import as_hidden_today, hidden_in
from projections.views.query import ViewQuery
from projections.views.set_aside import SetAside
from projections.views.view import OwnerView


def parse_settings(pairs: Sequence[str]) -> dict[str, ParameterValue]:
    """`name=value` pairs as parameters within their bounds, or InputError."""
    values: dict[str, ParameterValue] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise refused("set", pair, "name=value, e.g. user_factor=1.3")
        values[name] = _value(text)
        _check_parameter(name, values[name], text)
    return values


def _check_parameter(name: str, value: ParameterValue, told: str | None = None) -> None:
    if rule := problem_with(name, value):
        raise refused(f"set {name}", str(value) if told is None else told, rule)


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
    """Folds an owner's own events anew, as they come from the log, beside the records as they are; writes nothing."""

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
        **times: Unpack[TimesAsked],
    ) -> dict[str, Any]:
        """What differs from what is answered today, or of the past that is asked about.

        Memories that appear or vanish, weights, levels, and the order of a query's results.
        """
        limit, checked = check_limit(limit), check_mode(mode)
        for name, value in (parameters or {}).items():
            _check_parameter(name, value)
        if query is not None:
            check_query(query)
        for actor in without_actors:
            check_actor(actor, "without_actors")
        check = current_check()
        with self._reader.snapshot(owner, **times) as snapshot:
            view, now, place = snapshot.view, snapshot.now, {"position": snapshot.position} | snapshot.told
            applied, hidden = view.state.applied, hidden_in(view.columns)
            seqs = self._reader.seqs(owner, snapshot)
            today = standings(view.columns, view.law, now, view.parameters)
            first = None if query is None else _order(view, now, query, checked, limit)
        unwanted = {text.lower() for text in without}
        met: set[str] = set()

        def kept(one: Stored, event: AnyEvent) -> bool:
            if unwanted and (name := id_text(one.raw_id)) in unwanted:
                met.add(name)
                return False
            return event.actor not in without_actors

        events = self._reader.stored(owner, seqs, times.get("on_progress"))
        replayed = fold_records(events, forced=dict(parameters or {}), keep=kept, check=check, total=len(seqs))
        if unknown := unwanted - met:
            allowed = "event ids of this owner; `engramlog history OWNER` shows them"
            raise refused("without", ", ".join(sorted(unknown)), allowed)
        other = _Replayed(owner, replayed, hidden)
        answer: dict[str, Any] = {
            "owner": owner,
            "set": dict(parameters or {}),
            "without": list(without),
            "without_actors": list(without_actors),
            **told_times(times),
            "position": place.pop("position"),
            "events": {"today": applied, "replayed": replayed.applied},
            "differences": differences(today, other.standings(now), check),
        } | place
        if query is not None and first is not None:
            then = _order(other.view(), now, query, checked, limit)
            answer["query"] = {"text": query, "mode": checked} | _moved(first, then)
        return answer


class _Replayed:
    """The records of a replay, of which what is purged or secret today stays so."""

    def __init__(self, owner: str, folded: Folded, hidden: Mapping[str, Memory]) -> None:
        self._owner = owner
        self._folded = folded
        self._hidden = hidden

    def _memories(self) -> Iterator[Memory]:
        """As they were folded, but for what is hidden today."""
        for memory in self._folded.memories.values():
            hidden = self._hidden.get(memory.id)
            yield memory if hidden is None else as_hidden_today(memory, hidden)

    def standings(self, now: int) -> dict[str, LawStanding]:
        """Where each memory stands at an instant. No text is indexed for it."""
        columns = Columns()
        settings = self._folded.settings
        memories = SetAside().follow(settings.asides, list(self._memories()), ())
        parameters = parameters_of(settings)
        twins = Twins(lambda _none: None)  # all are taken in at once
        columns.put_all(twins.follow(settings.rejections, memories, lambda _keys: (), talk=parameters.talk_reaffirms))
        return standings(columns, LAWS[settings.profile], now, parameters)

    def view(self) -> OwnerView:
        """All of it, ready to be searched."""
        profile, parameters, synonyms, rejections, asides = self._folded.settings
        state = OwnerState(
            profile=profile,
            parameters=parameters,
            synonyms=synonyms,
            applied=self._folded.applied,
            rejections=rejections,
            asides=asides,
        )
        return OwnerView(self._owner, state, self._memories())


def _order(view: OwnerView, now: int, query: str, mode: Any, limit: int) -> list[str]:
    """Ids of a query's results, the best first."""
    return [one["id"] for one in search(ViewQuery(view, now, mode), query, limit, ALONE)["results"]]


def _moved(before: list[str], after: list[str]) -> dict[str, Any]:
    moves = [
        {
            "id": i,
            "today": before.index(i) + 1 if i in before else None,
            "replayed": after.index(i) + 1 if i in after else None,
        }
        for i in dict.fromkeys(before + after)
    ]
    return {"today": before, "replayed": after, "moved": [move for move in moves if move["today"] != move["replayed"]]}
