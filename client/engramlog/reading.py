"""Verbs that read and do more than ask once: pages, pictures, an export, and the messages of a feed.

Each is a plan (see `engramlog.wire`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from engramlog.answers import Change, ContextBlock, Detail, History, Listing, Result, Why
from engramlog.errors import UnexpectedAnswer, refused
from engramlog.wire import Plan, Request, Scope, ask, checked, fetch, given, got, path_of, posted, quoted, spelled

PAGE = 1_000
"""Most memories that one request lists."""


def context(
    scope: Scope,
    text: str,
    *,
    owner: str | None = None,
    session: str | None = None,
    turn_id: str | None = None,
    budget: int | None = None,
    related: str | None = None,
    threshold: float | None = None,
    messages: int | None = None,
    sensitive: bool | None = None,
    language: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    trace: bool | None = None,
    trust: str | None = None,
    stable_budget: int | None = None,
    project: str | None = None,
    owners: Sequence[str] = (),
) -> Plan[ContextBlock]:
    """The block to put into a prompt before the turn `text` is answered, of at most `budget` tokens, and the ids in it.

    The block has two parts. `stable` keeps its bytes until one of its memories changes: put it at the beginning of the prompt,
    where a provider caches it. `turn` is for this turn. `stable_budget`: tokens of the first, by default at most half of all.

    `related`: auto (if the message needs memory), always, never. `sensitive`: also illness, pay, addresses; by default if
    the caller may read them. `trust`: the least trust of a memory. The service has defaults for all of these.
    `project`: where it is said; memories of it are related as if the message named it.
    Nothing is recorded by default. `trace=True`: the block goes into a prompt, so record its memories as injected, once for a
    turn; a block about the past (`as_of`, `known`) records nothing.
    `owners`: also the memories of these owners, each in a part under its name.
    """
    place = {"session": session, "turn_id": turn_id, "after": after, "as_of": spelled(as_of), "known": spelled(known)}
    place["project"] = project
    found = {"related": related, "threshold": threshold, "trust": trust, "stable_budget": stable_budget}
    shown = {"budget": budget, "messages": messages, "sensitive": sensitive, "language": language, "trace": trace}
    told: dict[str, Any] = {name: one for name, one in {**place, **found, **shown}.items() if one is not None}
    told |= {"owners": list(owners)} if owners else {}
    request = posted(path_of(scope.whose(owner), "context"), {"text": text, **told})
    return ContextBlock.decode((yield from ask(scope, request)))


def get(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    reveal: bool | None = None,
    reason: str | None = None,
    actor: str = "user",
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
    after: str | None = None,
    trace: bool | None = None,
    inspect: bool | None = None,
) -> Plan[Detail]:
    """Everything about one memory; a secret's text only with `reveal=True`. Raises NotFound.

    `inspect=True`: somebody only looks, which is recorded and moves no weight; to reveal is that anyway.
    That a secret was shown, to which `actor` and for what `reason`, is recorded before it is: `revealed` tells where.
    """
    path = memory_path(scope.whose(owner), memory_id)
    asked = {"as_of": spelled(as_of), "known": spelled(known), "at": spelled(at), "after": after, "trace": trace}
    if reveal:
        told = {
            name: value for name, value in (asked | {"actor": actor, "reason": reason}).items() if value is not None
        }
        request = posted(f"{path}/reveal", told)
    else:
        request = got(path, **asked, inspect=inspect)
    return Detail.decode((yield from ask(scope, request)))


def get_all(
    scope: Scope,
    *,
    owner: str | None = None,
    mode: str | None = None,
    trust: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
    after: str | None = None,
) -> Plan[Listing]:
    """An owner's memories, newest activation first: all that the mode shows, in pages of 1,000, or one page of `limit`.

    What becomes active while pages are fetched is listed once, where it was met first.
    """
    path = path_of(scope.whose(owner), "memories")
    moments = {"as_of": spelled(as_of), "known": spelled(known), "at": spelled(at)}
    asked = {"mode": mode, "trust": trust, "after": after, **moments}
    first = got(path, limit=PAGE if limit is None else limit, offset=offset, **asked)
    listing = Listing.decode((yield from ask(scope, first)))
    if limit is not None:
        return listing
    met = {one.id: one for one in listing.memories}
    reached, total = offset + len(listing.memories), listing.total
    while reached < total:
        page = Listing.decode((yield from ask(scope, got(path, limit=PAGE, offset=reached, **asked))))
        if not page.memories:
            break
        met |= {one.id: one for one in page.memories if one.id not in met}
        reached, total = reached + len(page.memories), page.total
    return listing.replace(memories=list(met.values()))


def history(
    scope: Scope,
    memory_id: str | None = None,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    recorded_since: datetime | str | None = None,
    recorded_until: datetime | str | None = None,
    kinds: Sequence[str] = (),
    law: str | None = None,
) -> Plan[History]:
    """The whole change log of a memory, or of the owner: every event, what it decided, the weight before and after.

    `since` and `until`: only what happened then, `recorded_since` and `recorded_until`: only what the log took in then; both ends
    count. `kinds`: only decisions (`negate`) and types of events (`MemoryNegated`) of these names. `law`: in whose numbers; as
    stored, the weighted law's, without.
    """
    whose = scope.whose(owner)
    path = path_of(whose) if memory_id is None else memory_path(whose, memory_id)
    when = {"since": since, "until": until, "recorded_since": recorded_since, "recorded_until": recorded_until}
    asked = {
        **{name: spelled(one) for name, one in when.items()},
        "as_of": spelled(as_of),
        "known": spelled(known),
        "after": after,
        "kinds": kinds,
        "law": law,
        "limit": PAGE,
    }
    log = History.decode((yield from ask(scope, got(f"{path}/history", **asked))))
    changes, cursor = log.changes, log.next
    while cursor is not None:
        page = History.decode((yield from ask(scope, got(f"{path}/history", cursor=cursor, **asked))))
        changes, cursor = changes + page.changes, page.next
        log = page
    return log.replace(changes=changes)


def why(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
    after: str | None = None,
    law: str | None = None,
    above: str | None = None,
    query: str | None = None,
    mode: str | None = None,
    ranking: str | None = None,
    search_mode: str | None = None,
    language: str | None = None,
    expand: bool | None = None,
) -> Plan[Why]:
    """Why a memory weighs what it weighs: every factor, every change (in a `law`'s numbers), where it comes from.

    `above`: the id of another memory; the answer's `above` says why the first ranks above or below it for `query`, as `search` with
    this `mode`, `ranking`, `search_mode` and `expand` ranks both. `language` of its sentence: `en` or `zh`, by
    default that of `query`.
    """
    path = memory_path(scope.whose(owner), memory_id)
    asked = {"as_of": spelled(as_of), "known": spelled(known), "after": after, "law": law}
    terms = {"mode": mode, "ranking": ranking, "search_mode": search_mode, "expand": expand}
    request = got(f"{path}/why", at=spelled(at), above=above, query=query, language=language, **terms, **asked)
    told = Why.decode((yield from ask(scope, request)))
    changes, cursor = told.changes, told.next
    while cursor is not None:
        request = got(f"{path}/history", cursor=cursor, limit=PAGE, **asked)
        page = History.decode((yield from ask(scope, request)))
        changes, cursor = changes + page.changes, page.next
    return told.replace(changes=changes, next=None)


def memory_path(owner: str, memory_id: str) -> str:
    """The path of one memory."""
    return path_of(owner, "memories", quoted(checked("memory_id", memory_id)))


class Picture(Result):
    """An SVG without scripts, styles and references; its parts say in `data-` attributes what they are."""

    svg: str
    position: str
    """Of the owner, as of which it was drawn."""


def curves_picture(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    points: int | None = None,
    language: str | None = None,
    theme: str | None = None,
    width: int | None = None,
    height: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[Picture]:
    """What `curves` tells, drawn: the curves of every law, their thresholds, and what touched the memory. Leaves no trace.

    `language`: `en` or `zh`; `theme`: `light` or `dark`; `width` and `height` in pixels.
    """
    asked = {"since": spelled(since), "until": spelled(until), "points": points}
    asked |= {"as_of": spelled(as_of), "known": spelled(known), "after": after}
    asked |= {"language": language, "theme": theme, "width": width, "height": height}
    return _drawn(scope, got(f"{memory_path(scope.whose(owner), memory_id)}/compare.svg", **asked))


def map_picture(
    scope: Scope,
    topic: str,
    *,
    owner: str | None = None,
    depth: int | None = None,
    least: float | None = None,
    limit: int | None = None,
    mode: str | None = None,
    language: str | None = None,
    theme: str | None = None,
    width: int | None = None,
    height: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
) -> Plan[Picture]:
    """What `map` tells, drawn: memories by weight, their associations, and clusters by name. Leaves no trace.

    `language`: `en` or `zh`; `theme`: `light` or `dark`; `width` and `height` in pixels.
    """
    asked = {"topic": topic, "depth": depth, "least": least, "limit": limit, "mode": mode}
    asked |= {"as_of": spelled(as_of), "known": spelled(known), "at": spelled(at)}
    asked |= {"language": language, "theme": theme, "width": width, "height": height}
    return _drawn(scope, got(path_of(scope.whose(owner), "map.svg"), **asked))


def _drawn(scope: Scope, request: Request) -> Plan[Picture]:
    answer = yield from fetch(scope, request)
    return Picture(svg=answer.body.decode(), position=answer.headers["engramlog-position"])


MOST_MESSAGE = 1024 * 1024
"""Bytes of a message of a feed; the service's are far shorter."""
SILENCE = 120.0
"""Seconds after which a feed that tells nothing, not even that it is still there, is taken for lost."""


class Exported(Result):
    """An owner's memories, oldest first, as lines to import again or as a text for people; or everything, as lines."""

    text: str
    position: str
    left_out: dict[str, int]
    """How many are not in it, by reason."""
    revealed: str | None = None
    """Where it is recorded that secrets were shown."""

    @property
    def records(self) -> list[dict[str, Any]]:
        """Each line of an export as JSON Lines."""
        if not self.text.startswith("{") and self.text.strip():
            raise refused("format", "a text", "jsonl, whose lines are records")
        return [json.loads(line) for line in self.text.split("\n") if line.strip()]


class Changed(Result):
    """One event that changed something of an owner. Contents are not told: ask for what you want to read."""

    owner: str
    position: str
    """Give it as `since` to go on after it."""
    changes: list[Change]


def export(
    scope: Scope,
    *,
    owner: str | None = None,
    format: str | None = None,  # noqa: A002 - what the service calls it
    include: Sequence[str] = (),
    everything: bool = False,
    ids: Sequence[str] = (),
    reveal: bool = False,
    actor: str = "user",
    reason: str = "",
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[Exported]:
    """All memories of an owner, as `jsonl` (which an import reads again) or `text`; it is held in whole.

    `include`: what else than what stands: deleted, merged, retired, rejected, superseded, negated, set_aside, proposed;
    `rejections`: what was rejected, for another store to refuse it too. Secrets only with `reveal=True`: that they were shown,
    to which `actor` and for what `reason`, is recorded first. `everything`: all that is held of the owner: memories in any state,
    turns, tool results, contexts, questions asked and the change log, as `jsonl`.
    `ids`: only these memories, at most 1,000; `left_out` counts those that are not there as `unknown`.
    """
    path = path_of(scope.whose(owner), "export")
    asked = {"format": format, "as_of": spelled(as_of), "known": spelled(known), "after": after}
    if reveal:
        told = {
            "include": list(include),
            "everything": everything,
            "ids": list(ids),
            "reveal": True,
            "actor": actor,
            "reason": reason,
        }
        request = posted(path, given(asked | told))
    else:
        request = got(path, include=include, ids=ids, **asked, everything="true" if everything else None)
    answer = yield from fetch(scope, request)
    named = [one.split("=") for one in answer.headers.get("engramlog-left-out", "").split(", ") if one]
    return Exported(
        text=answer.body.decode(),
        position=answer.headers["engramlog-position"],
        left_out={name: int(number) for name, number in named},
        revealed=answer.headers.get("engramlog-revealed"),
    )


class Message(NamedTuple):
    """A message of a stream of server-sent events."""

    event: str
    data: str


class Messages:
    """Puts pieces of a stream together to messages (the HTML standard, 9.2.6). Raises UnexpectedAnswer for one without end."""

    def __init__(self) -> None:
        self._rest, self._held = b"", 0
        self._event, self._data = "message", list[str]()

    def take(self, piece: bytes) -> Iterator[Message]:
        """The messages that this piece ends."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            yield from self._line(line.rstrip(b"\r").decode("utf-8", "replace"))
        if len(self._rest) + self._held > MOST_MESSAGE:
            raise UnexpectedAnswer(f"the feed sent a message of more than {MOST_MESSAGE:,} bytes")

    def _line(self, line: str) -> Iterator[Message]:
        name, _, value = line.partition(":")
        if name == "event":
            self._event = value.strip()
        elif name == "data":
            self._data.append(value.removeprefix(" "))
            self._held += len(value)
        elif not line:
            if self._data:
                yield Message(self._event, "\n".join(self._data))
            self._event, self._data, self._held = "message", [], 0


def changes_in(message: Message) -> Iterator[Changed]:
    """What a message tells: a change, or nothing where it says that the feed begins."""
    if message.event == "change":
        try:
            yield Changed.decode(json.loads(message.data))
        except ValueError:
            raise UnexpectedAnswer(f"the feed sent a change that is not JSON: {message.data[:120]!r}") from None
