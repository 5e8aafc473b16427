"""Tools that say something: each appends events, and nothing they do is lost."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from engramlog_server.api.checks import caller_in_hand
from engramlog_server.api.mcp.connection import Connection, Position, Session, shaped
from engramlog_server.api.mcp.tools_search import Conflict, MemoryId, conflicting, logged
from engramlog_server.events.errors import InputError, NotFound, refused
from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.choices import KIND

SaidBy = Annotated[
    Literal["user", "assistant"],
    Field(description="assistant if you concluded it."),
]
Key = Annotated[
    str | None,
    Field(description="The same call again under it changes nothing."),
]
Again = str | None


class SaidTurn(BaseModel):
    """One message."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"description": ""})

    role: Literal["user", "assistant", "tool", "system"]
    content: str | None = None
    text: SkipJsonSchema[str | None] = None
    """The older name of `content`."""
    speaker: str | None = Field(default=None, description="A name, if several people speak.")
    occurred_at: str | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> SaidTurn:
        if (self.content is None) == (self.text is None):
            raise PydanticCustomError("rule", "content, or text as it was called: one of them")
        return self

    @property
    def words(self) -> str:
        """What was said."""
        return self.content if self.content is not None else self.text or ""


class Added(TypedDict):
    """What was added."""

    id: str
    created: Annotated[bool, "False: known already."]
    mentioned: bool
    ended: list[str]
    waiting: Annotated[list[str], "Waits for the user's answer."]
    possible_conflicts: Annotated[list[Conflict], "Ask which holds."]
    related: Annotated[list[Conflict], "Linked with it."]
    memory: str
    sensitivity: int | None
    position: Position


class TurnsAdded(TypedDict):
    """The ids of turns that were recorded."""

    turns: list[str]
    created: Annotated[bool, "False: known already."]
    position: Position


class Changed(TypedDict):
    """What became of a memory."""

    id: str
    message: str
    changes: list[dict[str, Any]]


class Updated(Changed):
    """What became of a memory that was corrected."""

    revised: bool
    version: int | None
    replaced_by: str | None


class Aside(TypedDict):
    """Another memory that a deletion reached or left alone."""

    id: str
    reason: str


class Deleted(Changed):
    """What became of a memory that was deleted."""

    deleted: bool
    restorable_until: str | None
    also: list[Aside]
    left_alone: list[Aside]
    still_said_in: list[str]
    hidden_with: list[str]


class Reinforced(Changed):
    """What became of a memory that was put to use."""

    strength_before: float | None
    strength_after: float | None
    next_review_at: str | None


class SayTools:
    """Adding, correcting, deleting, using."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_memory(
        self,
        content: Annotated[str, Field(description="One statement: who, what, when. No pronouns.")],
        memory_type: Annotated[
            str, Field(description="user_preference, fact, lesson, pitfall, pattern, tool, note ...")
        ] = KIND,
        category: Annotated[Category, Field(description="Decides how fast it fades.")] = "fact",
        summary: str | None = None,
        keywords: list[str] | None = None,
        project: str | None = None,
        session: str | None = None,
        said_by: SaidBy = "user",
        occurred_at: Annotated[str | None, Field(description="RFC 3339 with a zone; default: now.")] = None,
        key: Key = None,
    ) -> Added:
        """Remember one thing for good: a preference, a fact about the user, a decision, a lesson. Search first, and
        update what it replaces. Not for small talk, guesses or passwords.
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
                key=key,
            )
            memory_id = told["id"]
            assert memory_id is not None, "a memory that is added has an id"
            if told["mentioned"] is None and (undone := _undone(told, memory_id)) is not None:
                raise InputError(f"it was not kept: {undone}", field="content")
            text, sensitivity = _as_shown(asked, memory_id)
        return {
            "id": memory_id,
            "created": told["created"],
            "mentioned": told["mentioned"] is not None,
            "ended": [one["id"] for one in told["ended"]],
            "waiting": [one["id"] for one in told["waiting"]],
            "possible_conflicts": conflicting(told),
            "related": [{"id": one["id"], "memory": one["memory"]} for one in told["related"]],
            "memory": text,
            "sensitivity": sensitivity,
            "position": told["position"],
        }

    def add_turns(
        self,
        turns: Annotated[list[SaidTurn], Field(min_length=1, max_length=100)],
        session: str | None = None,
        key: Key = None,
    ) -> TurnsAdded:
        """Record messages of a conversation word for word, so that they can be found later."""
        from engramlog_server.projections.decide.commands import NewTurn

        said = [NewTurn(one.role, one.words, one.speaker, one.occurred_at) for one in turns]
        with self._connection.session() as asked:
            told = asked.application.rememberer.add_turns(asked.owner, said, session=session, key=key)
        answer: TurnsAdded = shaped(TurnsAdded, told)
        return answer

    def update_memory(
        self,
        memory_id: MemoryId,
        content: Annotated[str | None, Field(description="The whole new text.")] = None,
        no_longer_true: Annotated[bool, Field(description="It ended or was wrong; content holds instead.")] = False,
        replaced_by: Annotated[str | None, Field(description="Or the id of what holds instead.")] = None,
        reason: str = "",
        summary: str | None = None,
        keywords: list[str] | None = None,
        said_by: SaidBy = "user",
        key: Again = None,
    ) -> Updated:
        """Correct a memory: say the same more exactly, or, with no_longer_true, that it stopped being so ("I don't drink coffee any
        more"). History keeps both.
        """
        with self._connection.session() as asked:
            changed = asked.named(memory_id)
            if no_longer_true:
                if summary is not None or keywords:
                    raise refused("summary" if keywords is None else "keywords", "a value", "none with no_longer_true")
                told: Mapping[str, Any] = asked.application.writer.negate(
                    asked.owner,
                    changed,
                    correction=content,
                    replaced_by=None if replaced_by is None else asked.named(replaced_by),
                    reason=reason,
                    actor=said_by,
                    key=key,
                )
                done = "it no longer holds; the history keeps it"
            else:
                if content is None or replaced_by is not None or reason:
                    raise refused("content", content, "the whole new text, or no_longer_true=true")
                told = asked.application.rememberer.edit(
                    asked.owner, changed, content, summary=summary, keywords=keywords, actor=said_by, key=key
                )
                done = f"version {told['version']}" + ("" if told["revised"] else ": it said so already")
        return {
            "id": changed,
            "revised": told.get("revised", False),
            "version": told.get("version"),
            "replaced_by": told.get("replaced_by"),
            "message": _waits(told) or _undone(told, changed) or done,
            "changes": [logged(one) for one in told["changes"]],
        }

    def delete_memory(
        self,
        memory_id: MemoryId,
        with_sources: Annotated[bool, Field(description="Also the messages that say it.")] = False,
        dry_run: Annotated[bool, Field(description="Only report what would go.")] = False,
        reason: str = "",
        key: Again = None,
    ) -> Deleted:
        """Delete a memory because the user wants it gone, with what was made only of it. The user can restore it for a while.
        If still_said_in names messages, ask whether they should go too.
        """
        with self._connection.session() as asked:
            memory_id = asked.named(memory_id)
            answer = asked.application.deleter.delete_many(
                asked.owner,
                [memory_id],
                actor="assistant",
                with_sources=with_sources,
                dry_run=dry_run,
                reason=reason,
                key=key,
            )
            owner = asked.owner
        if answer.refusal is not None:
            raise answer.refusal
        told = answer.as_effects()
        if answer.dry_run and answer.done:
            message = f"would be deleted, with {len(answer.also)} more; nothing was done"
        elif answer.done:
            message = f"deleted; `engramlog delete --undo {owner} {memory_id}` brings it back until {told['restorable_until']}"
        else:
            message = _waits(told) or _undone(told, memory_id) or "; ".join(answer.skipped.values())
        done = bool(answer.done) and not answer.dry_run
        return {
            "id": memory_id,
            "deleted": done,
            "restorable_until": told["restorable_until"] if done else None,
            "also": [{"id": one, "reason": reason} for one, reason in answer.also.items()],
            "left_alone": [{"id": one, "reason": reason} for one, reason in answer.left.items()],
            "still_said_in": answer.still_said_in,
            "hidden_with": answer.hidden,
            "message": message,
            "changes": [logged(one) for one in told["changes"]],
        }

    def reinforce_memory(
        self,
        memory_id: MemoryId,
        outcome: Annotated[
            Literal["mentioned", "confirmed", "used", "task_success", "task_failure"],
            Field(
                description="confirmed: the user said it holds; used: it shaped an answer; task_*: so it went when relied on."
            ),
        ] = "used",
        said_by: Literal["user", "assistant"] = "user",
        from_memory: Annotated[str | None, Field(description="A memory that led to its use.")] = None,
        turn_id: Annotated[str | None, Field(description="The turn answered with it.")] = None,
        key: Again = None,
    ) -> Reinforced:
        """Report that a memory came up again, still holds, helped or misled: it lasts longer, or fades faster. Confirming brings
        back what was negated, but not what a person rejected.
        """
        with self._connection.session() as asked:
            changed = asked.named(memory_id)
            if outcome in ("mentioned", "confirmed"):
                if from_memory is not None or turn_id is not None:
                    raise refused("outcome", outcome, "used, task_success or task_failure with from_memory or turn_id")
                actor = said_by if outcome == "mentioned" else "user"
                told: Mapping[str, Any] = asked.application.writer.mention(asked.owner, changed, actor=actor, key=key)
                done = _undone(told, None) or ("it holds" if outcome == "confirmed" else "it is active from here on")
                before: Mapping[str, Any] = {}
            else:
                told = asked.application.living.reinforce(
                    asked.owner,
                    changed,
                    outcome=outcome,
                    from_memory=None if from_memory is None else asked.named(from_memory),
                    turn_id=turn_id,
                    actor="assistant",
                    key=key,
                )
                done, before = "; ".join(told["remarks"]) or f"reinforced: {outcome}", told["before"]
        after = told.get("after") or {}
        return {
            "id": changed,
            "strength_before": before.get("strength"),
            "strength_after": after.get("strength"),
            "next_review_at": after.get("next_review_at"),
            "message": _waits(told) or done,
            "changes": [logged(one) for one in told["changes"]],
        }


def _as_shown(asked: Session, memory_id: str) -> tuple[str, int | None]:
    """What stands there from now on, as the caller may read it: to produce is not to read, and it is kept either way."""
    if caller_in_hand().may("read", asked.owner):
        with suppress(NotFound):  # what his mode does not show
            shown = asked.application.reader.get(asked.owner, memory_id, trace=False)
            return shown["memory"], shown["sensitivity"]
    from engramlog_server.api.services.remembering import UNREAD

    return UNREAD, None


def _undone(told: Mapping[str, Any], memory_id: str | None) -> str | None:
    """Why the fold left the memory, or any, as it is; None if it did not."""
    changes = (one for one in told["changes"] if memory_id in (None, one["memory"]))
    return "; ".join(one["reason"] for one in changes if one["decision"] in ("ignored", "wait")) or None


def _waits(told: Mapping[str, Any]) -> str | None:
    """What to say where the owner's fold stands still: it is written, and has no effect yet."""
    stuck = told.get("quarantined")
    return None if stuck is None else f"written, but it waits: this owner is quarantined at {stuck['position']}"
