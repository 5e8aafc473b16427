"""What an owner chose, put back to what it would be without what is struck: law, parameters, synonyms, values, sources. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from engramlog_server.events.catalogue import (
    EventData,
    ParametersChanged,
    ProfileChosen,
    SourceBroughtBack,
    SourceSetAside,
    SynonymDefined,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.parameters import DEFAULTS, ParameterValue
from engramlog_server.projections.decide.rejecting import readmission
from engramlog_server.projections.fold.owner import OwnerState
from engramlog_server.projections.language.statements import STATEMENT_RULES
from engramlog_server.projections.language.synonyms import synonyms_of
from engramlog_server.projections.memory.rejection import known as known_value
from engramlog_server.projections.memory.sources import NamedSource
from engramlog_server.projections.memory.sources import known as known_source

ALIKE_TO_ALL = "the two words are alike to all, and an owner's word stays beside that"
SETTINGS = (
    ProfileChosen,
    ParametersChanged,
    SynonymDefined,
    ValueRejected,
    ValueReadmitted,
    SourceSetAside,
    SourceBroughtBack,
)


class StruckChoices(NamedTuple):
    """What is struck of what the owner chose."""

    kinds: frozenset[type]
    """Types of all events that are struck."""
    values: tuple[ValueRejected | ValueReadmitted, ...]
    sources: tuple[SourceSetAside | SourceBroughtBack, ...]
    asides: tuple[NamedSource, ...]
    """Sources that are to be set aside for it: of these nothing else is said."""


Undone = tuple[str | None, EventData | str]
"""The memory that is meant, or the type of what cannot be undone; and the event that undoes it, or why there is none."""


def undone_settings(chosen: StruckChoices, state: OwnerState, wanted: OwnerState, reason: str) -> Iterator[Undone]:
    """What puts back each thing that something struck was about, where it stands otherwise in `wanted`."""
    if ProfileChosen in chosen.kinds and state.profile != wanted.profile:
        yield None, ProfileChosen(profile=cast("Any", wanted.profile))
    if ParametersChanged in chosen.kinds and (values := _parameters(state, wanted)):
        yield None, ParametersChanged(parameters=values)
    if SynonymDefined in chosen.kinds:
        yield from _of_synonyms(state, wanted)
    for told in chosen.values:
        yield from _of_value(told, state, wanted, reason)
    for one in chosen.sources:
        source = NamedSource(one.session, one.principal, one.actor)
        before, after = known_source(state.asides, source), known_source(wanted.asides, source)
        stands, stood = before is not None and before.stands, after is not None and after.stands
        if stands != stood and source not in chosen.asides:
            kind = SourceSetAside if stood else SourceBroughtBack
            yield None, kind(session=one.session, principal=one.principal, actor=one.actor, reason=reason)


def _of_synonyms(state: OwnerState, wanted: OwnerState) -> Iterator[Undone]:
    now, then = ({one[:2]: one[2] for one in told.synonyms} for told in (state, wanted))
    for pair in sorted(now.keys() | then.keys()):
        if now.get(pair) == then.get(pair):
            continue
        if pair not in then and pair[1] in synonyms_of(pair[0]):
            yield SynonymDefined.__name__, ALIKE_TO_ALL
        else:
            yield None, SynonymDefined(keyword=pair[0], synonym=pair[1], similarity=then.get(pair, 0.0))


def _of_value(
    told: ValueRejected | ValueReadmitted, state: OwnerState, wanted: OwnerState, reason: str
) -> Iterator[Undone]:
    """Values that stand otherwise without it."""
    back, out = list[str](), list[str]()
    until = None
    for value in told.values:
        now, then = (known_value(one.rejections, bytes.fromhex(value)) for one in (state, wanted))
        stands, stood = now is not None and now.stands, then is not None and then.stands
        if stands and not stood:
            back.append(value)
        elif stood and not stands:
            out.append(value)
            until = until if then is None or then.until is None else from_micros(then.until)
    if back:
        yield told.memory_id, readmission(told.memory_id, back, reason)
    if out:
        data = ValueRejected(
            values=tuple(out), rules=STATEMENT_RULES, memory_id=told.memory_id, until=until, reason=reason
        )
        yield told.memory_id, data


def _parameters(state: OwnerState, wanted: OwnerState) -> dict[str, ParameterValue]:
    """Parameters whose value is another one, with that."""
    now, then = dict(state.parameters), dict(wanted.parameters)
    values = {name: then.get(name, getattr(DEFAULTS, name, None)) for name in sorted(now.keys() | then.keys())}
    return {
        name: value
        for name, value in values.items()
        if value is not None and value != now.get(name, getattr(DEFAULTS, name, None))
    }
