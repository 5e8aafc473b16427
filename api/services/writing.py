"""The verbs that people use on memories that are there: negate, mention, merge, un-merge, promote; deleting and restoring build
on them.

Every verb only appends; what it did is read from the change log once the events are folded.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Unpack, cast

from engramlog_server.api.requests.checks import caller_in_hand, check_memory_id
from engramlog_server.api.services.carrier import Carrier, Given, Rehearsable
from engramlog_server.api.shapes import Effects, LevelSet
from engramlog_server.events.catalogue import EventData, MemoryMentioned, MemoryUnmerged, SensitivitySet
from engramlog_server.events.errors import EngramlogError, InvalidEvent, refused
from engramlog_server.events.standing import reach
from engramlog_server.projections.decide.commands import Confirm, Merge, Negate, Promote, Tell
from engramlog_server.projections.decide.statements_left import statements_left
from engramlog_server.projections.memory.record import SECRET


class Writer(Carrier):
    """Appends events to one store, and has the verbs of people carried out. Safe for threads."""

    def negate(
        self,
        owner: str,
        memory_id: str,
        *,
        correction: str | None = None,
        replaced_by: str | None = None,
        resolution: str | None = None,
        reason: str = "",
        turn_id: str | None = None,
        never: bool = False,
        **given: Unpack[Rehearsable],
    ) -> Effects:
        """It is no longer so. With a correction, a new memory is created that replaces it, in one batch.

        `never`: it was never so, and what it says becomes no memory again, whoever says it; a person's to say.
        """
        actor = given.get("actor", "user")
        source, reaches = "user" if actor == "user" else "system", reach(actor, self.by)
        command = Negate(memory_id, correction, replaced_by, resolution, reason, turn_id, source, never, reaches)
        command.check()
        try:
            return self.carry_out(owner, command, **given).answer
        except InvalidEvent as problem:
            raise problem if problem.field != "content" else problem.of("correction") from None

    def mention(
        self,
        owner: str,
        memory_id: str,
        *,
        similarity: float | None = None,
        turn_id: str | None = None,
        **given: Unpack[Rehearsable],
    ) -> Effects:
        """Somebody came back to it, in words alike by so much: it is active from here on.

        Where its owner did, a negation is undone, whoever or whatever judged it. What had replaced it stays, and both are flagged
        as a possible conflict. Only a mention by the user reaffirms. Raises InputError where it is deleted.
        """
        data = MemoryMentioned(memory_id=check_memory_id(memory_id), similarity=similarity, turn_id=turn_id)
        return self.tell(owner, memory_id, data, live=(memory_id,), **given)

    def confirm(self, owner: str, memory_id: str, **given: Unpack[Rehearsable]) -> Effects:
        """It holds: as if its owner had just said it again, in the same words. Where that was rejected, it is so no more."""
        command = Confirm(MemoryMentioned(memory_id=check_memory_id(memory_id)), self.rejected_of(owner, memory_id))
        return self.carry_out(owner, command, live=(memory_id,), **given).answer

    def unmerge(self, owner: str, into: str, *, reason: str = "", **given: Unpack[Rehearsable]) -> Effects:
        """Undo a merge: the sources come back as they were."""
        return self.tell(owner, into, MemoryUnmerged(into=check_memory_id(into), reason=reason), **given)

    def merge(
        self,
        owner: str,
        sources: Sequence[str],
        *,
        summary: str | None = None,
        into: str | None = None,
        reason: str = "",
        **given: Unpack[Rehearsable],
    ) -> Effects:
        """Several memories become a new one; without a summary it says what the newest says, and what others add to that."""
        return self.carry_out(owner, Merge(tuple(sources), summary, into or None, reason), **given).answer

    def promote(
        self, owner: str, memory_id: str, *, to: str = "core", reason: str = "", **given: Unpack[Given]
    ) -> Effects:
        """An operator moves it to another tier: in core or system it stands in every prompt; in fact or episode no longer."""
        given.setdefault("actor", "operator")
        return self.carry_out(owner, Promote(check_memory_id(memory_id), to, reason), **given).answer

    def set_sensitivity(
        self, owner: str, memory_id: str, level: int, *, reason: str, **given: Unpack[Rehearsable]
    ) -> LevelSet:
        """A person says how sensitive a memory is, 0 (public) to 3 (secret): the one way down from what rules found.

        Of a turn the answer names the statements drawn from it that are told at a lower level: they do not become as sensitive. It
        names none where the owner cannot be read after the write, as one that has become too large. Raises AccessDenied where a
        caller lowers what he is not told as it stands.
        """
        if not reason.strip():
            raise refused("reason", "nothing", "why, in words: the log keeps it")
        self._check_lowered(owner, check_memory_id(memory_id), level)
        data = SensitivitySet(memory_id=check_memory_id(memory_id), level=level, reason=reason)
        answer = self.tell(owner, memory_id, data, **given)
        left = None
        with suppress(EngramlogError), self._reader.snapshot(owner) as snapshot:  # what was written is told nonetheless
            turn = snapshot.view.get(memory_id)
            left = None if turn is None else statements_left(snapshot.view.columns, turn, level)
        told = cast("LevelSet", answer)
        return told if left is None else {**told, "statements": left}

    def _check_lowered(self, owner: str, memory_id: str, level: int) -> None:
        """Who lowers a level shows the text to whoever reads at the lower one, himself too: so it has to be told to him already."""
        caller = caller_in_hand()
        if caller.is_unlimited:
            return
        with self._reader.snapshot(owner) as snapshot:
            found = snapshot.view.get(memory_id)
        if found is not None and level < found.sensitivity:
            caller.check("reveal" if found.sensitivity >= SECRET else "read", owner, sensitivity=found.sensitivity)

    def tell(
        self, owner: str, memory_id: str, data: EventData, *, live: Collection[str] = (), **given: Unpack[Rehearsable]
    ) -> Effects:
        """One event about one memory that stands."""
        return self.carry_out(owner, Tell((data,), (memory_id,), {"id": memory_id}), live=live, **given).answer
