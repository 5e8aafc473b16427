"""Verbs that ask once. Each is a plan (see `engramlog.wire`). What is not given is as the service has it.

Made by `make client` of the application's operations: change those, and make it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from engramlog.answers import (
    Above,
    AccessTold,
    AlarmsStanding,
    Answered,
    AnsweredInFull,
    AnsweredTurns,
    Assessment,
    AssociationTree,
    Capacity,
    ChainHeads,
    Cleaned,
    Compared,
    Counts,
    Curves,
    Diff,
    FactsKnown,
    Fading,
    Found,
    Graded,
    GrantsTold,
    HeadsCompared,
    InboxPage,
    InstantsTold,
    JobBoard,
    KeyMade,
    KeyRevokedTold,
    KnowledgeMap,
    Laws,
    Left,
    Listing,
    LogEvents,
    MemoryHealth,
    MemoryUses,
    ModelsUsed,
    OwnerHead,
    OwnerPage,
    OwnerProfile,
    OwnerStats,
    OwnerTimes,
    ParametersKnown,
    Provenance,
    ReadsTold,
    Replayed,
    RestoredMany,
    Retracted,
    ReviewsDue,
    SourceSaid,
    SourcesAside,
    SourcesNamed,
    StoreStatus,
    SynonymSaid,
    SynonymsKnown,
    WhoAsks,
)
from engramlog.edge import spelled
from engramlog.reading import memory_path
from engramlog.verb import Verb
from engramlog.wire import Plan, Scope, ask, checked, given, got, of_all, pairs, path_of, posted, quoted


def search(
    scope: Scope,
    query: str,
    *,
    owner: str | None = None,
    mode: str | None = None,
    limit: int = 5,
    cursor: str | None = None,
    ranking: str | None = None,
    search_mode: str | None = None,
    keywords: Sequence[str] = (),
    kinds: Sequence[str] = (),
    categories: Sequence[str] = (),
    tags: Sequence[str] = (),
    feeling: str | None = None,
    session: str | None = None,
    project: str | None = None,
    near_project: str | None = None,
    speaker: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    min_relevance: float | None = None,
    min_weight: float | None = None,
    trust: str | None = None,
    metadata: Mapping[str, str | int | float | bool] | None = None,
    associations: bool | None = None,
    include_faded: bool | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
    trace: bool | None = None,
    inspect: bool | None = None,
    reasons: bool | None = None,
) -> Plan[Found]:
    """Find memories; each tells why it stands where it stands, and the answer tells what was withheld.

    `query`: What to look for, in any language.
    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: normal.
    `limit`: How many results a page, 1 to 100. Default: 5.
    `cursor`: The next page: what `next` said, with nothing else changed. It is read as of the first page.
    `ranking`: `conversation` (text, and its place in the conversation), `text`, `published` (seed 001's score),
    `overlap` (seed 004's) or `associative` (what activation reaches among the hits). Default: conversation.
    `search_mode`: `keyword`, `semantic`, `hybrid`; hybrid goes by words where no embedder is configured. Default:
    hybrid.
    `keywords`: Only what has one of these keywords; repeatable.
    `kinds`: Only these kinds of memory (fact, lesson ...); repeatable.
    `categories`: Only these categories (identity, skill ...); repeatable.
    `tags`: Only what has one of these context tags (late_night, weekend, debugging ..., or a producer's own);
    repeatable.
    `feeling`: Only what is positive, negative or urgent.
    `session`: Only from this session.
    `project`: Only of this project.
    `near_project`: Memories of this project stand higher under `overlap`.
    `speaker`: Only what this speaker said.
    `since`: Created then or later: 2026-05-01, an instant, or words such as "last week", 上周; of a range its beginning.
    `until`: Created up to the end of that; the same forms. The answer tells both.
    `min_relevance`: Only at least so relevant, 0 to 1.
    `min_weight`: Only of at least this weight.
    `trust`: Only what is trusted at least so far: `imported`, `inferred` or `asserted` (by the user himself).
    `metadata`: Only what was told with it: name=value, all of them; repeatable.
    `associations`: Also what the hits bring to mind, and how.
    `include_faded`: Include memories hidden only because they are old. [default: the owner's parameter `long_ago`].
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    `trace`: Record that these memories were shown, after the answer. Default: True.
    `inspect`: Somebody only looks: recorded in any mode and at any time, and no memory gains by it.
    `reasons`: Tell in `explain` what each score and weight is made of; without, its parts are empty. Default: True.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "search"),
            query=query,
            mode=mode,
            limit=limit,
            cursor=cursor,
            ranking=ranking,
            search_mode=search_mode,
            keywords=keywords,
            kinds=kinds,
            categories=categories,
            tags=tags,
            feeling=feeling,
            session=session,
            project=project,
            near_project=near_project,
            speaker=speaker,
            since=spelled(since),
            until=spelled(until),
            min_relevance=min_relevance,
            min_weight=min_weight,
            trust=trust,
            metadata=pairs(metadata),
            associations=associations,
            include_faded=include_faded,
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
            trace=trace,
            inspect=inspect,
            reasons=reasons,
        ),
    )
    return Found.decode(told)


def list_(
    scope: Scope,
    *,
    owner: str | None = None,
    mode: str | None = None,
    kinds: Sequence[str] = (),
    categories: Sequence[str] = (),
    tags: Sequence[str] = (),
    session: str | None = None,
    project: str | None = None,
    speaker: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    min_weight: float | None = None,
    trust: str | None = None,
    max_weight: float | None = None,
    statuses: Sequence[str] = (),
    levels: Sequence[str] = (),
    trusts: Sequence[str] = (),
    tiers: Sequence[str] = (),
    sensitivities: Sequence[int] = (),
    sources: Sequence[str] = (),
    flags: Sequence[str] = (),
    words: str | None = None,
    updated_since: datetime | str | None = None,
    updated_until: datetime | str | None = None,
    sort: str | None = None,
    order: str | None = None,
    limit: int = 50,
    offset: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
) -> Plan[Listing]:
    """An owner's memories, filtered and ordered, by default the newest activation first. Leaves no trace.

    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: normal.
    `kinds`: Only these kinds of memory (fact, lesson ...); repeatable.
    `categories`: Only these categories (identity, skill ...); repeatable.
    `tags`: Only what has one of these context tags (late_night, weekend, debugging ..., or a producer's own);
    repeatable.
    `session`: Only from this session.
    `project`: Only of this project.
    `speaker`: Only what this speaker said.
    `since`: Created then or later: 2026-05-01, an instant, or words such as "last week", 上周; of a range its beginning.
    `until`: Created up to the end of that; the same forms. The answer tells both.
    `min_weight`: Only of at least this weight.
    `trust`: Only what is trusted at least so far: `imported`, `inferred` or `asserted` (by the user himself).
    `max_weight`: Only of at most this weight.
    `statuses`: Only of this status: live, fading, kept_version, superseded, merged, retired, proposed, set_aside,
    rejected, deleted or purged, as far as the mode shows it; repeatable.
    `levels`: Only at this level now: full, summary, tag, trace or archive; repeatable.
    `trusts`: Only of just this trust: asserted, inferred, imported, proposed, disputed or rejected; repeatable.
    `tiers`: Only of this tier: system, core, fact or episode; repeatable.
    `sensitivities`: Only of this sensitivity, 0 to 3; repeatable.
    `sources`: Only from this source: user, assistant, judge, system or import; repeatable.
    `flags`: Only what is conflicting (it may contradict one that stands), waiting (the inbox has something about it) or
    ground_changed; repeatable.
    `words`: Only what has this in its text or its id, in any case, width, and traditional or simplified; a secret by
    its id alone.
    `updated_since`: Made or revised then or later; the forms of `since`.
    `updated_until`: Made or revised up to the end of that.
    `sort`: By `activated`, `created`, `updated`, `weight` or `id`; of equals what was made later stands first. Default:
    activated.
    `order`: `descending` (newest, heaviest first) or `ascending`. [default: ascending for ids, else descending].
    `limit`: How many, 1 to 1000. Default: 50.
    `offset`: How many to pass over.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "memories"),
            mode=mode,
            kinds=kinds,
            categories=categories,
            tags=tags,
            session=session,
            project=project,
            speaker=speaker,
            since=spelled(since),
            until=spelled(until),
            min_weight=min_weight,
            trust=trust,
            max_weight=max_weight,
            statuses=statuses,
            levels=levels,
            trusts=trusts,
            tiers=tiers,
            sensitivities=sensitivities,
            sources=sources,
            flags=flags,
            words=words,
            updated_since=spelled(updated_since),
            updated_until=spelled(updated_until),
            sort=sort,
            order=order,
            limit=limit,
            offset=offset,
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
        ),
    )
    return Listing.decode(told)


def counts(
    scope: Scope,
    *,
    owner: str | None = None,
    mode: str | None = None,
    kinds: Sequence[str] = (),
    categories: Sequence[str] = (),
    tags: Sequence[str] = (),
    session: str | None = None,
    project: str | None = None,
    speaker: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    min_weight: float | None = None,
    trust: str | None = None,
    max_weight: float | None = None,
    statuses: Sequence[str] = (),
    levels: Sequence[str] = (),
    trusts: Sequence[str] = (),
    tiers: Sequence[str] = (),
    sensitivities: Sequence[int] = (),
    sources: Sequence[str] = (),
    flags: Sequence[str] = (),
    words: str | None = None,
    updated_since: datetime | str | None = None,
    updated_until: datetime | str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
) -> Plan[Counts]:
    """How many memories a list has by status, level, trust, tier, kind, tag and the rest, and by law. Leaves no trace.

    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: normal.
    `kinds`: Only these kinds of memory (fact, lesson ...); repeatable.
    `categories`: Only these categories (identity, skill ...); repeatable.
    `tags`: Only what has one of these context tags (late_night, weekend, debugging ..., or a producer's own);
    repeatable.
    `session`: Only from this session.
    `project`: Only of this project.
    `speaker`: Only what this speaker said.
    `since`: Created then or later: 2026-05-01, an instant, or words such as "last week", 上周; of a range its beginning.
    `until`: Created up to the end of that; the same forms. The answer tells both.
    `min_weight`: Only of at least this weight.
    `trust`: Only what is trusted at least so far: `imported`, `inferred` or `asserted` (by the user himself).
    `max_weight`: Only of at most this weight.
    `statuses`: Only of this status: live, fading, kept_version, superseded, merged, retired, proposed, set_aside,
    rejected, deleted or purged, as far as the mode shows it; repeatable.
    `levels`: Only at this level now: full, summary, tag, trace or archive; repeatable.
    `trusts`: Only of just this trust: asserted, inferred, imported, proposed, disputed or rejected; repeatable.
    `tiers`: Only of this tier: system, core, fact or episode; repeatable.
    `sensitivities`: Only of this sensitivity, 0 to 3; repeatable.
    `sources`: Only from this source: user, assistant, judge, system or import; repeatable.
    `flags`: Only what is conflicting (it may contradict one that stands), waiting (the inbox has something about it) or
    ground_changed; repeatable.
    `words`: Only what has this in its text or its id, in any case, width, and traditional or simplified; a secret by
    its id alone.
    `updated_since`: Made or revised then or later; the forms of `since`.
    `updated_until`: Made or revised up to the end of that.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "counts"),
            mode=mode,
            kinds=kinds,
            categories=categories,
            tags=tags,
            session=session,
            project=project,
            speaker=speaker,
            since=spelled(since),
            until=spelled(until),
            min_weight=min_weight,
            trust=trust,
            max_weight=max_weight,
            statuses=statuses,
            levels=levels,
            trusts=trusts,
            tiers=tiers,
            sensitivities=sensitivities,
            sources=sources,
            flags=flags,
            words=words,
            updated_since=spelled(updated_since),
            updated_until=spelled(updated_until),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
        ),
    )
    return Counts.decode(told)


def provenance(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[Provenance]:
    """Where a memory comes from: turns, memories it was merged or corrected from, events; as a tree.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        got(
            memory_path(scope.whose(owner), memory_id) + "/provenance",
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
        ),
    )
    return Provenance.decode(told)


def uses(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    limit: int = 20,
    offset: int | None = None,
) -> Plan[MemoryUses]:
    """Which answers used a memory: the turns for which it was put into a prompt, and what was replied. Leaves no trace.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `limit`: How many, 1 to 1000. Default: 20.
    `offset`: How many to pass over.
    """
    told = yield from ask(
        scope,
        got(
            memory_path(scope.whose(owner), memory_id) + "/uses",
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            limit=limit,
            offset=offset,
        ),
    )
    return MemoryUses.decode(told)


def stats(
    scope: Scope,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
) -> Plan[OwnerStats]:
    """Counts: of the store and its largest owners, or of one owner's memories by category, level and state.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "stats"),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
        ),
    )
    return OwnerStats.decode(told)


def restore_many(
    scope: Scope,
    ids: Sequence[str],
    *,
    owner: str | None = None,
    dry_run: bool | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    reason: str | None = None,
) -> Plan[RestoredMany]:
    """Undo soft deletes of up to 1,000 memories, and of what went with them; told `deleted` of a deletion, it undoes that.

    `ids`: At most 1,000 ids.
    `dry_run`: Tell what would be restored and what would come with it; write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "memories/restore"),
            given(
                {
                    "ids": ids,
                    "dry_run": dry_run,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                    "reason": reason,
                }
            ),
        ),
    )
    return RestoredMany.decode(told)


def assess(
    scope: Scope,
    topic: str,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
) -> Plan[Assessment]:
    """How sure are we about a topic? A score, advice, the best evidence, and the numbers behind it.

    `topic`: What it is about, in any language.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `at`: Compute weights at this instant, past or future, instead of now.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "assess"),
            topic=topic,
            as_of=spelled(as_of),
            known=spelled(known),
            at=spelled(at),
        ),
    )
    return Assessment.decode(told)


def map_(
    scope: Scope,
    topic: str | None = None,
    *,
    owner: str | None = None,
    depth: int | None = None,
    least: float | None = None,
    limit: int = 36,
    mode: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
) -> Plan[KnowledgeMap]:
    """A map of what is known about a topic: the best hits, their associations, and how they cluster.

    `topic`: What it is about, in any language; without, the strongest of all that is known.
    `depth`: Steps from what matches the topic, 1 to 4. Default: 2.
    `least`: Links weaker than this are not followed. Default: 0.3.
    `limit`: Nodes at the most, 1 to 1000. Default: 36.
    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: normal.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `at`: Compute weights at this instant, past or future, instead of now.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "map"),
            topic=topic,
            depth=depth,
            least=least,
            limit=limit,
            mode=mode,
            as_of=spelled(as_of),
            known=spelled(known),
            at=spelled(at),
        ),
    )
    return KnowledgeMap.decode(told)


def associations(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    depth: int | None = None,
    mode: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
) -> Plan[AssociationTree]:
    """What a memory is associated with, as a tree: by keywords, task, time, what was told, and being recalled together.

    `depth`: Steps, 1 to 4. Default: 1.
    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: review.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `at`: Compute weights at this instant, past or future, instead of now.
    """
    told = yield from ask(
        scope,
        got(
            memory_path(scope.whose(owner), memory_id) + "/associations",
            depth=depth,
            mode=mode,
            as_of=spelled(as_of),
            known=spelled(known),
            at=spelled(at),
        ),
    )
    return AssociationTree.decode(told)


def facts(
    scope: Scope,
    *,
    owner: str | None = None,
    about: str | None = None,
    limit: int = 50,
    offset: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[FactsKnown]:
    """What is known as triples, with the memories that are their evidence. Leaves no trace.

    `about`: Only triples of which this is subject or object.
    `limit`: How many, 1 to 1000. Default: 50.
    `offset`: How many to pass over.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "facts"),
            about=about,
            limit=limit,
            offset=offset,
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
        ),
    )
    return FactsKnown.decode(told)


def synonyms(
    scope: Scope,
    *,
    owner: str | None = None,
    of: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[SynonymsKnown]:
    """The synonyms that an owner defined, and what searches for a word look for. Leaves no trace.

    `of`: A word: what it is looked for by, known synonyms too.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        got(path_of(scope.whose(owner), "synonyms"), of=of, as_of=spelled(as_of), known=spelled(known), after=after),
    )
    return SynonymsKnown.decode(told)


def define_synonym(
    scope: Scope,
    word: str,
    synonym: str,
    *,
    owner: str | None = None,
    similarity: float | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[SynonymSaid]:
    """Two words mean the same in this owner's searches from here on. At most 256 pairs; 0 takes one out.

    `word`: A word or phrase of at most 100 characters.
    `synonym`: What it also means.
    `similarity`: How alike, 0 to 1; 0 says that they are no synonyms. Default: 0.8.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "synonyms"),
            given(
                {
                    "word": word,
                    "synonym": synonym,
                    "similarity": similarity,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                }
            ),
        ),
    )
    return SynonymSaid.decode(told)


def health(
    scope: Scope,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
    limit: int = 50,
    offset: int | None = None,
) -> Plan[MemoryHealth]:
    """All live memories by how well they are held (Ebbinghaus strength, whatever the profile), strongest first.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    `limit`: How many, 1 to 1000. Default: 50.
    `offset`: How many to pass over.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "health"),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
            limit=limit,
            offset=offset,
        ),
    )
    return MemoryHealth.decode(told)


def fading(
    scope: Scope,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
    limit: int = 50,
    offset: int | None = None,
) -> Plan[Fading]:
    """Live memories that are nearly forgotten (Ebbinghaus strength under 30), weakest first. Leaves no trace.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    `limit`: How many, 1 to 1000. Default: 50.
    `offset`: How many to pass over.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "fading"),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
            limit=limit,
            offset=offset,
        ),
    )
    return Fading.decode(told)


def review(
    scope: Scope,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
    min_importance: float | None = None,
    limit: int = 10,
    kind: str | None = None,
) -> Plan[ReviewsDue]:
    """What is due for review, the most pressing first; or grade one, which says when it is due again.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    `min_importance`: Least importance, 0 to 1: 0.4 confidence + 0.3 consolidation + 0.3 |emotion|. At confidence 0.6
    the default leaves out most. Default: 0.5.
    `limit`: How many that are due, 1 to 100. Default: 10.
    `kind`: Only memories of this kind.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "review"),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
            min_importance=min_importance,
            limit=limit,
            kind=kind,
        ),
    )
    return ReviewsDue.decode(told)


def grade(
    scope: Scope,
    memory_id: str,
    grade: int,
    *,
    owner: str | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Graded]:
    """It was reviewed: when it is due again by SM-2 and by FSRS, and which of them decides. Counts as an access.

    `grade`: How well it was known, 0 (forgotten) to 5 (at once).
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    """
    told = yield from ask(
        scope,
        posted(
            memory_path(scope.whose(owner), memory_id) + "/grade",
            given(
                {
                    "grade": grade,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                }
            ),
        ),
    )
    return Graded.decode(told)


def profile(
    scope: Scope,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[OwnerProfile]:
    """The law that an owner's recall and lifecycle go by, with its parameters; or choose another from here on.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope, got(path_of(scope.whose(owner), "profile"), as_of=spelled(as_of), known=spelled(known), after=after)
    )
    return OwnerProfile.decode(told)


def choose_profile(
    scope: Scope,
    *,
    owner: str | None = None,
    profile: str | None = None,
    parameters: Mapping[str, float | int | str | bool] | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[OwnerProfile]:
    """Choose the law, change parameters, or both. It changes the owner, not its memories: nothing is lost by it.

    `profile`: A law to live by; `engramlog parameters --laws` lists them.
    `parameters`: Parameters by name; to undo one, set its default again.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "profile"),
            given(
                {
                    "profile": profile,
                    "parameters": parameters,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                }
            ),
        ),
    )
    return OwnerProfile.decode(told)


def laws(scope: Scope) -> Plan[Laws]:
    """Every law by which memories can be weighed: formula, factors, thresholds at the defaults, source. Opens no store."""
    told = yield from ask(scope, got("/v1/laws"))
    return Laws.decode(told)


def parameters(scope: Scope) -> Plan[ParametersKnown]:
    """Every parameter that can be set of the laws and modes: default, bounds, and what it is. Opens no store."""
    told = yield from ask(scope, got("/v1/parameters"))
    return ParametersKnown.decode(told)


def inbox(
    scope: Scope,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    limit: int = 20,
    offset: int | None = None,
) -> Plan[InboxPage]:
    """What waits for a person: changes of the user's own word by lower sources, and what others propose.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `limit`: How many, 1 to 100. Default: 20.
    `offset`: How many to pass over.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "inbox"),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            limit=limit,
            offset=offset,
        ),
    )
    return InboxPage.decode(told)


def accept(
    scope: Scope,
    item: str,
    *,
    owner: str | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    reason: str | None = None,
) -> Plan[Answered]:
    """What waits is so: a person says it himself, and it is done or counts.

    `item`: What is answered: `item` of the inbox.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "inbox/accept"),
            given(
                {
                    "item": item,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                    "reason": reason,
                }
            ),
        ),
    )
    return Answered.decode(told)


def amend(
    scope: Scope,
    item: str,
    content: str,
    *,
    owner: str | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    reason: str | None = None,
) -> Plan[Answered]:
    """What waits, in a person's own words: the memory says this from here on.

    `item`: What is answered: `item` of the inbox.
    `content`: What the memory says from here on.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "inbox/edit"),
            given(
                {
                    "item": item,
                    "content": content,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                    "reason": reason,
                }
            ),
        ),
    )
    return Answered.decode(told)


def reject(
    scope: Scope,
    item: str,
    *,
    owner: str | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    reason: str | None = None,
) -> Plan[Answered]:
    """What waits is not so: a change stays undone; a proposal goes, and what it says becomes no memory again.

    `item`: What is answered: `item` of the inbox.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "inbox/reject"),
            given(
                {
                    "item": item,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                    "reason": reason,
                }
            ),
        ),
    )
    return Answered.decode(told)


def compare(
    scope: Scope,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
    limit: int = 20,
    offset: int | None = None,
) -> Plan[Compared]:
    """Read the same history under every law: what each would show, and how one memory fares over time. Writes nothing.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    `limit`: How many memories, 1 to 1000. Default: 20.
    `offset`: How many to pass over.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "compare"),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
            limit=limit,
            offset=offset,
        ),
    )
    return Compared.decode(told)


def curves(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    points: int | None = None,
) -> Plan[Curves]:
    """One memory's weights under every law, each instant on the record as it was then, with what touched it. Leaves no trace.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `since`: Begin at this instant; at its creation if not given.
    `until`: End at this instant, past or future; now if not given.
    `points`: Evenly spaced instants, 2 to 2000. Default: 200.
    """
    told = yield from ask(
        scope,
        got(
            memory_path(scope.whose(owner), memory_id) + "/compare",
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            since=spelled(since),
            until=spelled(until),
            points=points,
        ),
    )
    return Curves.decode(told)


def cleanup(
    scope: Scope, *, owner: str | None = None, dry_run: bool | None = None, jobs: Sequence[str] = ()
) -> Plan[Cleaned]:
    """Do now what the lifecycle jobs do by themselves under `up`: record levels, delete what its law lets go, purge.

    `dry_run`: Tell what a run would do right now, and change nothing.
    `jobs`: sweep, review, merge, link, replay, levels, abstract or suggest; sweep and review if not given.
    """
    told = yield from ask(
        scope, posted(path_of(scope.whose(owner), "cleanup"), given({"dry_run": dry_run, "jobs": jobs}))
    )
    return Cleaned.decode(told)


def episodes(scope: Scope, *, owner: str | None = None, dry_run: bool | None = None) -> Plan[Left]:
    """Make episodes of what was said: ten messages each, once they left working memory or their session ended.

    `dry_run`: Tell what would be made and noted, and change nothing; asks no model.
    """
    told = yield from ask(scope, posted(path_of(scope.whose(owner), "episodes"), given({"dry_run": dry_run})))
    return Left.decode(told)


def diff(
    scope: Scope,
    since: datetime | str | None,
    *,
    owner: str | None = None,
    until: datetime | str | None = None,
    line: str | None = None,
    queries: Sequence[str] = (),
    mode: str | None = None,
    results: int | None = None,
    everything: bool | None = None,
    limit: int = 50,
    offset: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
) -> Plan[Diff]:
    """What changed between two moments: memories, weights, what is shown, ranks of questions; by whom and why.

    `since`: From this moment: an instant, the end of a day, or a position.
    `until`: To this moment, as `since`; now if not given. Not before it.
    `line`: The time line of both moments: `known`, what was recorded by them, as answers were given then; or
    `happened`, what had happened by them, as known now. Default: known.
    `queries`: A question whose results are ranked on both sides; at most 20.
    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: normal.
    `results`: How many results of each question, 1 to 100. Default: 10.
    `everything`: Also memories of which nothing moved but the weight.
    `limit`: How many, 1 to 1000. Default: 50.
    `offset`: How many to pass over.
    `as_of`: On the line `known`: only what had happened by this, on both sides, weights at it.
    `known`: On the line `happened`: only what was recorded by this, on both sides.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "diff"),
            given(
                {
                    "since": spelled(since),
                    "until": spelled(until),
                    "line": line,
                    "queries": queries,
                    "mode": mode,
                    "results": results,
                    "everything": everything,
                    "limit": limit,
                    "offset": offset,
                    "as_of": spelled(as_of),
                    "known": spelled(known),
                }
            ),
        ),
    )
    return Diff.decode(told)


def above(
    scope: Scope,
    memory_id: str,
    other: str,
    query: str,
    *,
    owner: str | None = None,
    mode: str | None = None,
    ranking: str | None = None,
    search_mode: str | None = None,
    keywords: Sequence[str] = (),
    kinds: Sequence[str] = (),
    categories: Sequence[str] = (),
    tags: Sequence[str] = (),
    feeling: str | None = None,
    session: str | None = None,
    project: str | None = None,
    near_project: str | None = None,
    speaker: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    min_relevance: float | None = None,
    min_weight: float | None = None,
    trust: str | None = None,
    metadata: Mapping[str, str | int | float | bool] | None = None,
    include_faded: bool | None = None,
    language: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
) -> Plan[Above]:
    """Why one memory stands above another for a question, or below: each part of both scores. Leaves no trace.

    `other`: The memory that it stands above, or below.
    `query`: What to look for, in any language.
    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: normal.
    `ranking`: `conversation` (text, and its place in the conversation), `text`, `published` (seed 001's score),
    `overlap` (seed 004's) or `associative` (what activation reaches among the hits). Default: conversation.
    `search_mode`: `keyword`, `semantic`, `hybrid`; hybrid goes by words where no embedder is configured. Default:
    hybrid.
    `keywords`: Only what has one of these keywords; repeatable.
    `kinds`: Only these kinds of memory (fact, lesson ...); repeatable.
    `categories`: Only these categories (identity, skill ...); repeatable.
    `tags`: Only what has one of these context tags (late_night, weekend, debugging ..., or a producer's own);
    repeatable.
    `feeling`: Only what is positive, negative or urgent.
    `session`: Only from this session.
    `project`: Only of this project.
    `near_project`: Memories of this project stand higher under `overlap`.
    `speaker`: Only what this speaker said.
    `since`: Created then or later: 2026-05-01, an instant, or words such as "last week", 上周; of a range its beginning.
    `until`: Created up to the end of that; the same forms. The answer tells both.
    `min_relevance`: Only at least so relevant, 0 to 1.
    `min_weight`: Only of at least this weight.
    `trust`: Only what is trusted at least so far: `imported`, `inferred` or `asserted` (by the user himself).
    `metadata`: Only what was told with it: name=value, all of them; repeatable.
    `include_faded`: Include memories hidden only because they are old. [default: the owner's parameter `long_ago`].
    `language`: Of the sentence: `en` or `zh`; the question's if not given.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    """
    told = yield from ask(
        scope,
        got(
            memory_path(scope.whose(owner), memory_id) + "/above",
            other=other,
            query=query,
            mode=mode,
            ranking=ranking,
            search_mode=search_mode,
            keywords=keywords,
            kinds=kinds,
            categories=categories,
            tags=tags,
            feeling=feeling,
            session=session,
            project=project,
            near_project=near_project,
            speaker=speaker,
            since=spelled(since),
            until=spelled(until),
            min_relevance=min_relevance,
            min_weight=min_weight,
            trust=trust,
            metadata=pairs(metadata),
            include_faded=include_faded,
            language=language,
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
            at=spelled(at),
        ),
    )
    return Above.decode(told)


def answers(
    scope: Scope,
    *,
    owner: str | None = None,
    session: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    limit: int = 20,
    offset: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[AnsweredTurns]:
    """What stood in the prompts of answers: the turns, and of one its memories and the block as it was. Leaves no trace.

    `session`: Only turns of this session.
    `since`: Injected then or later: RFC 3339 with a zone, or a day.
    `until`: Injected then or before; a day is its end.
    `limit`: How many, 1 to 1000. Default: 20.
    `offset`: How many to pass over.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "answers"),
            session=session,
            since=spelled(since),
            until=spelled(until),
            limit=limit,
            offset=offset,
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
        ),
    )
    return AnsweredTurns.decode(told)


def answer(
    scope: Scope,
    turn_id: str,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[AnsweredInFull]:
    """What stood in the prompt of one answer: each memory as it was then, and the block as it was, with proof.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "answers", quoted(checked("turn_id", turn_id))),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
        ),
    )
    return AnsweredInFull.decode(told)


def instants(
    scope: Scope,
    *,
    owner: str | None = None,
    query: str | None = None,
    ids: Sequence[str] = (),
    results: int | None = None,
    mode: str | None = None,
    law: str | None = None,
    order: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    points: int | None = None,
    line: str | None = None,
    ranking: str | None = None,
    search_mode: str | None = None,
    keywords: Sequence[str] = (),
    kinds: Sequence[str] = (),
    categories: Sequence[str] = (),
    tags: Sequence[str] = (),
    feeling: str | None = None,
    session: str | None = None,
    project: str | None = None,
    speaker: str | None = None,
    min_relevance: float | None = None,
    min_weight: float | None = None,
    trust: str | None = None,
    metadata: Mapping[str, str | int | float | bool] | None = None,
    include_faded: bool | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[InstantsTold]:
    """What memories weigh, and where they stand among each other, at many instants: a question's results, or by id.

    `query`: A question, whose best results are rows, and by whose scores all rows are ranked.
    `ids`: Memories that are rows, at most 200; with a query beside its results.
    `results`: How many results of the query, 1 to 100. Default: 20.
    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: normal.
    `law`: Weigh by this law, whatever the owner chose; by the owner's own at each instant if not given.
    `order`: By what rows are ranked without a query: `activated`, as `list` has them, or `weight`. Default: activated.
    `since`: Begin at this instant; at the owner's first event on that line if not given.
    `until`: End at this instant, past or future; now if not given.
    `points`: Evenly spaced instants, 2 to 240; times rows at most 24,000. Default: 120.
    `line`: The time line that the instants are on: `happened`, each as `as_of` tells it; or `known`, each as `known`
    does. Default: happened.
    `ranking`: `conversation` or `text`: the other rankings go by more of time than a weight. Default: conversation.
    `search_mode`: `keyword`, `semantic`, `hybrid`; hybrid goes by words where no embedder is configured. Default:
    hybrid.
    `keywords`: Only what has one of these keywords; repeatable.
    `kinds`: Only these kinds of memory (fact, lesson ...); repeatable.
    `categories`: Only these categories (identity, skill ...); repeatable.
    `tags`: Only what has one of these context tags (late_night, weekend, debugging ..., or a producer's own);
    repeatable.
    `feeling`: Only what is positive, negative or urgent.
    `session`: Only from this session.
    `project`: Only of this project.
    `speaker`: Only what this speaker said.
    `min_relevance`: Only at least so relevant, 0 to 1.
    `min_weight`: Only of at least this weight.
    `trust`: Only what is trusted at least so far: `imported`, `inferred` or `asserted` (by the user himself).
    `metadata`: Only what was told with it: name=value, all of them; repeatable.
    `include_faded`: Include memories hidden only because they are old. [default: the owner's parameter `long_ago`].
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "instants"),
            given(
                {
                    "query": query,
                    "ids": ids,
                    "results": results,
                    "mode": mode,
                    "law": law,
                    "order": order,
                    "since": spelled(since),
                    "until": spelled(until),
                    "points": points,
                    "line": line,
                    "ranking": ranking,
                    "search_mode": search_mode,
                    "keywords": keywords,
                    "kinds": kinds,
                    "categories": categories,
                    "tags": tags,
                    "feeling": feeling,
                    "session": session,
                    "project": project,
                    "speaker": speaker,
                    "min_relevance": min_relevance,
                    "min_weight": min_weight,
                    "trust": trust,
                    "metadata": pairs(metadata),
                    "include_faded": include_faded,
                    "as_of": spelled(as_of),
                    "known": spelled(known),
                    "after": after,
                }
            ),
        ),
    )
    return InstantsTold.decode(told)


def replay(
    scope: Scope,
    *,
    owner: str | None = None,
    parameters: Mapping[str, float | int | str | bool] | None = None,
    profile: str | None = None,
    without: Sequence[str] = (),
    without_turns: Sequence[str] = (),
    without_sessions: Sequence[str] = (),
    without_sources: Sequence[str] = (),
    without_actors: Sequence[str] = (),
    without_principals: Sequence[str] = (),
    without_correlations: Sequence[str] = (),
    without_models: Sequence[str] = (),
    alone: bool | None = None,
    query: str | None = None,
    queries: Sequence[str] = (),
    mode: str | None = None,
    limit: int = 10,
    most: int | None = None,
    offset: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
) -> Plan[Replayed]:
    """Fold an owner's events under other parameters, or without some of them, and show what differs. Writes nothing.

    `parameters`: Parameters to force, by name.
    `profile`: Fold and read under this law, whatever the owner chose.
    `without`: Leave out the events of these ids or positions; `history` shows both.
    `without_turns`: Leave out these turns, by their ids.
    `without_sessions`: Leave out all that was said in these sessions.
    `without_sources`: Leave out memories of these sources (user, assistant, judge, system or import), or that rest on
    these URIs.
    `without_actors`: Leave out all events of these actors.
    `without_principals`: Leave out all that these brought: `local`, a name in the settings, a job, a job with its
    model.
    `without_correlations`: Leave out all events of these correlation ids.
    `without_models`: Leave out all that these language models decided.
    `alone`: Leave out what is named alone, and not what was decided from it.
    `query`: Compare the order of this query's results too.
    `queries`: Compare the order of these queries' results too, 20 at the most.
    `mode`: `normal` (dialogue), `review` (looking back) or `debug` (everything). Default: review.
    `limit`: How many results of a query. Default: 10.
    `most`: How many differences, struck events and memories that stay to tell, 1 to 1000 of each; the totals are told.
    Default: 1000.
    `offset`: How many to pass over.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    `at`: Compute weights at this instant, past or future, instead of now.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "replay"),
            given(
                {
                    "parameters": parameters,
                    "profile": profile,
                    "without": without,
                    "without_turns": without_turns,
                    "without_sessions": without_sessions,
                    "without_sources": without_sources,
                    "without_actors": without_actors,
                    "without_principals": without_principals,
                    "without_correlations": without_correlations,
                    "without_models": without_models,
                    "alone": alone,
                    "query": query,
                    "queries": queries,
                    "mode": mode,
                    "limit": limit,
                    "most": most,
                    "offset": offset,
                    "as_of": spelled(as_of),
                    "known": spelled(known),
                    "after": after,
                    "at": spelled(at),
                }
            ),
        ),
    )
    return Replayed.decode(told)


def retract(
    scope: Scope,
    *,
    owner: str | None = None,
    without: Sequence[str] = (),
    without_turns: Sequence[str] = (),
    without_sessions: Sequence[str] = (),
    without_sources: Sequence[str] = (),
    without_actors: Sequence[str] = (),
    without_principals: Sequence[str] = (),
    without_correlations: Sequence[str] = (),
    without_models: Sequence[str] = (),
    alone: bool | None = None,
    dry_run: bool | None = None,
    reach: str | None = None,
    query: str | None = None,
    queries: Sequence[str] = (),
    mode: str | None = None,
    limit: int = 10,
    most: int | None = None,
    offset: int | None = None,
    actor: str | None = None,
    reason: str | None = None,
) -> Plan[Retracted]:
    """Undo events, a turn, a session or all that somebody brought, with what was decided from it; first tells its reach.

    `without`: Leave out the events of these ids or positions; `history` shows both.
    `without_turns`: Leave out these turns, by their ids.
    `without_sessions`: Leave out all that was said in these sessions.
    `without_sources`: Leave out memories of these sources (user, assistant, judge, system or import), or that rest on
    these URIs.
    `without_actors`: Leave out all events of these actors.
    `without_principals`: Leave out all that these brought: `local`, a name in the settings, a job, a job with its
    model.
    `without_correlations`: Leave out all events of these correlation ids.
    `without_models`: Leave out all that these language models decided.
    `alone`: Leave out what is named alone, and not what was decided from it.
    `dry_run`: Tell what it reaches, and write nothing.
    `reach`: .
    `query`: Compare the order of this query's results too.
    `queries`: Compare the order of these queries' results too, 20 at the most.
    `mode`: In which mode the queries are compared: `normal`, `review` or `debug`. Default: normal.
    `limit`: How many results of a query. Default: 10.
    `most`: How many events, memories and differences to tell, 1 to 1000 of each; the totals are told. Default: 1000.
    `offset`: How many to pass over.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "retract"),
            given(
                {
                    "without": without,
                    "without_turns": without_turns,
                    "without_sessions": without_sessions,
                    "without_sources": without_sources,
                    "without_actors": without_actors,
                    "without_principals": without_principals,
                    "without_correlations": without_correlations,
                    "without_models": without_models,
                    "alone": alone,
                    "dry_run": dry_run,
                    "reach": reach,
                    "query": query,
                    "queries": queries,
                    "mode": mode,
                    "limit": limit,
                    "most": most,
                    "offset": offset,
                    "actor": actor,
                    "reason": reason,
                }
            ),
        ),
    )
    return Retracted.decode(told)


def set_aside(
    scope: Scope,
    *,
    owner: str | None = None,
    session: str | None = None,
    principal: str | None = None,
    of_actor: str | None = None,
    dry_run: bool | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    reason: str | None = None,
) -> Plan[SourceSaid]:
    """Withhold all that a session, a principal or an actor said and says, and undo what it did, until it is brought back.

    `session`: A conversation, by its id.
    `principal`: Who brought it: `local`, a name in the settings of a side, a job (`job:extract`), a job with its model.
    `of_actor`: In whose name it was said: user, assistant, judge, system or operator.
    `dry_run`: Tell what it withholds and what it did to others; write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "set-aside"),
            given(
                {
                    "session": session,
                    "principal": principal,
                    "of_actor": of_actor,
                    "dry_run": dry_run,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                    "reason": reason,
                }
            ),
        ),
    )
    return SourceSaid.decode(told)


def bring_back(
    scope: Scope,
    *,
    owner: str | None = None,
    session: str | None = None,
    principal: str | None = None,
    of_actor: str | None = None,
    dry_run: bool | None = None,
    actor: str | None = None,
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    reason: str | None = None,
) -> Plan[SourceSaid]:
    """What a source said counts again: it was set aside, and is no more.

    `session`: A conversation, by its id.
    `principal`: Who brought it: `local`, a name in the settings of a side, a job (`job:extract`), a job with its model.
    `of_actor`: In whose name it was said: user, assistant, judge, system or operator.
    `dry_run`: Tell what it withholds and what it did to others; write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Any text of your own for this call: made again under it, it writes nothing more and answers as it did.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(
            path_of(scope.whose(owner), "bring-back"),
            given(
                {
                    "session": session,
                    "principal": principal,
                    "of_actor": of_actor,
                    "dry_run": dry_run,
                    "actor": actor,
                    "occurred_at": spelled(occurred_at),
                    "key": scope.edge.new_id() if key is None else key,
                    "reason": reason,
                }
            ),
        ),
    )
    return SourceSaid.decode(told)


def asides(
    scope: Scope,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[SourcesAside]:
    """Which sources are set aside, since when and why, and how many memories each withholds. Leaves no trace.

    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope, got(path_of(scope.whose(owner), "set-aside"), as_of=spelled(as_of), known=spelled(known), after=after)
    )
    return SourcesAside.decode(told)


def sources(
    scope: Scope,
    *,
    owner: str | None = None,
    by: Sequence[str] = (),
    search: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    recorded_since: datetime | str | None = None,
    recorded_until: datetime | str | None = None,
    limit: int = 100,
    offset: int | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[SourcesNamed]:
    """Who spoke to an owner: sessions, principals, actors, models, sources, by the names that `replay` strikes; in figures.

    `by`: Only names of these: session, principal, actor, model, source. [default: all].
    `search`: Only names that hold this, in any case, width, and traditional or simplified.
    `since`: Happened at this instant or later; a day begins by the owner's clocks.
    `until`: Happened at this instant or before; a day ends likewise.
    `recorded_since`: Taken in by the log at this instant or later.
    `recorded_until`: Taken in by the log at this instant or before.
    `limit`: How many, 1 to 1000. Default: 100.
    `offset`: How many to pass over.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "sources"),
            by=by,
            search=search,
            since=spelled(since),
            until=spelled(until),
            recorded_since=spelled(recorded_since),
            recorded_until=spelled(recorded_until),
            limit=limit,
            offset=offset,
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
        ),
    )
    return SourcesNamed.decode(told)


def events(
    scope: Scope,
    *,
    owner: str | None = None,
    types: Sequence[str] = (),
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    recorded_since: datetime | str | None = None,
    recorded_until: datetime | str | None = None,
    session: str | None = None,
    principal: str | None = None,
    actor: str | None = None,
    late: bool | None = None,
    turn: str | None = None,
    memory: str | None = None,
    correlation: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    limit: int = 100,
    cursor: str | None = None,
    order: str | None = None,
    wait: float | None = None,
) -> Plan[LogEvents]:
    """The events of the log themselves, turns and tool results too: by type, time, session, who; or as they come.

    `types`: Only events of these types.
    `since`: Happened at this instant or later; a day begins by the owner's clocks, of a partition in UTC.
    `until`: Happened at this instant or before; a day ends likewise.
    `recorded_since`: Taken in by the log at this instant or later.
    `recorded_until`: Taken in by the log at this instant or before.
    `session`: Only events of this session.
    `principal`: Only what this principal brought, whole as an event tells it.
    `actor`: Only what was done as user, assistant, judge, system or operator.
    `late`: Only what was recorded more than five minutes after it happened.
    `turn`: Only events that are about this turn, or name it.
    `memory`: Only events that are about this memory, or name it.
    `correlation`: Only events with this correlation id.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `limit`: How many events a page, 1 to 1000. Default: 100.
    `cursor`: The next page: what `next` said, with nothing else changed; or what `follow` said: what came since.
    `order`: `oldest` or `newest` first. Default: oldest.
    `wait`: Seconds, 0 to 20, that an empty page waits for the next event, oldest first; answered as soon as one comes.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "events"),
            types=types,
            since=spelled(since),
            until=spelled(until),
            recorded_since=spelled(recorded_since),
            recorded_until=spelled(recorded_until),
            session=session,
            principal=principal,
            actor=actor,
            late=late,
            turn=turn,
            memory=memory,
            correlation=correlation,
            as_of=spelled(as_of),
            known=spelled(known),
            limit=limit,
            cursor=cursor,
            order=order,
            wait=wait,
        ),
    )
    return LogEvents.decode(told)


def partition_events(
    scope: Scope,
    partition: int,
    *,
    types: Sequence[str] = (),
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    recorded_since: datetime | str | None = None,
    recorded_until: datetime | str | None = None,
    session: str | None = None,
    principal: str | None = None,
    actor: str | None = None,
    late: bool | None = None,
    turn: str | None = None,
    memory: str | None = None,
    correlation: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    limit: int = 100,
    cursor: str | None = None,
    order: str | None = None,
    wait: float | None = None,
) -> Plan[LogEvents]:
    """The events of one partition of the store, whosever they are, as they lie in the log.

    `types`: Only events of these types.
    `since`: Happened at this instant or later; a day begins by the owner's clocks, of a partition in UTC.
    `until`: Happened at this instant or before; a day ends likewise.
    `recorded_since`: Taken in by the log at this instant or later.
    `recorded_until`: Taken in by the log at this instant or before.
    `session`: Only events of this session.
    `principal`: Only what this principal brought, whole as an event tells it.
    `actor`: Only what was done as user, assistant, judge, system or operator.
    `late`: Only what was recorded more than five minutes after it happened.
    `turn`: Only events that are about this turn, or name it.
    `memory`: Only events that are about this memory, or name it.
    `correlation`: Only events with this correlation id.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `limit`: How many events a page, 1 to 1000. Default: 100.
    `cursor`: The next page: what `next` said, with nothing else changed; or what `follow` said: what came since.
    `order`: `oldest` or `newest` first. Default: oldest.
    `wait`: Seconds, 0 to 20, that an empty page waits for the next event, oldest first; answered as soon as one comes.
    """
    told = yield from ask(
        scope,
        got(
            of_all(scope, f"/v1/partitions/{partition}/events"),
            types=types,
            since=spelled(since),
            until=spelled(until),
            recorded_since=spelled(recorded_since),
            recorded_until=spelled(recorded_until),
            session=session,
            principal=principal,
            actor=actor,
            late=late,
            turn=turn,
            memory=memory,
            correlation=correlation,
            as_of=spelled(as_of),
            known=spelled(known),
            limit=limit,
            cursor=cursor,
            order=order,
            wait=wait,
        ),
    )
    return LogEvents.decode(told)


def times(
    scope: Scope,
    *,
    owner: str | None = None,
    buckets: int | None = None,
    groups: bool | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    recorded_since: datetime | str | None = None,
    recorded_until: datetime | str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[OwnerTimes]:
    """Both time lines at a glance: from when to when things happened and were recorded, and how many when. Leaves no trace.

    `buckets`: Into how many equal parts each line is cut. Default: 120.
    `groups`: Count each part by what its events do, too: `made`, `changed`, `ended`, `seen`, `talk`.
    `since`: Happened at this instant or later; a day begins by the owner's clocks.
    `until`: Happened at this instant or before; a day ends likewise.
    `recorded_since`: Taken in by the log at this instant or later.
    `recorded_until`: Taken in by the log at this instant or before.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "times"),
            buckets=buckets,
            groups=groups,
            since=spelled(since),
            until=spelled(until),
            recorded_since=spelled(recorded_since),
            recorded_until=spelled(recorded_until),
            as_of=spelled(as_of),
            known=spelled(known),
            after=after,
        ),
    )
    return OwnerTimes.decode(told)


def status(scope: Scope) -> Plan[StoreStatus]:
    """Partitions with head, checkpoint, lag, lease and quarantine; workers; memory."""
    told = yield from ask(scope, got(of_all(scope, "/v1/status")))
    return StoreStatus.decode(told)


def owners(
    scope: Scope, *, prefix: str | None = None, search: str | None = None, after: str | None = None, limit: int = 100
) -> Plan[OwnerPage]:
    """Who has memories here: owners by name, in pages, with how many memories each has.

    `prefix`: Only owners whose names begin so.
    `search`: Only owners whose names hold this, in any case, width, and traditional or simplified.
    `after`: Only after this name: `next` of the page before.
    `limit`: How many, 1 to 1000. Default: 100.
    """
    told = yield from ask(
        scope, got(of_all(scope, "/v1/owners"), prefix=prefix, search=search, after=after, limit=limit)
    )
    return OwnerPage.decode(told)


def alarms(scope: Scope) -> Plan[AlarmsStanding]:
    """What stopped or was lost, until it is over or somebody has looked; exit code 1 while anything stands still."""
    told = yield from ask(scope, got(of_all(scope, "/v1/alarms")))
    return AlarmsStanding.decode(told)


def jobs(scope: Scope) -> Plan[JobBoard]:
    """The lifecycle jobs: when each kind last ran and is due, what waits, and why one failed or stopped."""
    told = yield from ask(scope, got(of_all(scope, "/v1/jobs")))
    return JobBoard.decode(told)


def capacity(scope: Scope, *, days: int | None = None) -> Plan[Capacity]:
    """Memory and disk until they are full, at the growth of the last days: what was measured, and what follows from it.

    `days`: Growth of the last so many days, 1 to 366. Default: 7.
    """
    told = yield from ask(scope, got(of_all(scope, "/v1/capacity"), days=days))
    return Capacity.decode(told)


def models(scope: Scope, *, days: int | None = None) -> Plan[ModelsUsed]:
    """The models that are set, and what asking them took: questions, tokens and costs, by use and day.

    `days`: Day by day over the last so many, 1 to 366. Default: 30.
    """
    told = yield from ask(scope, got(of_all(scope, "/v1/models"), days=days))
    return ModelsUsed.decode(told)


def heads(scope: Scope) -> Plan[ChainHeads]:
    """The heads of the log's chains: what proves, written down where others hold it, that nothing before was changed."""
    told = yield from ask(scope, got(of_all(scope, "/v1/heads")))
    return ChainHeads.decode(told)


def check_heads(scope: Scope, text: str, *, most: int | None = None) -> Plan[HeadsCompared]:
    """Compare the log with heads that somebody holds: each chain that is named is computed anew from its first event.

    `text`: Kept heads: lines of a file of them, of one file or several, or the JSON of `heads`. At most 8,388,608
    characters.
    `most`: Events that are read at most, 1 to 1,000,000; what was not reached is told. Default: 200000.
    """
    told = yield from ask(scope, posted(of_all(scope, "/v1/heads/check"), given({"text": text, "most": most})))
    return HeadsCompared.decode(told)


def owner_heads(
    scope: Scope,
    *,
    owner: str | None = None,
    chain: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[OwnerHead]:
    """The head of an owner's chain, now or as of the past, and whether it is the one that was told. Leaves no trace.

    `chain`: Compare with this one: 64 hexadecimal digits.
    `as_of`: Answer as of an instant (what had happened by then), the end of a day, or a position.
    `known`: Answer from what was recorded by an instant, the end of a day or a position: as it was given then. With
    `as_of` what had happened by that, as it was known by this.
    `after`: Wait until this position of the owner is folded: read your writes.
    """
    told = yield from ask(
        scope,
        got(path_of(scope.whose(owner), "heads"), chain=chain, as_of=spelled(as_of), known=spelled(known), after=after),
    )
    return OwnerHead.decode(told)


def me(scope: Scope) -> Plan[WhoAsks]:
    """Who asks, as what he shows says, and what he may do."""
    told = yield from ask(scope, got("/v1/me"))
    return WhoAsks.decode(told)


def access(scope: Scope, *, as_of: datetime | str | None = None, principal: str | None = None) -> Plan[AccessTold]:
    """Who has, or had, which keys and grants, now or on any day, and who said so. Tells no key.

    `as_of`: As it was then: an instant, a day (its end, UTC), or a position of `:access`; now without.
    `principal`: Only his.
    """
    told = yield from ask(scope, got(of_all(scope, "/v1/access"), as_of=spelled(as_of), principal=principal))
    return AccessTold.decode(told)


def make_key(
    scope: Scope,
    principal: str,
    *,
    grants: Sequence[Mapping[str, object]] | None = None,
    expires_at: datetime | str | None = None,
    days: int | None = None,
    reason: str | None = None,
) -> Plan[KeyMade]:
    """Make a key for a principal, and with `grants` say what he may do. The key is told once; the store keeps its public half.

    `principal`: Whose key: 1 to 64 letters of any script, digits and . _ @ / -. It stands beside each event that he
    brings.
    `grants`: What he may do from here on; as it stands without.
    `expires_at`: When it ends; by no date without.
    `days`: When it ends, told otherwise: after so many days, 1 to 36525.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope.once(),
        posted(
            of_all(scope, "/v1/keys"),
            given(
                {
                    "principal": principal,
                    "grants": None if grants is None else [*grants],
                    "expires_at": spelled(expires_at),
                    "days": days,
                    "reason": reason,
                }
            ),
        ),
    )
    return KeyMade.decode(told)


def revoke_key(scope: Scope, key_id: str, *, reason: str | None = None) -> Plan[KeyRevokedTold]:
    """Revoke a key: it, and every token made of it, opens nothing from the next request on.

    `key_id`: The 8 letters and digits after egl_.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(scope, posted(of_all(scope, "/v1/keys/revoke"), given({"key_id": key_id, "reason": reason})))
    return KeyRevokedTold.decode(told)


def set_grants(
    scope: Scope, principal: str, grants: Sequence[Mapping[str, object]], *, reason: str | None = None
) -> Plan[GrantsTold]:
    """Say what a principal may do from here on; what he could do before holds no more.

    `principal`: Whose key: 1 to 64 letters of any script, digits and . _ @ / -. It stands beside each event that he
    brings.
    `grants`: All that he may do from here on; an empty list: nothing.
    `reason`: Why, in words; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(of_all(scope, "/v1/grants"), given({"principal": principal, "grants": [*grants], "reason": reason})),
    )
    return GrantsTold.decode(told)


def reads(scope: Scope, *, limit: int = 100, cursor: str | None = None, order: str | None = None) -> Plan[ReadsTold]:
    """Who looked at what with a key: secrets, exports, hidden memories, other people's pasts, and who was refused.

    `limit`: How many, 1 to 1000. Default: 100.
    `cursor`: The next page: what `next` told.
    `order`: newest or oldest first. Default: newest.
    """
    told = yield from ask(scope, got(of_all(scope, "/v1/reads"), limit=limit, cursor=cursor, order=order))
    return ReadsTold.decode(told)


class Questions:
    """The verbs that ask once, as methods of a client."""

    search = Verb(search)
    list = Verb(list_, "list")
    counts = Verb(counts)
    provenance = Verb(provenance)
    uses = Verb(uses)
    stats = Verb(stats)
    restore_many = Verb(restore_many)
    assess = Verb(assess)
    map = Verb(map_, "map")
    associations = Verb(associations)
    facts = Verb(facts)
    synonyms = Verb(synonyms)
    define_synonym = Verb(define_synonym)
    health = Verb(health)
    fading = Verb(fading)
    review = Verb(review)
    grade = Verb(grade)
    profile = Verb(profile)
    choose_profile = Verb(choose_profile)
    laws = Verb(laws)
    parameters = Verb(parameters)
    inbox = Verb(inbox)
    accept = Verb(accept)
    amend = Verb(amend)
    reject = Verb(reject)
    compare = Verb(compare)
    curves = Verb(curves)
    cleanup = Verb(cleanup)
    episodes = Verb(episodes)
    diff = Verb(diff)
    above = Verb(above)
    answers = Verb(answers)
    answer = Verb(answer)
    instants = Verb(instants)
    replay = Verb(replay)
    retract = Verb(retract)
    set_aside = Verb(set_aside)
    bring_back = Verb(bring_back)
    asides = Verb(asides)
    sources = Verb(sources)
    events = Verb(events)
    partition_events = Verb(partition_events)
    times = Verb(times)
    status = Verb(status)
    owners = Verb(owners)
    alarms = Verb(alarms)
    jobs = Verb(jobs)
    capacity = Verb(capacity)
    models = Verb(models)
    heads = Verb(heads)
    check_heads = Verb(check_heads)
    owner_heads = Verb(owner_heads)
    me = Verb(me)
    access = Verb(access)
    make_key = Verb(make_key)
    revoke_key = Verb(revoke_key)
    set_grants = Verb(set_grants)
    reads = Verb(reads)
