"""What people do to memories: negate, confirm, merge, restore, judge; delete and restore are asked with care."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import DRY_RUN, EVENT_ID, KEY, OCCURRED_AT, REASON, REASONED, SAID
from engramlog_server.api.operations.definition import (
    MEMORIES,
    MEMORY,
    OF_MEMORY,
    OWNER,
    Body,
    Operation,
    Option,
    Parameter,
    flag,
    needed,
    text,
)

NOW = {"now": {"summary": "By the user, now", "value": {}}}
TURN_ID = text("turn_id", "The turn in which it was said.", "D4:7")

NEGATE = Operation(
    name="negate",
    help="It is no longer so: demote a memory, keep its history, and optionally say what holds instead.",
    call="writer.negate",
    needs=needs.CORRECTS,
    path=f"{MEMORY}/negate",
    question=(
        text("correction", "What holds instead: becomes a new memory.", "I drink tea now"),
        text("replaced_by", "Or the id of a memory that holds instead.", "tea"),
        text("resolution", "latest_wins, version_keep or weight_balance; by category if not given.", "latest_wins"),
        flag("never", "It was never so: told again by anybody, it becomes no memory. A person says so."),
        TURN_ID,
        text("session", "Id of the conversation.", "s1"),
        DRY_RUN,
        *REASONED,
    ),
    body=Body(
        "Negation",
        "It is no longer so.",
        {"corrected": {"summary": "With what holds instead", "value": {"correction": "I drink tea now"}}},
    ),
    answer="Effects",
    example='Example: `engramlog negate alice coffee --correction "I drink tea now" --reason "said so"`',
)
CONFIRM = Operation(
    name="confirm",
    help="It holds, as if just said again: a negated memory comes back, whoever negated it."
    " What had replaced it stays, both flagged.",
    call="writer.confirm",
    needs=needs.CORRECTS,
    path=f"{MEMORY}/confirm",
    question=(DRY_RUN, *SAID),
    body=Body("Told", "Who says so, and when.", NOW),
    answer="Effects",
    route_help="It holds, as if just said again: a negated memory comes back, whoever negated it. What had replaced it stays, both"
    " flagged. Only the user's word brings it back: from another actor it counts as a mention alone.",
    more="Only the user's word brings it back: from another `--actor` it counts as a mention alone.",
    example="Example: `engramlog mention alice coffee --confirm`",
)
SENSITIVITY = Operation(
    name="sensitivity",
    help="Say how sensitive a memory is, up or down: the one way down from what rules found in its words.",
    call="writer.set_sensitivity",
    needs=needs.CORRECTS,
    path=f"{MEMORY}/sensitivity",
    title="Set the sensitivity",
    question=(
        Parameter(
            "level",
            int,
            "0 public, 1 general, 2 sensitive, 3 secret.",
            examples=(1,),
            bounds={"strict": True},
            option=Option(argument=True, metavar="LEVEL"),
        ),
        needed("reason", "Why, in words; kept in the log.", "a made-up number"),
        DRY_RUN,
        *SAID,
    ),
    body=Body(
        "Judging",
        "How sensitive a memory is, as a person says.",
        {"public": {"summary": "It is no secret", "value": {"level": 0, "reason": "an example out of a book"}}},
    ),
    answer="LevelSet",
    more="It holds for the words that it has now: other words are looked at anew. Only a user or an operator may say so. Of a"
    " turn it names the statements that were drawn from it and are told as before.",
    route_help="A person says how sensitive it is, up or down: the one way down from what rules found. `user` only; agents are"
    " refused. Of a turn `statements` counts what was drawn from it and is told at a lower level, and names the first 20.",
)
WITH = (
    flag("with_sources", "Retract the turns that say it too, and all that was made of them."),
    flag("core", "Core and system memories are meant too, where they are named."),
    flag(
        "never",
        "What they say is rejected too: told again, it becomes no memory. Of one named alone, which no other memory says, it is.",
    ),
    flag("dry_run", "Tell what would be deleted and what would go with it; write nothing."),
    *REASONED,
)
"""How memories are deleted."""
DELETE = Operation(
    name="delete",
    help="Soft delete: hidden at once, kept 30 days; --undo restores. The text stays in the log.",
    apart=True,
    call="deleter.delete_many",
    needs=needs.DELETES,
    path=f"{MEMORY}/delete",
    question=(*WITH, EVENT_ID),
    body=Body(
        "DeletionOfOne",
        "One memory is deleted.",
        {"first": {"summary": "With the turns that say it; told before it is done", "value": {"dry_run": True}}},
    ),
    answer="Removed",
    route_help="Soft delete: hidden at once, kept 30 days, restorable. The text stays in the log.\n\n"
    "What was made only of it goes with it: `also`; `still_said_in` names turns that still say it. A core or system memory is"
    " left alone unless `core` is true, and one that is deleted already: 207, with the reason under `skipped`.",
)
DELETE_MANY = Operation(
    name="delete_many",
    apart=True,
    call="deleter.delete_many",
    needs=needs.DELETES,
    path=f"{MEMORIES}/delete",
    question=(Parameter("ids", list[str], "At most 1,000 ids.", examples=(["coffee", "tea"],), option=None), *WITH),
    body=Body(
        "Deleting",
        "Several memories are deleted.",
        {"two": {"summary": "Two memories, by the user, now", "value": {"ids": ["coffee", "tea"]}}},
    ),
    answer="Deleted",
    statuses=(404, 409, 413, 504, 507),
    help="Soft delete up to 1,000 memories, with what was made only of them; core and system ones are left alone unless `core`.",
    more="404 or 422 where none could ever be deleted.",
)
RESTORE = Operation(
    name="restore",
    help="Undo a soft delete: the memory comes back as it was, and with it what its deletion took along.",
    call="restorer.restore",
    needs=needs.DELETES,
    path=f"{MEMORY}/restore",
    question=(*REASONED, EVENT_ID),
    body=Body("Once", "What may be told again, and changes nothing then.", NOW),
    answer="Restored",
)
RESTORE_MANY = Operation(
    name="restore_many",
    apart=True,
    call="many_restorer.restore_many",
    needs=needs.DELETES,
    verb="restore_many",
    path=f"{MEMORIES}/restore",
    question=(
        Parameter("ids", list[str], "At most 1,000 ids.", examples=(["coffee", "tea"],), option=None),
        flag("dry_run", "Tell what would be restored and what would come with it; write nothing."),
        *REASONED,
    ),
    body=Body(
        "Restoring",
        "Several memories are restored.",
        {"two": {"summary": "Two memories, by the user, now", "value": {"ids": ["coffee", "tea"]}}},
    ),
    answer="RestoredMany",
    statuses=(404, 409, 413, 504, 507),
    help="Undo soft deletes of up to 1,000 memories, and of what went with them; told `deleted` of a deletion, it undoes that.",
    more="404 or 422 where none could ever be restored.",
)
UNMERGE = Operation(
    name="unmerge",
    help="Undo a merge: its sources come back as they were, and the merged memory retires to review mode.",
    call="writer.unmerge",
    needs=needs.CORRECTS,
    path=f"{MEMORY}/unmerge",
    title="Un-merge",
    question=(DRY_RUN, *REASONED),
    body=Body("Reasoned", "What may be told with why.", NOW),
    answer="Effects",
    example="Example: `engramlog unmerge alice coffee-habit`",
)
MERGE = Operation(
    name="merge",
    help="Several memories become a new one; the sources stay readable, and `unmerge` brings them back.",
    call="writer.merge",
    needs=needs.CORRECTS,
    path=f"{OWNER}/merge",
    question=(
        Parameter(
            "sources",
            list[str],
            "Two memories or more.",
            examples=(["m1", "m2"],),
            option=Option(argument=True, metavar="ID ID..."),
        ),
        text(
            "summary",
            "What the merged memory says; what the newest source says, and others add, if not given.",
            "Drinks coffee",
        ),
        text("into", "The new memory's id; made up if not given.", "coffee-habit"),
        DRY_RUN,
        *REASONED,
    ),
    body=Body(
        "Merging",
        "Several memories become a new one.",
        {"two": {"summary": "Two memories into one", "value": {"sources": ["m1", "m2"], "summary": "Drinks coffee"}}},
    ),
    answer="Effects",
    statuses=OF_MEMORY,
    example='Example: `engramlog merge alice m1 m2 m3 --summary "Drinks coffee every morning"`',
)

PROMOTE = Operation(
    name="promote",
    help="As an operator, have a memory stand in every prompt, under *Always holds*, or take it from there.",
    call="writer.promote",
    path=f"{MEMORY}/promote",
    question=(
        Parameter("to", str, "core or system; or fact or episode, which takes it back.", "core", ("core",)),
        REASON,
        OCCURRED_AT,
        KEY,
    ),
    answer="Effects",
    more="You answer for its words: once somebody else revises them it stands there no longer, until it is promoted again.",
)
"""A command alone: over HTTP nobody speaks as an operator."""
"""Those whose routes say nothing that is not here."""
