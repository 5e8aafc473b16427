"""What a person decides: the inbox of proposals, and sources to set aside or bring back. No tool sets a source aside."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import (
    OF_MEMORY,
    OFFSET,
    OWNER,
    PLACE,
    REASONED,
    Body,
    Operation,
    Option,
    Parameter,
    flag,
    limit,
    needed,
    text,
    told,
)
from engramlog_server.api.operations.events import SPANS
from engramlog_server.api.work import Work

_ITEM = needed(
    "item", "The inbox item.", "018f3c1e-7b2a-7000-8000-000000000003", option=Option(argument=True, metavar="ITEM")
)
_NAMED = {"it": {"summary": "By its id in the inbox", "value": {"item": "018f3c1e-7b2a-7000-8000-000000000003"}}}

INBOX = Operation(
    name="inbox",
    command="List the inbox; accept, reject or reword one item.",
    help="List changes of the user's own statements by lower sources, and proposals, that wait for a person.",
    call="inbox.page",
    needs=needs.REVIEW,
    verb="inbox",
    path=f"{OWNER}/inbox",
    question=(*PLACE, limit(20, "Most entries, 1 to 100."), OFFSET),
    answer="InboxPage",
    route_help="Changes of the user's own statements by lower sources, and proposals, that wait for a person. Leaves no trace.",
    more="An item has no effect until a person answers: `--accept` applies it, your own words replace it, `--reject` drops"
    " it. Each answer is an event.",
    example="Example: `engramlog inbox alice`, then `engramlog inbox alice ITEM --accept` or `engramlog inbox alice ITEM --reject`",
    folds=True,
)
ACCEPT = Operation(
    name="accept",
    help="Accept an inbox item: its change or proposal takes effect.",
    call="inbox.accept",
    needs=needs.ANSWERS,
    verb="accept",
    path=f"{OWNER}/inbox/accept",
    question=(_ITEM, *REASONED),
    body=Body("Accepting", "Accept an inbox item.", _NAMED),
    answer="Answered",
    statuses=OF_MEMORY,
    example="Example: `engramlog inbox alice 018f3c1e-7b2a-7000-8000-000000000003 --accept`",
)
AMEND = Operation(
    name="amend",
    help="Answer an inbox item with your own words, which become the memory's text.",
    call="inbox.edit",
    needs=needs.ANSWERS,
    verb="amend",
    path=f"{OWNER}/inbox/edit",
    question=(
        _ITEM,
        needed(
            "content",
            "The new text of the memory.",
            "The kiln fires at 1220 degrees",
            option=Option(argument=True, metavar="TEXT"),
        ),
        *REASONED,
    ),
    body=told(
        "Amending",
        "Answer an inbox item with your own words.",
        words={"item": "018f3c1e-7b2a-7000-8000-000000000003", "content": "The kiln fires at 1220 degrees"},
    ),
    answer="Answered",
    statuses=OF_MEMORY,
    example='Example: `engramlog inbox alice 018f3c1e-7b2a-7000-8000-000000000003 "The kiln fires at 1220 degrees"`',
)
REJECT = Operation(
    name="reject",
    help="Reject an inbox item: a change is not made; a proposal is dropped and not remembered again.",
    call="inbox.reject",
    needs=needs.ANSWERS,
    verb="reject",
    path=f"{OWNER}/inbox/reject",
    question=(_ITEM, *REASONED),
    body=Body("Rejecting", "Reject an inbox item.", _NAMED),
    answer="Answered",
    statuses=OF_MEMORY,
    example="Example: `engramlog inbox alice m-018f3c1e-7b2a-7000-8000-000000000002 --reject --reason 'never said so'`",
)


_SOURCE = (
    text("session", "Session (conversation) id.", "s1"),
    text(
        "principal",
        "The principal: `local`, a name in the settings, a job (`job:extract`), or a job with its model.",
        "agent-7",
    ),
    text("of_actor", "The actor: user, assistant, judge, system or operator.", "assistant"),
)
DRY_RUN = flag("dry_run", "Show what it withholds, and its effects on other memories. Write nothing.")
SET_ASIDE = Operation(
    name="set-aside",
    command="Withhold everything from a session, principal or actor, or memories on an older document; --undo brings it back.",
    help="Withhold everything from a session, principal or actor, and undo its effects, until it is brought back.",
    endpoint="set_aside",
    call="sources.set_aside",
    needs=needs.CORRECTS,
    work=Work.HEAVY,
    verb="set_aside",
    path=f"{OWNER}/set-aside",
    question=(*_SOURCE, DRY_RUN, *REASONED),
    body=told(
        "SettingAside",
        "The source to withhold. Several fields must match together.",
        session=("A poisoned session", {"session": "s1", "reason": "it was not Ann"}),
        agent=("An agent that lies", {"principal": "agent-7", "of_actor": "assistant"}),
    ),
    answer="SourceSaid",
    more="Later statements are withheld too. Its negations, revisions and merges do not count; its deletions stay. Review"
    " and debug mode show everything.",
    example="Example: `engramlog set-aside alice --session s1 --dry-run`, then with `--reason` in place of it",
)
BRING_BACK = Operation(
    name="bring-back",
    help="Bring back a source that was set aside: its statements count again.",
    endpoint="bring_back",
    call="sources.bring_back",
    needs=needs.CORRECTS,
    work=Work.HEAVY,
    verb="bring_back",
    path=f"{OWNER}/bring-back",
    question=(*_SOURCE, DRY_RUN, *REASONED),
    body=told(
        "BringingBack",
        "The source to bring back, named as when it was set aside.",
        session=("A session", {"session": "s1", "reason": "it was Ann after all"}),
    ),
    answer="SourceSaid",
    example="Example: `engramlog set-aside alice --undo --session s1`",
)
ASIDES = Operation(
    name="asides",
    help="List withheld sources: since when, why, and how many memories each withholds. Leaves no trace.",
    call="sources.asides",
    needs=needs.AUDITS,
    verb="asides",
    path=f"{OWNER}/set-aside",
    title="Withheld sources",
    question=PLACE,
    answer="SourcesAside",
    example="Example: `engramlog set-aside alice`",
    folds=True,
)
SOURCES = Operation(
    name="sources",
    help="Count an owner's events by session, principal, actor, model and source.",
    call="named_sources.sources",
    needs=needs.AUDITS,
    work=Work.HEAVY,
    verb="sources",
    path=f"{OWNER}/sources",
    title="Who spoke",
    question=(
        Parameter(
            "by",
            list[str],
            "Only these kinds: session, principal, actor, model, source. [default: all]",
            list,
            (["session", "model"],),
            option=Option(("--by",), "Only this kind: session, principal, actor, model or source; repeatable."),
        ),
        text(
            "search",
            "Only names that contain this, in any case, width, traditional or simplified.",
            "supplier",
            bounds={"max_length": 400},
        ),
        SPANS[0].but(description="Happened at or after this; a day begins in the owner's time zone."),
        *SPANS[1:],
        limit(100),
        OFFSET,
        *PLACE,
    ),
    answer="SourcesNamed",
    more="`replay` takes these names: --without-session, --without-principal, --without-actor, --without-model,"
    " --without-source.",
    example="Example: `engramlog events alice --sources --by session --search supplier`",
    folds=True,
)
