"""Verbs that ask once. Each is a plan (see `engramlog.wire`). What is not given is as the service has it.

Made by `make client` of the application's operations: change those, and make it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from engramlog.answers import (
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
    Edited,
    Effects,
    FactsKnown,
    Fading,
    Found,
    Graded,
    GrantsTold,
    HeadsCompared,
    InboxPage,
    JobBoard,
    KeyMade,
    KeyRevokedTold,
    KnowledgeMap,
    Laws,
    Left,
    LevelSet,
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
    Reinforced,
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
from engramlog.events import done_to, said
from engramlog.reading import memory_path
from engramlog.wire import Plan, Scope, Verb, ask, checked, given, got, of_all, pairs, path_of, posted, quoted, spelled


def search(
    scope: Scope,
    query: str,
    *,
    owner: str | None = None,
    mode: str | None = None,
    limit: int = 5,
    cursor: str | None = None,
    owners: Sequence[str] = (),
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
    expand: bool | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
    at: datetime | str | None = None,
    trace: bool | None = None,
    inspect: bool | None = None,
    reasons: bool | None = None,
) -> Plan[Found]:
    """Search memories; results come with reasons, and withheld matches are counted.

    `query`: The question, in any language.
    `mode`: `normal` (for a dialogue), `review` (also replaced memories) or `debug` (all memories). Default: normal.
    `limit`: Results per page, 1 to 100. Default: 5.
    `cursor`: Next page: send `next` of the page before, with nothing else changed. All pages show the state of the
    first.
    `owners`: Also the memories of these owners, at most 7: access is checked for each, and the answer says whose each
    memory is; repeatable.
    `ranking`: `conversation` (text and place in the conversation), `text`, `published` (formula of the hybrid-search
    source), `overlap` (ebbinghaus source) or `associative` (spreading activation). Default: conversation.
    `search_mode`: `keyword`, `semantic`, `hybrid`; hybrid goes by words where no embedder is configured. Default:
    hybrid.
    `keywords`: Only memories with one of these keywords; repeatable.
    `kinds`: Only these kinds of memory (fact, lesson ...); repeatable.
    `categories`: Only these categories (identity, skill ...); repeatable.
    `tags`: Only memories with one of these tags (late_night, weekend, debugging ..., or a producer's own); repeatable.
    `feeling`: Only positive, negative or urgent memories.
    `session`: Only from this session.
    `project`: Only this project.
    `near_project`: With `overlap`: rank memories of this project higher.
    `speaker`: Only statements of this speaker.
    `since`: Created at or after this day, instant or phrase ("last week", 上周; its beginning).
    `until`: Created up to the end of this; the same forms. The answer shows both bounds.
    `min_relevance`: Least relevance, 0 to 1.
    `min_weight`: Least weight.
    `trust`: Least trust: `imported`, `inferred` or `asserted` (said by the user).
    `metadata`: Only memories with this metadata, name=value; all must match; repeatable.
    `associations`: Include memories associated with the results.
    `include_faded`: Include memories hidden only because they are old. [default: the owner's parameter `long_ago`].
    `expand`: Let the configured language model reword the question (`ENGRAMLOG_EXPANSION=model`); false sends it to no
    model. Default: True.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    `at`: Compute weights at this instant, past or future, instead of now.
    `trace`: Record after the answer that these memories were shown. Default: True.
    `inspect`: Record a look (`inspection`) in any mode and at any time. No weight changes.
    `reasons`: Show the parts of each score and weight in `explain`. Default: True.
    """
    told = yield from ask(
        scope,
        got(
            path_of(scope.whose(owner), "search"),
            query=query,
            mode=mode,
            limit=limit,
            cursor=cursor,
            owners=owners,
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
            expand=expand,
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

    `mode`: `normal` (for a dialogue), `review` (also replaced memories) or `debug` (all memories). Default: normal.
    `kinds`: Only these kinds of memory (fact, lesson ...); repeatable.
    `categories`: Only these categories (identity, skill ...); repeatable.
    `tags`: Only memories with one of these tags (late_night, weekend, debugging ..., or a producer's own); repeatable.
    `session`: Only from this session.
    `project`: Only this project.
    `speaker`: Only statements of this speaker.
    `since`: Created at or after this day, instant or phrase ("last week", 上周; its beginning).
    `until`: Created up to the end of this; the same forms. The answer shows both bounds.
    `min_weight`: Least weight.
    `trust`: Least trust: `imported`, `inferred` or `asserted` (said by the user).
    `max_weight`: Highest weight.
    `statuses`: Only this status: live, fading, kept_version, superseded, merged, retired, proposed, set_aside,
    rejected, deleted or purged, if the mode shows it; repeatable.
    `levels`: Only at this level now: full, summary, tag, trace or archive; repeatable.
    `trusts`: Only exactly this trust: asserted, inferred, imported, proposed, disputed or rejected; repeatable.
    `tiers`: Only this tier: system, core, fact or episode; repeatable.
    `sensitivities`: Only this sensitivity, 0 to 3; repeatable.
    `sources`: Only from this source: user, assistant, judge, system or import; repeatable.
    `flags`: Only memories that are conflicting (may contradict another), waiting (an inbox item is about them) or
    ground_changed; repeatable.
    `words`: Only memories whose text or id contains this, in any case, width, traditional or simplified. Secrets match
    by id only.
    `updated_since`: Created or revised at or after this; the forms of `since`.
    `updated_until`: Created or revised up to the end of this.
    `sort`: Sort by `activated`, `created`, `updated`, `weight` or `id`; ties: newest first. Default: activated.
    `order`: `descending` (newest, heaviest first) or `ascending`. [default: ascending for ids, else descending].
    `limit`: Most entries, 1 to 1000. Default: 50.
    `offset`: Number of rows to skip.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """Count the memories of a list by status, level, trust, tier, kind, tag, law and more. Leaves no trace.

    `mode`: `normal` (for a dialogue), `review` (also replaced memories) or `debug` (all memories). Default: normal.
    `kinds`: Only these kinds of memory (fact, lesson ...); repeatable.
    `categories`: Only these categories (identity, skill ...); repeatable.
    `tags`: Only memories with one of these tags (late_night, weekend, debugging ..., or a producer's own); repeatable.
    `session`: Only from this session.
    `project`: Only this project.
    `speaker`: Only statements of this speaker.
    `since`: Created at or after this day, instant or phrase ("last week", 上周; its beginning).
    `until`: Created up to the end of this; the same forms. The answer shows both bounds.
    `min_weight`: Least weight.
    `trust`: Least trust: `imported`, `inferred` or `asserted` (said by the user).
    `max_weight`: Highest weight.
    `statuses`: Only this status: live, fading, kept_version, superseded, merged, retired, proposed, set_aside,
    rejected, deleted or purged, if the mode shows it; repeatable.
    `levels`: Only at this level now: full, summary, tag, trace or archive; repeatable.
    `trusts`: Only exactly this trust: asserted, inferred, imported, proposed, disputed or rejected; repeatable.
    `tiers`: Only this tier: system, core, fact or episode; repeatable.
    `sensitivities`: Only this sensitivity, 0 to 3; repeatable.
    `sources`: Only from this source: user, assistant, judge, system or import; repeatable.
    `flags`: Only memories that are conflicting (may contradict another), waiting (an inbox item is about them) or
    ground_changed; repeatable.
    `words`: Only memories whose text or id contains this, in any case, width, traditional or simplified. Secrets match
    by id only.
    `updated_since`: Created or revised at or after this; the forms of `since`.
    `updated_until`: Created or revised up to the end of this.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """Show the turns, memories and events from which a memory comes, as a tree.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """List the turns for which a memory was put into a prompt, with the replies. Leaves no trace.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    `limit`: Most entries, 1 to 1000. Default: 20.
    `offset`: Number of rows to skip.
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
    """Count the store's events and largest owners, or one owner's memories by category, level and state.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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


def negate(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    correction: str | None = None,
    replaced_by: str | None = None,
    resolution: str | None = None,
    never: bool | None = None,
    turn_id: str | None = None,
    session: str | None = None,
    dry_run: bool | None = None,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
    reason: str | None = None,
) -> Plan[Effects]:
    """Mark a memory as no longer true, keep its history, and optionally say what is true now.

    `correction`: The text that is true now; saved as a new memory.
    `replaced_by`: Or the id of a memory that is true now.
    `resolution`: latest_wins, version_keep or weight_balance. [default: by category].
    `never`: It was never true: do not remember it again, even if it is repeated. Only a person can say so.
    `turn_id`: Turn in which it was said.
    `session`: Session (conversation) id.
    `dry_run`: Show what would change. Write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    `reason`: The reason; kept in the log.
    """
    told = said(scope, owner, actor, occurred_at, session, key)
    done = yield from done_to(
        scope,
        told,
        memory_id,
        "negate",
        given(
            {
                "correction": correction,
                "replaced_by": replaced_by,
                "resolution": resolution,
                "never": never,
                "turn_id": turn_id,
                "dry_run": dry_run,
                "reason": reason,
            }
        ),
    )
    return Effects.decode(done)


def set_sensitivity(
    scope: Scope,
    memory_id: str,
    level: int,
    reason: str,
    *,
    owner: str | None = None,
    dry_run: bool | None = None,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[LevelSet]:
    """Set how sensitive a memory is. Only this can lower the level that rules found.

    `level`: 0 public, 1 general, 2 sensitive, 3 secret.
    `reason`: The reason; kept in the log.
    `dry_run`: Show what would change. Write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    """
    told = said(scope, owner, actor, occurred_at, None, key)
    done = yield from done_to(
        scope, told, memory_id, "sensitivity", given({"level": level, "reason": reason, "dry_run": dry_run})
    )
    return LevelSet.decode(done)


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
    """Undo deletions of up to 1,000 memories, and of everything deleted with them. Takes the `deleted` of a deletion.

    `ids`: At most 1,000 ids.
    `dry_run`: Show what would be restored with it. Write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    `reason`: The reason; kept in the log.
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


def edit(
    scope: Scope,
    memory_id: str,
    content: str,
    *,
    owner: str | None = None,
    summary: str | None = None,
    keywords: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    because: str | None = None,
    grounds: Sequence[Mapping[str, object]] | None = None,
    metadata: Mapping[str, str | int | float | bool] | None = None,
    dry_run: bool | None = None,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Edited]:
    """Give a memory better words under the same id. Older versions stay readable; equal words write nothing.

    `content`: The whole new text.
    `summary`: A shorter text.
    `keywords`: Replaces the earlier ones.
    `tags`: Replaces the earlier ones.
    `because`: Why it is kept.
    `grounds`: Replaces the earlier ones.
    `metadata`: Replaces the earlier values.
    `dry_run`: Show what would change. Write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    """
    told = said(scope, owner, actor, occurred_at, None, key)
    done = yield from done_to(
        scope,
        told,
        memory_id,
        "edit",
        given(
            {
                "content": content,
                "summary": summary,
                "keywords": None if keywords is None else list(keywords),
                "tags": None if tags is None else list(tags),
                "because": because,
                "grounds": None if grounds is None else [*grounds],
                "metadata": metadata,
                "dry_run": dry_run,
            }
        ),
    )
    return Edited.decode(done)


def mention(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    similarity: float | None = None,
    turn_id: str | None = None,
    session: str | None = None,
    dry_run: bool | None = None,
    actor: str = "user",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Effects]:
    """Record that a memory was mentioned again, which strengthens it. A mention by the user undoes a negation.

    `similarity`: Similarity of the mention to the memory, 0 to 1.
    `turn_id`: Turn in which it was said.
    `session`: Session (conversation) id.
    `dry_run`: Show what would change. Write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    """
    told = said(scope, owner, actor, occurred_at, session, key)
    done = yield from done_to(
        scope, told, memory_id, "mention", given({"similarity": similarity, "turn_id": turn_id, "dry_run": dry_run})
    )
    return Effects.decode(done)


def assess(
    scope: Scope,
    topic: str,
    *,
    owner: str | None = None,
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    at: datetime | str | None = None,
) -> Plan[Assessment]:
    """Assess what is known about a topic: score, advice, best evidence and figures.

    `topic`: The topic, in any language.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
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
    """Map what is known about a topic: best results, associations and clusters.

    `topic`: The topic, in any language. [default: the strongest memories].
    `depth`: Steps from the matches, 1 to 4. Default: 2.
    `least`: Least weight of links to follow. Default: 0.3.
    `limit`: Most nodes, 1 to 1000. Default: 36.
    `mode`: `normal` (for a dialogue), `review` (also replaced memories) or `debug` (all memories). Default: normal.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
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
    """Show a memory's associations as a tree: keywords, task, time, links, recalled together.

    `depth`: Steps, 1 to 4. Default: 1.
    `mode`: `normal` (for a dialogue), `review` (also replaced memories) or `debug` (all memories). Default: review.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
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
    """List triples with the memories that back them. Leaves no trace.

    `about`: Only triples with this subject or object.
    `limit`: Most entries, 1 to 1000. Default: 50.
    `offset`: Number of rows to skip.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """The owner's synonyms, and the words that a search for a word uses. Leaves no trace.

    `of`: Show the words that a search for this word uses, also built-in synonyms.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """Define a synonym for this owner's searches, at most 256 pairs; similarity 0 removes one.

    `word`: A word or phrase of at most 100 characters.
    `synonym`: The synonym.
    `similarity`: Similarity, 0 to 1; 0 removes the pair. Default: 0.8.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
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
    """List live memories by Ebbinghaus strength, strongest first, whatever the profile.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    `at`: Compute weights at this instant, past or future, instead of now.
    `limit`: Most entries, 1 to 1000. Default: 50.
    `offset`: Number of rows to skip.
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
    """List live memories with an Ebbinghaus strength under 30, weakest first. Leaves no trace.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    `at`: Compute weights at this instant, past or future, instead of now.
    `limit`: Most entries, 1 to 1000. Default: 50.
    `offset`: Number of rows to skip.
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
    """List memories that are due for review, or grade one.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    `at`: Compute weights at this instant, past or future, instead of now.
    `min_importance`: Least importance, 0 to 1: 0.4 confidence + 0.3 consolidation + 0.3 |emotion|. At confidence 0.6
    the default leaves out most. Default: 0.5.
    `limit`: Most memories, 1 to 100. Default: 10.
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


def reinforce(
    scope: Scope,
    memory_id: str,
    *,
    owner: str | None = None,
    outcome: str = "used",
    from_memory: str | None = None,
    turn_id: str | None = None,
    actor: str = "assistant",
    occurred_at: datetime | str | None = None,
    key: str | None = None,
) -> Plan[Reinforced]:
    """Record a use or manual review, which strengthens a memory. Shows each law before and after.

    `outcome`: used, task_success, task_failure or manual_review. Stability x 1.2, 2.0, 0.8 or 1.5; `used` also adds 0.3
    to the importance (at most once in two hours), and a task grades a review 5 or 2. Default: used.
    `from_memory`: The memory that led there; with used and manual_review their association grows.
    `turn_id`: The turn in whose answer it was used, or the turn of the reply; `answers` shows the outcome.
    `actor`: Actor of the event: user, assistant or judge. Default: assistant.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    """
    told = said(scope, owner, actor, occurred_at, None, key)
    done = yield from done_to(
        scope, told, memory_id, "reinforce", given({"outcome": outcome, "from_memory": from_memory, "turn_id": turn_id})
    )
    return Reinforced.decode(done)


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
    """Grade a review. Shows when the memory is due again by SM-2 and FSRS, and which decides. Counts as an access.

    `grade`: How well it was known, 0 (forgotten) to 5 (at once).
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
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
    """Show an owner's law and parameters, or choose another law.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """Choose an owner's law, change parameters, or both. No memory changes.

    `profile`: The law; `engramlog parameters --laws` lists them.
    `parameters`: Parameters by name; to undo one, set its default again.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
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
    """List every law: formula, factors, default thresholds, source. Opens no store."""
    told = yield from ask(scope, got("/v1/laws"))
    return Laws.decode(told)


def parameters(scope: Scope) -> Plan[ParametersKnown]:
    """List every parameter of laws and modes: default, bounds, meaning. Opens no store."""
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
    """List changes of the user's own statements by lower sources, and proposals, that wait for a person.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    `limit`: Most entries, 1 to 100. Default: 20.
    `offset`: Number of rows to skip.
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
    """Accept an inbox item: its change or proposal takes effect.

    `item`: The inbox item.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    `reason`: The reason; kept in the log.
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
    """Answer an inbox item with your own words, which become the memory's text.

    `item`: The inbox item.
    `content`: The new text of the memory.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    `reason`: The reason; kept in the log.
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
    """Reject an inbox item: a change is not made; a proposal is dropped and not remembered again.

    `item`: The inbox item.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    `reason`: The reason; kept in the log.
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
    """Withhold everything from a session, principal or actor, and undo its effects, until it is brought back.

    `session`: Session (conversation) id.
    `principal`: The principal: `local`, a name in the settings, a job (`job:extract`), or a job with its model.
    `of_actor`: The actor: user, assistant, judge, system or operator.
    `dry_run`: Show what it withholds, and its effects on other memories. Write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    `reason`: The reason; kept in the log.
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
    """Bring back a source that was set aside: its statements count again.

    `session`: Session (conversation) id.
    `principal`: The principal: `local`, a name in the settings, a job (`job:extract`), or a job with its model.
    `of_actor`: The actor: user, assistant, judge, system or operator.
    `dry_run`: Show what it withholds, and its effects on other memories. Write nothing.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `occurred_at`: When it happened, if not now: RFC 3339 with a zone.
    `key`: Your own name for this call: repeated with it, the call writes nothing and returns its first answer.
    `reason`: The reason; kept in the log.
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
    """List withheld sources: since when, why, and how many memories each withholds. Leaves no trace.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """Count an owner's events by session, principal, actor, model and source.

    `by`: Only these kinds: session, principal, actor, model, source. [default: all].
    `search`: Only names that contain this, in any case, width, traditional or simplified.
    `since`: Happened at or after this; a day begins in the owner's time zone.
    `until`: Happened at or before this; a day ends likewise.
    `recorded_since`: Recorded at or after this.
    `recorded_until`: Recorded at or before this.
    `limit`: Most entries, 1 to 1000. Default: 100.
    `offset`: Number of rows to skip.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """Compare the laws on the same history: what each shows, or one memory over time. Writes nothing.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    `at`: Compute weights at this instant, past or future, instead of now.
    `limit`: Number of memories, 1 to 1000. Default: 20.
    `offset`: Number of rows to skip.
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
    """One memory's weights under every law at each instant, with the events that changed it. Leaves no trace.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    `since`: First instant. [default: its creation].
    `until`: Last instant, past or future. [default: now].
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
    """Run lifecycle jobs now: record levels, delete what the owner's law lets go, purge.

    `dry_run`: Show what a run would do. Write nothing.
    `jobs`: sweep, review, merge, link, replay, levels, abstract or suggest. [default: sweep and review].
    """
    told = yield from ask(
        scope, posted(path_of(scope.whose(owner), "cleanup"), given({"dry_run": dry_run, "jobs": jobs}))
    )
    return Cleaned.decode(told)


def episodes(scope: Scope, *, owner: str | None = None, dry_run: bool | None = None) -> Plan[Left]:
    """Make episodes of ten messages each, after they left working memory or their session ended.

    `dry_run`: Show what would be made. Write nothing; ask no model.
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
    """Show what changed between two moments, who changed it, and why.

    `since`: From this moment: an instant, the end of a day, or a position.
    `until`: To this moment; the forms of `since`. [default: now].
    `line`: Time line of both moments: `known` (recorded by then, as answers were given) or `happened` (happened by
    then, as known now). Default: known.
    `queries`: Questions whose results are compared, at most 20.
    `mode`: `normal` (for a dialogue), `review` (also replaced memories) or `debug` (all memories). Default: normal.
    `results`: Results of each question, 1 to 100. Default: 10.
    `everything`: Include memories of which only the weight changed.
    `limit`: Most entries, 1 to 1000. Default: 50.
    `offset`: Number of rows to skip.
    `as_of`: With `known`: use only events that had happened by this, on both sides; weights are computed at it.
    `known`: With `happened`: use only events recorded by this, on both sides.
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
    """List turns with memories in their prompts; for one turn, show its memories and the block as it was. Leaves no trace.

    `session`: Only turns of this session.
    `since`: Injected then or later: RFC 3339 with a zone, or a day.
    `until`: Injected then or before; a day is its end.
    `limit`: Most entries, 1 to 1000. Default: 20.
    `offset`: Number of rows to skip.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """The prompt of one answer: each memory as it was, and the block as it was, with proof.

    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """Fold an owner's events without some of them, or under other parameters, and show what differs. Writes nothing.

    `parameters`: Parameters to use, by name.
    `profile`: Use this law instead of the owner's.
    `without`: Exclude the events with these ids or positions; `history` shows both.
    `without_turns`: Exclude these turns, by id.
    `without_sessions`: Exclude everything said in these sessions.
    `without_sources`: Exclude memories of these sources (user, assistant, judge, system or import), or that rest on
    these URIs.
    `without_actors`: Exclude all events of these actors.
    `without_principals`: Exclude all events of these principals: `local`, a name in the settings, a job, or a job with
    its model.
    `without_correlations`: Exclude all events with these correlation ids.
    `without_models`: Exclude everything that these language models decided.
    `alone`: Exclude only the named events, not what was derived from them.
    `queries`: Also compare the order of these queries' results, at most 20.
    `mode`: `normal` (for a dialogue), `review` (also replaced memories) or `debug` (all memories). Default: review.
    `limit`: Results of each query. Default: 10.
    `most`: Most differences, excluded events and remaining memories to list, 1 to 1000 of each; totals are always
    shown. Default: 1000.
    `offset`: Number of rows to skip.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    queries: Sequence[str] = (),
    mode: str | None = None,
    limit: int = 10,
    most: int | None = None,
    offset: int | None = None,
    actor: str | None = None,
    reason: str | None = None,
) -> Plan[Retracted]:
    """Undo events, turns, sessions or everything from a source, with everything derived from it. Shows its reach first.

    `without`: Exclude the events with these ids or positions; `history` shows both.
    `without_turns`: Exclude these turns, by id.
    `without_sessions`: Exclude everything said in these sessions.
    `without_sources`: Exclude memories of these sources (user, assistant, judge, system or import), or that rest on
    these URIs.
    `without_actors`: Exclude all events of these actors.
    `without_principals`: Exclude all events of these principals: `local`, a name in the settings, a job, or a job with
    its model.
    `without_correlations`: Exclude all events with these correlation ids.
    `without_models`: Exclude everything that these language models decided.
    `alone`: Exclude only the named events, not what was derived from them.
    `dry_run`: Show what it would change. Write nothing.
    `reach`: .
    `queries`: Also compare the order of these queries' results, at most 20.
    `mode`: Mode in which the queries are compared: `normal`, `review` or `debug`. Default: normal.
    `limit`: Results of each query. Default: 10.
    `most`: Most events, memories and differences to list, 1 to 1000 of each; totals are always shown. Default: 1000.
    `offset`: Number of rows to skip.
    `actor`: Actor of the event: user, assistant or judge. Default: user.
    `reason`: The reason; kept in the log.
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
    """Show events of the log, also turns and tool results, with filters; --follow waits for new ones.

    `types`: Only events of these types.
    `since`: Happened at or after this; a day begins in the owner's time zone, for a partition in UTC.
    `until`: Happened at or before this; a day ends likewise.
    `recorded_since`: Recorded at or after this.
    `recorded_until`: Recorded at or before this.
    `session`: Only events of this session.
    `principal`: Only events of this principal, by the full name.
    `actor`: Only events of this actor: user, assistant, judge, system or operator.
    `late`: Only events recorded more than five minutes after they happened.
    `turn`: Only events about this turn.
    `memory`: Only events about this memory.
    `correlation`: Only events with this correlation id.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `limit`: Events per page, 1 to 1000. Default: 100.
    `cursor`: Next page: `next` of the page before, with nothing else changed; or `follow`, for newer events.
    `order`: `oldest` or `newest` first. Default: oldest.
    `wait`: Seconds, 0 to 20, to wait for the next event if the page is empty (oldest first).
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
    """Show the events of one partition, of all owners.

    `types`: Only events of these types.
    `since`: Happened at or after this; a day begins in the owner's time zone, for a partition in UTC.
    `until`: Happened at or before this; a day ends likewise.
    `recorded_since`: Recorded at or after this.
    `recorded_until`: Recorded at or before this.
    `session`: Only events of this session.
    `principal`: Only events of this principal, by the full name.
    `actor`: Only events of this actor: user, assistant, judge, system or operator.
    `late`: Only events recorded more than five minutes after they happened.
    `turn`: Only events about this turn.
    `memory`: Only events about this memory.
    `correlation`: Only events with this correlation id.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `limit`: Events per page, 1 to 1000. Default: 100.
    `cursor`: Next page: `next` of the page before, with nothing else changed; or `follow`, for newer events.
    `order`: `oldest` or `newest` first. Default: oldest.
    `wait`: Seconds, 0 to 20, to wait for the next event if the page is empty (oldest first).
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
    """Count an owner's events over both time lines: when they happened and when they were recorded. Leaves no trace.

    `buckets`: Equal parts of each line. Default: 120.
    `groups`: Also count each part by effect: `made`, `changed`, `ended`, `seen`, `talk`.
    `since`: Happened at or after this; a day begins in the owner's time zone.
    `until`: Happened at or before this; a day ends likewise.
    `recorded_since`: Recorded at or after this.
    `recorded_until`: Recorded at or before this.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
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
    """Owners by name, in pages, with their number of memories.

    `prefix`: Only owners whose name starts with this.
    `search`: Only owners whose name contains this, in any case, width, traditional or simplified.
    `after`: Only names after this: `next` of the page before.
    `limit`: Most entries, 1 to 1000. Default: 100.
    """
    told = yield from ask(
        scope, got(of_all(scope, "/v1/owners"), prefix=prefix, search=search, after=after, limit=limit)
    )
    return OwnerPage.decode(told)


def alarms(scope: Scope) -> Plan[AlarmsStanding]:
    """Show active alarms; exit code 1 while something has stopped."""
    told = yield from ask(scope, got(of_all(scope, "/v1/alarms")))
    return AlarmsStanding.decode(told)


def jobs(scope: Scope) -> Plan[JobBoard]:
    """Lifecycle jobs: when each last ran and is due, what waits, and why one failed."""
    told = yield from ask(scope, got(of_all(scope, "/v1/jobs")))
    return JobBoard.decode(told)


def capacity(scope: Scope, *, days: int | None = None) -> Plan[Capacity]:
    """Forecast when memory and disk are full, from the growth of the last days.

    `days`: Days of growth to use, 1 to 366. Default: 7.
    """
    told = yield from ask(scope, got(of_all(scope, "/v1/capacity"), days=days))
    return Capacity.decode(told)


def models(scope: Scope, *, days: int | None = None) -> Plan[ModelsUsed]:
    """Configured models and their use: questions, tokens and costs, by use and day.

    `days`: Days to list, 1 to 366. Default: 30.
    """
    told = yield from ask(scope, got(of_all(scope, "/v1/models"), days=days))
    return ModelsUsed.decode(told)


def heads(scope: Scope) -> Plan[ChainHeads]:
    """Heads of the log's chains. Kept by others, they prove that nothing before them was changed."""
    told = yield from ask(scope, got(of_all(scope, "/v1/heads")))
    return ChainHeads.decode(told)


def check_heads(scope: Scope, text: str, *, most: int | None = None) -> Plan[HeadsCompared]:
    """Compare the log with kept heads: each chain is computed again from its first event.

    `text`: Kept heads: lines of one or several files, or the JSON of `heads`. At most 8,388,608 characters.
    `most`: Most events to read, 1 to 1,000,000; the answer says what was not reached. Default: 200000.
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
    """The head of an owner's chain, now or in the past, and whether it is the given one. Leaves no trace.

    `chain`: Compare with this one: 64 hexadecimal digits.
    `as_of`: Use only events that had happened by this instant, day (its end) or position.
    `known`: Use only events recorded by this instant, day (its end) or position. Can be combined with `as_of`.
    `after`: Wait until this position of the owner is folded (read your writes).
    """
    told = yield from ask(
        scope,
        got(path_of(scope.whose(owner), "heads"), chain=chain, as_of=spelled(as_of), known=spelled(known), after=after),
    )
    return OwnerHead.decode(told)


def me(scope: Scope) -> Plan[WhoAsks]:
    """The caller's own name, key and grants."""
    told = yield from ask(scope, got("/v1/me"))
    return WhoAsks.decode(told)


def access(scope: Scope, *, as_of: datetime | str | None = None, principal: str | None = None) -> Plan[AccessTold]:
    """Keys and grants of every principal, now or on any day, and who set them. Shows no key.

    `as_of`: An instant, a day (its end, UTC), or a position of `:access`. [default: now].
    `principal`: Only this principal.
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
    """Make a key for a principal, optionally with grants. The key is shown only once; the store keeps its public half.

    `principal`: Name of the principal: 1 to 64 letters of any script, digits and . _ @ / -. Recorded with each of its
    events.
    `grants`: Grants from now on. [default: unchanged].
    `expires_at`: When the key ends. [default: never].
    `days`: Or the key ends after this many days, 1 to 36525.
    `reason`: The reason; kept in the log.
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
    """Revoke a key and every token made from it, from the next request on.

    `key_id`: The 8 letters and digits after egl_.
    `reason`: The reason; kept in the log.
    """
    told = yield from ask(scope, posted(of_all(scope, "/v1/keys/revoke"), given({"key_id": key_id, "reason": reason})))
    return KeyRevokedTold.decode(told)


def set_grants(
    scope: Scope, principal: str, grants: Sequence[Mapping[str, object]], *, reason: str | None = None
) -> Plan[GrantsTold]:
    """Replace all grants of a principal.

    `principal`: Name of the principal: 1 to 64 letters of any script, digits and . _ @ / -. Recorded with each of its
    events.
    `grants`: All grants from now on; an empty list removes every right.
    `reason`: The reason; kept in the log.
    """
    told = yield from ask(
        scope,
        posted(of_all(scope, "/v1/grants"), given({"principal": principal, "grants": [*grants], "reason": reason})),
    )
    return GrantsTold.decode(told)


def reads(scope: Scope, *, limit: int = 100, cursor: str | None = None, order: str | None = None) -> Plan[ReadsTold]:
    """List who looked at secrets, exports, hidden memories and pasts with a key, and who was refused.

    `limit`: Most entries, 1 to 1000. Default: 100.
    `cursor`: Next page: `next` of the page before.
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
    negate = Verb(negate)
    set_sensitivity = Verb(set_sensitivity)
    restore_many = Verb(restore_many)
    edit = Verb(edit)
    mention = Verb(mention)
    assess = Verb(assess)
    map = Verb(map_, "map")
    associations = Verb(associations)
    facts = Verb(facts)
    synonyms = Verb(synonyms)
    define_synonym = Verb(define_synonym)
    health = Verb(health)
    fading = Verb(fading)
    review = Verb(review)
    reinforce = Verb(reinforce)
    grade = Verb(grade)
    profile = Verb(profile)
    choose_profile = Verb(choose_profile)
    laws = Verb(laws)
    parameters = Verb(parameters)
    inbox = Verb(inbox)
    accept = Verb(accept)
    amend = Verb(amend)
    reject = Verb(reject)
    set_aside = Verb(set_aside)
    bring_back = Verb(bring_back)
    asides = Verb(asides)
    sources = Verb(sources)
    compare = Verb(compare)
    curves = Verb(curves)
    cleanup = Verb(cleanup)
    episodes = Verb(episodes)
    diff = Verb(diff)
    answers = Verb(answers)
    answer = Verb(answer)
    replay = Verb(replay)
    retract = Verb(retract)
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
