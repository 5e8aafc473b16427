"""Sources that are set aside, grounds, the inbox."""

from __future__ import annotations

from typing import Literal

from engramlog.answers.base import Result
from engramlog.answers.changes import AsideTold, Change, Effects
from engramlog.answers.past import LinesTold, Placed


class SourceAside(AsideTold):
    """A source that is set aside, and what that withholds."""

    memories: int
    """Withheld by it; what several withhold counts for the first of them."""


class SourcesAside(Placed):
    """What is set aside now."""

    owner: str
    sources: list[SourceAside]
    """The newest first."""
    total: int
    most: int
    """How many different ones an owner may ever have set aside."""
    as_of: str | None
    known_by: str | None = None
    """The requested moment of recording (`known`)."""


class NamedSourceTold(Result):
    """A session, a principal, an actor, a language model or a source, by the name under which `replay` strikes it."""

    by: Literal["session", "principal", "actor", "model", "source"]
    """What the name is."""
    name: str
    masked: bool
    """Whether the name is withheld: it looks like a secret."""
    events: int
    """That tell it."""
    memories: int
    """That these events were the first to tell."""
    late: int
    """Events recorded more than five minutes after they happened."""
    first_happened: str
    last_happened: str
    first_recorded: str | None
    """When the log took in the oldest of them."""
    last_recorded: str | None
    set_aside: AsideTold | None
    """That it is set aside today."""
    partly_aside: int
    """How many sources set aside today are a part of it: it together with something else, or a model's principal."""


class SourcesNamed(LinesTold, Placed):
    """Sources of an owner, the latest first, then by name."""

    owner: str
    sources: list[NamedSourceTold]
    total: int
    offset: int
    by: list[str]
    """What was asked for."""
    search: str | None
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    events: int
    """That were counted, each once."""
    left_out: dict[str, int]
    """By what a name is, events that tell one beyond the first 10,000: `search` and the spans find them."""
    withheld: int
    """Number of events with a URI that is withheld, because memories based on it are secret, deleted or purged."""
    hint: str | None
    """That nothing of the owner is recorded."""


class SomeMemories(Result):
    """Memories, the first hundred by id."""

    total: int
    ids: list[str]


class SourceSaid(Placed):
    """Memories that setting a source aside withholds, or bringing it back shows again, and effects on memories of others."""

    owner: str
    session: str | None
    principal: str | None
    of_actor: str | None
    memories: int
    """Number of memories of the source, which are withheld while it is set aside."""
    negated: SomeMemories
    """Negated by it: they stand meanwhile as if it had not."""
    revised: SomeMemories
    """Put in other words by it: they tell their former ones meanwhile."""
    merged: SomeMemories
    """Merged with words of it: they stand by themselves meanwhile."""
    deleted: SomeMemories
    """Deleted by it: they stay so; `restore` brings each back."""
    dry_run: bool = False
    """Whether nothing was written."""
    changes: list[Change]


class Reported(Placed):
    """Result of reporting a digest."""

    owner: str
    uri: str
    digest: str
    withheld: list[str]
    """Memories that rest on another digest: normal mode withholds them from here on."""
    back: list[str]
    """Memories that rest on this one and were withheld for another."""
    left: int
    """How many more there are: report again."""
    newer: int
    """Number of memories with newer information, which the report does not change."""
    changes: list[Change]


class InboxItem(Result):
    """One thing that waits for a person."""

    item: str
    """Id for the answer: of the waiting event, or of the proposed memory."""
    kind: str
    """`negation`, `revision`, `merge`, `deletion`: what would be done to it; `reaffirmation`: it would hold again;
    `readmission`: the user said again what was rejected; `suggested_merge`, `suggested_link`: what might be
    done with two memories; or `proposal`."""
    memory_id: str
    about: list[str]
    """Ids of the two that a suggestion is about; none of anything else."""
    memory: str | None
    """Its current text; null for a readmission, because no memory has it now."""
    would_say: str | None
    """The text that would replace it; null if there is none, and for a proposal."""
    reason: str | None
    """The sender's reason."""
    reason_code: str | None = None
    """Which of the service's sentences `reason` is; null where it is somebody's own."""
    reason_values: dict[str, str] | None = None
    """Values of the placeholders in that sentence, by name."""
    actor: str
    principal: str | None
    """Principal that sent it, as the service knows it."""
    at: str
    position: str


class InboxPage(LinesTold, Placed):
    """Items that wait for a person, newest first."""

    owner: str
    items: list[InboxItem]
    total: int
    offset: int
    taken: int
    """Places taken of `most`: a merge takes one for each memory on which it waits, and what is withheld meanwhile
    (its source is set aside, its value rejected) keeps its place."""
    most: int
    """At most so many: what has to wait beyond it changes nothing, and its history says so."""


class Answered(Effects):
    """A person's answer and its effects."""

    item: str
    verdict: str
    """`accepted`, `edited` or `rejected`."""
    done: str
    """What was done, in words."""
    done_code: str
    """The same in one: `linked`, `merged`, `counts`, `holds_again`, `negated`, `revised`, `deleted`, `kept_again`,
    `stays`, `refused`, `dismissed` or `nothing`."""
