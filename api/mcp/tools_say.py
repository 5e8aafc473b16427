"""Tools that say something: each appends events, and nothing they do is lost."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from api.mcp.connection import Connection, Session
from api.mcp.shapes import AlsoDeleted, Deleted, Done, Negated, Reinforced, Remembered, TurnsRemembered, Updated, logged
from api.mcp.tools_search import MemoryKey, conflicting
from api.requests.speaking import caller_in_hand
from api.services.remembering import UNREAD, NewTurn
from events.errors import InputError, NotFound
from events.vocabulary import Category, Outcome
from projections.memory.defaults import KIND

SaidBy = Annotated[
    Literal["user", "assistant"],
    Field(description="user where the user said so, assistant where you concluded it."),
]
Key = Annotated[
    str | None,
    Field(
        description="Any text of your own: sending the same again under it, after a lost answer say, changes nothing."
    ),
]
Again = Annotated[str | None, Field(description="As for add_memory.")]


class SaidTurn(BaseModel):
    """One message."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant", "tool", "system"]
    content: str | None = None
    text: str | None = Field(default=None, description="As content was called.")
    speaker: str | None = Field(default=None, description="A name, where several people speak.")
    occurred_at: str | None = Field(default=None, description="When, if not now: RFC 3339 with a zone.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> SaidTurn:
        if (self.content is None) == (self.text is None):
            raise PydanticCustomError("rule", "content, or text as it was called: one of them")
        return self

    @property
    def words(self) -> str:
        """What was said."""
        return self.content if self.content is not None else self.text or ""


class SayTools:
    """Adding, correcting, deleting, using."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_memory(
        self,
        content: Annotated[str, Field(description="One self-contained statement: who, what, when. No pronouns.")],
        memory_type: Annotated[
            str, Field(description="user_preference, fact, lesson, pitfall, pattern, tool, command_output, note ...")
        ] = KIND,
        category: Annotated[
            Category, Field(description="What it is about; decides how fast it fades: identity never does soon.")
        ] = "fact",
        summary: str | None = None,
        keywords: list[str] | None = None,
        project: str | None = None,
        session: Annotated[str | None, Field(description="Id of the conversation.")] = None,
        said_by: SaidBy = "user",
        occurred_at: Annotated[str | None, Field(description="When, if not now: RFC 3339 with a zone.")] = None,
        idempotency_key: Key = None,
    ) -> Remembered:
        """Remember one thing for good: a preference, a fact about the user, a decision, a lesson. Search first: do not add
        what is known, and negate or update what it replaces. Not for small talk, guesses or passwords.
        """
        with self._connection.session() as asked:
            told = asked.application.rememberer.add(
                asked.owner,
                content,
                kind=memory_type,
                category=category,
                summary=summary,
                keywords=keywords or (),
                project=project,
                session=session,
                actor=said_by,
                occurred_at=occurred_at,
                key=idempotency_key,
            )
            if told["mentioned"] is None and (undone := _undone(told, told["id"])) is not None:
                raise InputError(f"it was not kept: {undone}", field="content")
            text, sensitivity = _as_shown(asked, told["id"])
        return Remembered(
            memory_key=told["id"],
            created=told["created"],
            mentioned=told["mentioned"] is not None,
            ended=[one["id"] for one in told["ended"]],
            waiting=[one["id"] for one in told["waiting"]],
            possible_conflicts=conflicting(told),
            memory=text,
            sensitivity=sensitivity,
            position=told["position"],
        )

    def add_turns(
        self,
        turns: Annotated[
            list[SaidTurn], Field(min_length=1, max_length=100, description="In the order they were said.")
        ],
        session: Annotated[str | None, Field(description="Id of the conversation.")] = None,
        idempotency_key: Key = None,
    ) -> TurnsRemembered:
        """Record messages of a conversation word for word, so that they can be found later."""
        said = [NewTurn(one.role, one.words, one.speaker, one.occurred_at) for one in turns]
        with self._connection.session() as asked:
            told = asked.application.rememberer.add_turns(asked.owner, said, session=session, key=idempotency_key)
        return TurnsRemembered(memory_keys=told["turns"], created=told["created"], position=told["position"])

    def negate_memory(
        self,
        memory_key: MemoryKey,
        correction: Annotated[str | None, Field(description="What holds instead: becomes a new memory.")] = None,
        replaced_by: Annotated[str | None, Field(description="Or the memory_key of what holds instead.")] = None,
        reason: str = "",
        said_by: SaidBy = "user",
        idempotency_key: Again = None,
    ) -> Negated:
        """A memory no longer holds ("I don't drink coffee any more"): it is kept, but steps back behind what holds now."""
        with self._connection.session() as asked:
            memory_key = asked.named(memory_key)
            told = asked.application.writer.negate(
                asked.owner,
                memory_key,
                correction=correction,
                replaced_by=None if replaced_by is None else asked.named(replaced_by),
                reason=reason,
                actor=said_by,
                key=idempotency_key,
            )
        return Negated(
            memory_key=memory_key,
            replaced_by=told["replaced_by"],
            message=_waits(told) or _undone(told, memory_key) or "it no longer holds; the history keeps it",
            changes=[logged(one) for one in told["changes"]],
        )

    def update_memory(
        self,
        memory_key: MemoryKey,
        content: Annotated[str, Field(description="The whole new text.")],
        summary: str | None = None,
        keywords: list[str] | None = None,
        said_by: SaidBy = "user",
        idempotency_key: Again = None,
    ) -> Updated:
        """Say the same thing better: more exact or more complete. Older versions stay readable. Where it became untrue, use
        negate_memory.
        """
        with self._connection.session() as asked:
            memory_key = asked.named(memory_key)
            told = asked.application.rememberer.edit(
                asked.owner, memory_key, content, summary=summary, keywords=keywords, actor=said_by, key=idempotency_key
            )
        return Updated(
            memory_key=memory_key,
            revised=told["revised"],
            version=told["version"],
            message=_waits(told)
            or _undone(told, memory_key)
            or f"version {told['version']}" + ("" if told["revised"] else ": it said so already"),
            changes=[logged(one) for one in told["changes"]],
        )

    def mention_memory(self, memory_key: MemoryKey, said_by: SaidBy = "user", idempotency_key: Again = None) -> Done:
        """Tell that the user came back to something remembered, in whatever words, or that you did: it stays fresh."""
        return self._mentioned(memory_key, said_by, idempotency_key, "it is active from here on")

    def confirm_memory(self, memory_key: MemoryKey, idempotency_key: Again = None) -> Done:
        """Tell that the user said it still holds: what was negated comes back. What a person rejected does not,
        and what the user took back himself waits for him.
        """
        return self._mentioned(memory_key, "user", idempotency_key, "it holds")

    def _mentioned(self, memory_key: str, said_by: str, key: str | None, done: str) -> Done:
        """A mention; no readmission of what was rejected: a person does that, and no tool."""
        with self._connection.session() as asked:
            memory_key = asked.named(memory_key)
            told = asked.application.writer.mention(asked.owner, memory_key, actor=said_by, key=key)
        undone = "; ".join(one["reason"] for one in told["changes"] if one["decision"] in ("ignored", "wait"))
        changes = [logged(one) for one in told["changes"]]
        return Done(memory_key=memory_key, message=_waits(told) or undone or done, changes=changes)

    def delete_memory(
        self,
        memory_key: MemoryKey,
        with_sources: Annotated[
            bool, Field(description="Also the messages that say it, and all that was made of them.")
        ] = False,
        dry_run: Annotated[bool, Field(description="Only tell what would go; delete nothing.")] = False,
        reason: str = "",
        idempotency_key: Again = None,
    ) -> Deleted:
        """Delete a memory because the user wants it gone, with what was made only of it. Hidden at once; the user can restore
        it until the time told. Where still_said_in names messages, ask whether those are to go too.
        """
        with self._connection.session() as asked:
            memory_key = asked.named(memory_key)
            answer = asked.application.deleter.delete_many(
                asked.owner,
                [memory_key],
                actor="assistant",
                with_sources=with_sources,
                dry_run=dry_run,
                reason=reason,
                key=idempotency_key,
            )
            owner = asked.owner
        if answer.refusal is not None:
            raise answer.refusal
        told = answer.as_effects()
        if answer.dry_run and answer.deleted:
            message = f"would be deleted, with {len(answer.also)} more; nothing was done"
        elif answer.deleted:
            message = f"deleted; `engramlog delete --undo {owner} {memory_key}` brings it back until {told['restorable_until']}"
        else:
            message = _waits(told) or _undone(told, memory_key) or "; ".join(answer.skipped.values())
        done = bool(answer.deleted) and not answer.dry_run
        return Deleted(
            memory_key=memory_key,
            deleted=done,
            restorable_until=told["restorable_until"] if done else None,
            also=[AlsoDeleted(memory_key=one, reason=reason) for one, reason in answer.also.items()],
            left_alone=[AlsoDeleted(memory_key=one, reason=reason) for one, reason in answer.left.items()],
            still_said_in=answer.still_said_in,
            hidden_with=answer.hidden,
            message=message,
            changes=[logged(one) for one in told["changes"]],
        )

    def reinforce_memory(
        self,
        memory_key: MemoryKey,
        outcome: Annotated[
            Outcome,
            Field(
                description="used: it shaped an answer; task_success, task_failure: it was relied on, and so it went."
            ),
        ] = "used",
        from_memory: Annotated[
            str | None, Field(description="memory_key of a memory that led to it: strengthens their association.")
        ] = None,
        turn_id: Annotated[str | None, Field(description="The turn that was answered with it.")] = None,
        idempotency_key: Again = None,
    ) -> Reinforced:
        """Tell that a memory really helped, or misled: it is then kept longer, or fades faster. Not for merely shown ones."""
        with self._connection.session() as asked:
            memory_key = asked.named(memory_key)
            told = asked.application.living.reinforce(
                asked.owner,
                memory_key,
                outcome=outcome,
                from_memory=None if from_memory is None else asked.named(from_memory),
                turn_id=turn_id,
                actor="assistant",
                key=idempotency_key,
            )
        after = told["after"] or {}
        return Reinforced(
            memory_key=memory_key,
            strength_before=told["before"]["strength"],
            strength_after=after.get("strength"),
            next_review_at=after.get("next_review_at"),
            message=_waits(told) or "; ".join(told["remarks"]) or f"reinforced: {outcome}",
            changes=[logged(one) for one in told["changes"]],
        )


def _as_shown(asked: Session, memory_key: str) -> tuple[str, int | None]:
    """What stands there from now on, as the caller may read it: to produce is not to read, and it is kept either way."""
    if caller_in_hand().may("read", asked.owner):
        with suppress(NotFound):  # what his mode does not show
            shown = asked.application.reader.get(asked.owner, memory_key, trace=False)
            return shown["memory"], shown["sensitivity"]
    return UNREAD, None


def _undone(told: Mapping[str, Any], memory_key: str) -> str | None:
    """Why the fold left the memory as it is; None where it did not."""
    changes = (one for one in told["changes"] if one["memory"] == memory_key)
    return "; ".join(one["reason"] for one in changes if one["decision"] in ("ignored", "wait")) or None


def _waits(told: Mapping[str, Any]) -> str | None:
    """What to say where the owner's fold stands still: it is written, and has no effect yet."""
    stuck = told.get("quarantined")
    return None if stuck is None else f"written, but it waits: this owner is quarantined at {stuck['position']}"
