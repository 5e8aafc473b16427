"""What a call wrote: receipts, the change log, the effects of each verb, imported chats and extraction."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from engramlog.answers.base import Lagging, LinesTold, Placed, Result, Warned
from engramlog.answers.operating import Decided


class Receipt(Result):
    """What became of one event."""

    event_id: str
    status: Literal["appended", "already_appended", "conflict", "head_mismatch", "not_written", "failed"]
    """`appended`, `already_appended`, `conflict`, `head_mismatch`, `not_written` or `failed`."""
    position: str | None
    """`p:seq`: its position, or that of the event with which it conflicts."""
    fsynced: bool | None
    """On disk before the answer; null where that cannot be known."""
    replicas: int
    """How many replicas are known to have it."""
    error: str | None = None
    occurred_at: str | None = None
    """Time of the owner's event that already has the id; only for a conflict."""
    rejected: str | None = None
    """Set if a person rejected the statement before: the event is in the log and changes nothing."""
    mentioned: str | None = None
    """With `judge`: the memory that says the same already; no new one was made."""
    ended: list[PossibleConflict] = []
    """With `judge`: memories that it ended, `id` and text."""
    waiting: list[PossibleConflict] = []
    """The user's own statement that this one would end; both wait for a person."""
    ended_by: list[PossibleConflict] = []
    """With `judge`: a memory that was said later and says that this changed."""
    conflicting: list[PossibleConflict] = []
    """With `judge`: memories that it may contradict, `id` and text; both are flagged."""
    related: list[PossibleConflict] = []
    """With `judge`: memories with which it is linked as related, `id` and text."""


class Appended(Result):
    """Result of appending events."""

    appended: int
    already_appended: int
    not_written: int
    receipts: list[Receipt]
    """One per event, in input order."""


class Change(Result):
    """One change-log entry: what one event did to one memory. Never holds content."""

    position: str
    event_id: str
    time: datetime
    event: str
    memory: str | None
    """Null where it is about the owner."""
    decision: str
    """`create`, `reinforce`, `negate`, ... or `ignored`, with the reason."""
    reason: str
    reason_code: str | None = None
    """Which of the service's sentences `reason` is; null where it is somebody's own."""
    reason_values: dict[str, str] | None = None
    """Values of the placeholders in that sentence, by name."""
    law: str
    """Whose numbers these are: the weighted law's, or those that were asked for (`law`)."""
    old_weight: float | None
    new_weight: float | None
    delta: float | None
    weighed_at: datetime | None = None
    """At which instant the weights are, where the memory had met a later event; else null."""
    factors: dict[str, float] | None
    fields: list[str]
    version: int | None
    """Of the memory's text."""
    content_hash: str | None
    actor: str | None = None
    """Actor of the event; only in history and why."""
    correlation_id: str | None = None
    """The event's; `extract:MODEL`, `review:MODEL`, `sessions:MODEL` where a language model decided."""
    recorded_at: datetime | None = None
    """When the log took it in, by Redis's clock."""
    principal: str | None = None
    """Principal that sent it, as the service knows it."""
    late_by: float | None = None
    """Seconds, where it was recorded more than five minutes after `time`; else null."""
    said_reason: str | None = None
    """The sender's reason (`reason` is the fold's own), in history and why; withheld
    where it is or speaks of a secret."""
    because: str | None = None
    """Why the memory is kept, as its creation or revision says; withheld as `said_reason` is."""


class Done(Result):
    """What a verb changed."""

    changes: list[Change]
    event_ids: list[str] = []
    """Ids of the events that the call appended. The client sets it; it is empty if the owner is `quarantined` and the
    service made the events."""

    @property
    def ignored(self) -> list[Change]:
        """Changes that changed nothing, each with its reason."""
        return [change for change in self.changes if change.decision == "ignored"]


class Effects(Done, Placed):
    """Effects of a verb, read from the change log after folding."""

    owner: str
    id: str | None = None
    replaced_by: str | None = None
    into: str | None = None
    sources: list[str] = []
    dry_run: bool = False
    """Nothing was written: `changes` is what the fold would tell if these events came next, at positions that are
    free so far, and `position` is where that was computed."""


class Edited(Effects):
    """A memory that says something else now."""

    revised: bool
    """False: the memory said so already, and nothing was written."""
    version: int
    """Of its text."""


class StatementsLeft(Result):
    """Statements extracted from the turn with a lower sensitivity than the turn; judge them too if they say the same."""

    count: int
    ids: list[str]
    """The first 20."""


class LevelSet(Effects):
    """A memory that is as sensitive as a person says."""

    statements: StatementsLeft | None = None
    """Memories extracted from a turn that are not made more sensitive by it."""


class AsideTold(Result):
    """A source that is set aside: a session, a principal, an actor, or what is several of these at once."""

    session: str | None
    principal: str | None
    of_actor: str | None
    since: datetime
    """When it was set aside."""
    set_aside_at: str
    """Position of the event that did."""
    by_actor: str | None = None
    """Who set it aside."""
    by_principal: str | None = None
    """Who called."""
    reason: str


class History(LinesTold, Placed):
    """A page of the change log of a memory or of an owner, and the head of the owner's hash chain."""

    owner: str
    id: str | None
    changes: list[Change]
    next: str | None
    """Cursor of the next page; null on the last."""
    order: str
    law: str = "weighted"
    """The law whose weights the changes show; `weighted` are the stored ones."""
    profile: str = "weighted"
    """The owner's law at that time: the one that gates its recall."""
    chain: str
    aside: AsideTold | None = None
    """The source by whose setting aside the memory is withheld."""


class PossibleConflict(Result):
    """Another memory that may contradict this one. Nothing was overwritten: ask which is true."""

    id: str
    memory: str
    """Its text; `[withheld: ...]` for a secret."""


class CorrectedBy(Result):
    """A statement of a memory that is no longer true."""

    of: str
    """The memory of that statement: an extracted one, or a negated turn."""
    was: str | None
    """The statement's text; null if it was deleted."""
    by: str | None
    """The memory that replaces it; null if there is none."""
    now: str | None
    """Its text, at most 400 characters."""
    at: datetime
    """When it stopped being true."""


class Remembered(Effects):
    """A new memory, or a mention of one that says the same."""

    created: bool
    """False: it was there already, under the same key, or in a memory that says it: `mentioned`."""
    mentioned: str | None = None
    """The memory that says the same already: this was a mention of it, and made no other."""
    ended: list[PossibleConflict] = []
    """Memories that hold no longer by this; at most 8 together with `conflicting`."""
    waiting: list[PossibleConflict] = []
    """The user's own statement that this one would end; both wait for a person."""
    ended_by: list[PossibleConflict] = []
    """A memory that was said later and says that this changed: this one holds no longer."""
    conflicting: list[PossibleConflict] = []
    """Memories that it may contradict: both are flagged, and nothing was overwritten."""
    related: list[PossibleConflict] = []
    """Memories with which it is linked as related: whose words are alike by 0.5 to 0.8, the most alike first, at most five."""


class Added(Remembered):
    """What `add` or `add_many` did: the client makes it of the service's answers. `id`: if it is one memory."""

    created: bool = True
    """False: it was there already, under the same key or in a memory that says it."""
    ids: list[str]
    """Memories, in order."""
    turns: list[str] = []
    """Recorded turns, in order."""


class Skipped(Result):
    """A memory that was not deleted, and why."""

    id: str
    reason: str
    reason_code: str | None = None
    """Which of the service's sentences `reason` is; null where it is somebody's own."""
    reason_values: dict[str, str] | None = None
    """Values of the placeholders in that sentence, by name."""


class Deleted(Lagging):
    """Result of deleting memories."""

    owner: str
    deleted: list[str]
    """In the order asked for; with `dry_run` what would be."""
    skipped: list[Skipped]
    """Core and system memories are left alone."""
    also: list[Skipped] = []
    """Memories deleted with them because they were made from them."""
    left_alone: list[Skipped] = []
    """Made of them, and still there."""
    still_said_in: list[str] = []
    """Turns that still say it; `with_sources` retracts them."""
    hidden_with: list[str] = []
    """Memories merged into them: hidden with them, and back when they are restored."""
    rejected: list[str] = []
    """Memories whose statement is rejected: repeated, it becomes no memory."""
    dry_run: bool = False
    """Whether nothing was written."""
    position: str
    """Position of the last deletion, or of the event that left nothing to delete."""
    restorable_until: datetime | None = None
    """When the next sweep may purge what was deleted now."""
    waiting: list[str] = []
    """Written, but parked behind an event of the owner that cannot be folded."""
    error: dict[str, Any] | None = None
    """What stopped it half-way."""


class Removed(Done, Deleted):
    """Result of deleting one memory."""

    id: str


class RestoredMany(Lagging):
    """Result of restoring memories."""

    owner: str
    restored: list[str] = []
    """In the order asked for; with `dry_run` what would be."""
    skipped: list[Skipped] = []
    """Those asked for that were not restored, and why."""
    also: list[Skipped] = []
    """What came back with them."""
    not_restored: list[Skipped] = []
    """Memories that were deleted with them and stay deleted, with the reason."""
    readmitted: list[str] = []
    """Memories whose statement was rejected and is accepted again."""
    dry_run: bool = False
    """Whether nothing was written."""
    position: str
    """Position of the last restoration, or of the event that left nothing to restore."""
    waiting: list[str] | None = None
    """Written, but parked behind an event of the owner that cannot be folded."""
    error: dict[str, Any] | None = None
    """What stopped it half-way."""


class Restored(Done, RestoredMany):
    """The result of restoring one memory."""

    id: str


class FilePlace(Result):
    """A place in an imported file or list, counted from 1."""

    line: int | None = None
    """Null of chats, which have `conversation` and `message`."""
    conversation: int | None = None
    message: int | None = None


class ImportConflict(FilePlace):
    """An event that is in the log with another content; it stays as it was."""

    event_id: str
    position: str | None
    turn_id: str | None = None
    """Of a turn."""


class ImportFailure(FilePlace):
    """An event that was not written: send it again."""

    event_id: str
    status: str
    error: str | None
    """Why."""


class DuplicateRecord(Result):
    """A record with the id of an earlier one and something else to say."""

    line: int
    memory_id: str
    first_line: int
    """Position of the earlier event, which stays."""


class RecordsImported(Warned):
    """Result of importing records, with what was left out."""

    owner: str
    records: int
    """Records that are in the log now, from this import or an earlier one, or in conflict."""
    shapes: dict[str, int]
    appended: int
    already_appended: int
    conflicts: list[ImportConflict]
    """Records that were imported before with other content; they stay as they were."""
    repeated: int
    """Records equal to an earlier one of the request."""
    duplicates: list[DuplicateRecord]
    """Records with the id of an earlier one of the request and another content: the first is kept."""
    skipped: dict[str, int]
    """Exported memories that no longer stood, by status."""
    ignored_fields: dict[str, int]
    """Fields that no memory has a place for."""
    made_ordinary: dict[str, int]
    """Records of tier core or system, by tier: ordinary memories now, since only an operator gives a place in
    every prompt."""
    said: int = 0
    """Turns and tool results recorded from an export of everything."""
    said_withheld: int = 0
    """Those whose words were left out when they were exported."""
    of_the_log: dict[str, int] = {}
    """Number of entries of such an export that were skipped, by part: they describe the log that it comes from."""
    flagged: int = 0
    """Pairs of a record and a memory that it may contradict: both are flagged and kept."""
    conflicting: list[dict[str, str]] = []
    """The first 50 of these pairs: `id` of the record, `other`, and the `reason`."""
    rejections: int = 0
    """Rejections that came with the records: these statements become no memory here either."""
    rejections_left_out: dict[str, int] = {}
    """Rejections that could not be carried over, by reason; reject them here."""
    associations_left_out: int
    newest_record: str | None
    last_position: str | None
    ids_taken: list[str]
    """Ids under which the owner had a memory already, from elsewhere: it stays as it is."""
    rejected: list[str] = []
    """Ids of records that say what the owner rejected: they became no memories."""
    failed: list[ImportFailure] | None = None
    error: dict[str, Any] | None = None


class UnreadableChat(FilePlace):
    """A conversation that was left out because it cannot be read, or a `message` of it."""

    id: str | None = None
    """The conversation's own, its first 60 characters."""
    reason: str
    why: str


class ChatsImported(Warned):
    """Result of importing chats, with what was left out."""

    owner: str
    shape: str
    """`lines`, `chatgpt`, `claude`, `openai` or another; `mixed` if conversations are of several shapes."""
    conversations: int
    """That were read; 0 for the shape `lines`."""
    left_out: dict[str, int]
    """Messages that are no turns, by reason: system, tool, hidden, other, too_long, abandoned; each `attachment`.
    Unreadable: no_content, bad_content, no_role, unknown_role, repeated_id, no_time, unreadable, part; and
    conversations: no_messages, unknown_shape, other_shape."""
    turns: int
    skipped: int
    """Messages without any text."""
    too_long: int
    """Turns over 64 KiB that were left out."""
    cut: int
    """Turns over 64 KiB of which the beginning was kept."""
    appended: int
    """Events: of each turn one, and one for its memory."""
    already_appended: int
    conflicts: list[ImportConflict]
    """Turns that are in the log with another text; they stay as they were."""
    ignored_fields: dict[str, int]
    """Fields of `lines` that no turn has a place for, with how many turns had them."""
    adjusted: dict[str, int]
    """Read although odd, by reason: naive_time (taken as UTC), bad_time (ignored), branch (the newest was taken),
    characters (replaced)."""
    unreadable: list[UnreadableChat]
    """The first 20 unreadable messages and conversations."""
    newest_turn: datetime | None
    last_position: str | None
    failed: list[ImportFailure] | None = None
    """Turns that were not written, with the reason; send them again."""


class StatedTriple(Result):
    """A statement as subject, predicate and object."""

    subject: str
    predicate: str
    object: str
    negation: bool
    degree: float | None
    """How often or how much, from 0 to 1; null if nothing is said of it."""
    condition: str | None
    """When it holds, in the words of the clause."""


class Statement(Result):
    """Memory made from one statement of a turn."""

    operation: str
    """ADD, UPDATE, BOOST, NEGATE, FLAG or SKIP."""
    reason: str
    turn_id: str
    memory_id: str | None
    other: str | None
    """The memory that it negates, or may contradict."""
    content: str
    """Withheld where it holds a secret."""
    category: str
    kind: str
    polarity: Any
    asserted: bool
    confidence: float
    keywords: list[str]
    triple: StatedTriple | None
    span: list[int]
    """Place in the turn, in characters."""


class Usage(Result):
    """What asking a model took."""

    requests: int
    input_tokens: int
    output_tokens: int


class Extracted(Lagging):
    """Memories made from an owner's unread turns; in a dry run, those that would be made."""

    owner: str
    dry_run: bool
    counts: dict[str, int]
    """How many decisions, or with `dry_run` statements, by what is done."""
    statements: list[Statement] = []
    """With `dry_run`: every statement, with why."""
    decisions: list[Decided] = []
    """Else: what was appended, without contents."""
    appended: int = 0
    """How many of the decisions are in the log now."""
    position: str | None
    """The position that was decided at, or of the last decision."""
    by: str
    """`rules`, or the model's name."""
    read: int = 0
    """Turns that were read."""
    left: int = 0
    """Turns that are still to be read: send it again."""
    by_rules: list[str] = []
    """Turns that the model had no usable answer for, so that rules read them."""
    refused: dict[str, str] = {}
    """Turns whose operations were all refused, with the last reason; they count as read."""
    usage: Usage | None = None
    """What asking the model took."""
    trouble: str | None = None
    """Why the model was asked no more."""


class Episode(Result):
    """An episode that was made, or would be."""

    memory_id: str
    session: str | None
    content: str
    """The time of its first message in the owner's zone, and what was said."""
    turns: list[str]
    """Ids of the turns that it tells of."""
    at: str
    """When the last of them was said."""
    reason: str


class Used(Result):
    """A memory that a reply rested on."""

    memory_id: str
    session: str | None
    at: str
    """When the reply was given."""
    reason: str


class Left(Result):
    """Episodes made from an owner's sessions; in a dry run, those that would be made."""

    owner: str
    counts: dict[str, int]
    """How many decisions, by action: summarise, use."""
    appended: int
    """How many of them are in the log now; none after a dry run."""
    position: str | None
    """The position that was decided at, or of the last decision."""
    by_model: int
    """Episodes in a model's words."""
    refused: int
    """Episodes for which the model gave nothing usable: made without it."""
    failure: str | None
    """Why the model could be asked no more, or its last answer not be used."""
    down: bool
    """Whether the model's endpoint failed: what is left is made by the next run."""
    requests: int
    """Requests to the model; its tokens likewise."""
    input_tokens: int
    output_tokens: int
    dry_run: bool
    episodes: list[Episode]
    uses: list[Used]
