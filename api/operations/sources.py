"""Sources: a session, or whoever wrote: listed, set aside, brought back. To set aside is a person's to say: no tool does."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import OFFSET, PLACE, REASONED, limit
from engramlog_server.api.operations.definition import OWNER, Body, Operation, Option, Parameter, flag, text
from engramlog_server.api.operations.events import SPANS
from engramlog_server.api.work.patience import Work

_SOURCE = (
    text("session", "A conversation, by its id.", "s1"),
    text(
        "principal",
        "Who brought it: `local`, a name in the settings of a side, a job (`job:extract`), a job with its model.",
        "agent-7",
    ),
    text("of_actor", "In whose name it was said: user, assistant, judge, system or operator.", "assistant"),
)
DRY_RUN = flag("dry_run", "Tell what it withholds and what it did to others; write nothing.")
SET_ASIDE = Operation(
    name="set-aside",
    command="Withhold everything a session, principal or actor said, or what rests on an older page; --undo takes it back.",
    help="Withhold all that a session, a principal or an actor said and says, and undo what it did, until it is brought back.",
    endpoint="set_aside",
    call="sources.set_aside",
    needs=needs.CORRECTS,
    work=Work.HEAVY,
    verb="set_aside",
    path=f"{OWNER}/set-aside",
    question=(*_SOURCE, DRY_RUN, *REASONED),
    body=Body(
        "SettingAside",
        "A source whose words are withheld; what is named together must hold together.",
        {
            "session": {"summary": "A poisoned session", "value": {"session": "s1", "reason": "it was not Ann"}},
            "agent": {"summary": "An agent that lies", "value": {"principal": "agent-7", "of_actor": "assistant"}},
        },
    ),
    answer="SourceSaid",
    more="What it says later is withheld too. Its negations, revisions and merges count for nothing meanwhile; what it deleted"
    " stays deleted. Review and debug mode show all of it.",
    example="Example: `engramlog set-aside alice --session s1 --dry-run`, then with `--reason` in place of it",
)
BRING_BACK = Operation(
    name="bring-back",
    help="What a source said counts again: it was set aside, and is no more.",
    endpoint="bring_back",
    call="sources.bring_back",
    needs=needs.CORRECTS,
    work=Work.HEAVY,
    verb="bring_back",
    path=f"{OWNER}/bring-back",
    question=(*_SOURCE, DRY_RUN, *REASONED),
    body=Body(
        "BringingBack",
        "A source that counts again, named as it was when it was set aside.",
        {"session": {"summary": "A session", "value": {"session": "s1", "reason": "it was Ann after all"}}},
    ),
    answer="SourceSaid",
    example="Example: `engramlog set-aside alice --undo --session s1`",
)
ASIDES = Operation(
    name="asides",
    help="Which sources are set aside, since when and why, and how many memories each withholds. Leaves no trace.",
    call="sources.asides",
    needs=needs.AUDITS,
    verb="asides",
    path=f"{OWNER}/set-aside",
    title="What is set aside",
    question=PLACE,
    answer="SourcesAside",
    example="Example: `engramlog set-aside alice`",
    folds=True,
)
SOURCES = Operation(
    name="sources",
    help="Who spoke to an owner: sessions, principals, actors, models, sources, by the names that `replay` strikes; in figures.",
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
            "Only names of these: session, principal, actor, model, source. [default: all]",
            list,
            (["session", "model"],),
            option=Option(
                ("--by",), "Only names of this: session, principal, actor, model or source; as often as needed."
            ),
        ),
        text(
            "search",
            "Only names that hold this, in any case, width, and traditional or simplified.",
            "supplier",
            bounds={"max_length": 400},
        ),
        SPANS[0].but(description="Happened at this instant or later; a day begins by the owner's clocks."),
        *SPANS[1:],
        limit(100),
        OFFSET,
        *PLACE,
    ),
    answer="SourcesNamed",
    more="Each name is one that `replay` strikes: --without-session, --without-principal, --without-actor, --without-model,"
    " --without-source.",
    example="Example: `engramlog events alice --sources --by session --search supplier`",
    folds=True,
)
