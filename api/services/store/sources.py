"""Sources of an owner, a session or whoever wrote: set aside, brought back, and what that withholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, cast

from api.requests.checks import check_actor, check_id_of, check_owner
from api.requests.timelines import LineTerms
from api.services.asides import aside_told
from api.services.carrier import Given
from api.services.reading import Reader
from api.services.writing import Writer
from api.shapes import SomeMemories, SourceSaid, SourcesAside
from api.work.patience import current_check
from events.catalogue import SourceBroughtBack, SourceSetAside
from events.errors import refused
from events.text.saying import is_text
from events.vocabulary import Actor
from projections.decide.commands import Tell
from projections.decide.sources import BringBack
from projections.memory.sources import MOST_SOURCES, NamedSource, known
from projections.redis.view import RedisViews
from projections.reports.sources import SourceEffects, effects_of, withheld_by

MOST_TOLD = 100
"""Ids told of each thing that a source did."""
MOST_PRINCIPAL = 200


class Sources:
    """Sets sources of one store's owners aside. Safe for threads."""

    def __init__(self, views: RedisViews, reader: Reader, writer: Writer) -> None:
        self._views = views
        self._reader = reader
        self._writer = writer

    def set_aside(
        self,
        owner: str,
        *,
        principal: str | None = None,
        of_actor: str | None = None,
        reason: str = "",
        dry_run: bool = False,
        **given: Unpack[Given],
    ) -> SourceSaid:
        """From here on what a source said, and says, is withheld, until it is brought back; a person's to say.

        `session` is the source's, not one in which this is said; what is named together must hold together.
        `dry_run`: tells what it would withhold, and writes nothing.
        Raises InputError for a source that cannot be, or none.
        """
        session = given.pop("session", None)
        source = _checked(owner, session, principal, of_actor)
        told, place = self._told(owner, source)
        if dry_run:
            return cast("SourceSaid", {"owner": owner, **told, "dry_run": True, "changes": [], **place})
        data = SourceSetAside(session=session, principal=principal, actor=cast("Actor | None", of_actor), reason=reason)
        done = self._writer.carry_out(owner, Tell((data,), told={**told, "dry_run": False}), **given)
        return cast("SourceSaid", done.answer)

    def bring_back(
        self,
        owner: str,
        *,
        principal: str | None = None,
        of_actor: str | None = None,
        reason: str = "",
        dry_run: bool = False,
        **given: Unpack[Given],
    ) -> SourceSaid:
        """What a source said and did counts again. Raises InputError for one that is not set aside under this name."""
        session = given.pop("session", None)
        source = _checked(owner, session, principal, of_actor)
        told, place = self._told(owner, source)
        with self._reader.snapshot(owner) as snapshot:
            one = known(snapshot.view.state.asides, source)
        data = SourceBroughtBack(
            session=session, principal=principal, actor=cast("Actor | None", of_actor), reason=reason
        )
        stands = one is not None and one.stands
        command = BringBack((data,), told={**told, "dry_run": dry_run}, stands=stands, source=_named(source))
        if dry_run:
            command.events({}, lambda name: name)
            return cast("SourceSaid", {"owner": owner, **command.told, "changes": [], **place})
        return cast("SourceSaid", self._writer.carry_out(owner, command, **given).answer)

    def asides(self, owner: str, **times: Unpack[LineTerms]) -> SourcesAside:
        """What is set aside now, the newest first, and how many memories each withholds. Leaves no trace."""
        check_owner(owner)
        with self._reader.snapshot(owner, **times) as snapshot:
            asides, partition, place = snapshot.view.state.asides, snapshot.partition, snapshot.place
            counts = withheld_by(asides, snapshot.view.columns)
        standing = sorted((one for one in asides if one.stands), key=lambda one: (one.at, one.seq), reverse=True)
        return {
            "owner": owner,
            "sources": [
                {**aside_told(self._views, owner, partition, one), "memories": counts[one.seq]} for one in standing
            ],
            "total": len(standing),
            "most": MOST_SOURCES,
            "as_of": times.get("as_of"),
            "known_by": times.get("known"),
            **place,
        }

    def _told(self, owner: str, source: NamedSource) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        with self._reader.snapshot(owner) as snapshot:
            found, place = effects_of(snapshot.view, source, current_check()), snapshot.place
        return {
            "session": source.session,
            "principal": source.principal,
            "of_actor": source.actor,
            "memories": len(found.withheld),
            **{name: _some(ids) for name, ids in _did(found).items()},
        }, dict(place)


def _did(found: SourceEffects) -> dict[str, tuple[str, ...]]:
    return {"negated": found.negated, "revised": found.revised, "merged": found.merged, "deleted": found.deleted}


def _some(ids: tuple[str, ...]) -> SomeMemories:
    """How many, and the first of them."""
    return {"total": len(ids), "ids": list(ids[:MOST_TOLD])}


def _checked(owner: str, session: str | None, principal: str | None, actor: str | None) -> NamedSource:
    check_owner(owner)
    if (session, principal, actor) == (None, None, None):
        raise refused("session", "nothing", "a session, a principal or an actor (of_actor), or several of them")
    if session is not None:
        check_id_of("session", session)
    if principal is not None and not is_text(principal, MOST_PRINCIPAL):
        raise refused("principal", principal[:60], f"a name in UTF-8 of at most {MOST_PRINCIPAL} characters")
    if actor is not None:
        check_actor(actor, "of_actor")
    return NamedSource(session, principal, actor)


def _named(source: NamedSource) -> str:
    parts = (("session", source.session), ("principal", source.principal), ("actor", source.actor))
    return ", ".join(f"{name} {value}" for name, value in parts if value is not None)
