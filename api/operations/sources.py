"""Sources: a session, or whoever wrote: listed, set aside, brought back. To set aside is a person's to say: no tool does."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import OFFSET, PLACE, REASONED, limit
from engramlog_server.api.operations.definition import OWNER, Operation, Option, Parameter, flag, text, told
from engramlog_server.api.operations.events import SPANS
from engramlog_server.api.work.patience import Work

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
