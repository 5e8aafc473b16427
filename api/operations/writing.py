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
    told,
)

NOW = {"now": {"summary": "By the user, now", "value": {}}}
TURN_ID = text("turn_id", "Turn in which it was said.", "D4:7")

NEGATE = Operation(
    name="negate",
    help="Mark a memory as no longer true, keep its history, and optionally say what is true now.",
    call="writer.negate",
    needs=needs.CORRECTS,
    verb="negate",
    path=f"{MEMORY}/negate",
    question=(
        text("correction", "The text that is true now; saved as a new memory.", "I drink tea now"),
        text("replaced_by", "Or the id of a memory that is true now.", "tea"),
        text("resolution", "latest_wins, version_keep or weight_balance. [default: by category]", "latest_wins"),
        flag("never", "It was never true: do not remember it again, even if it is repeated. Only a person can say so."),
        TURN_ID,
        text("session", "Session (conversation) id.", "s1"),
        DRY_RUN,
        *REASONED,
    ),
    body=told(
        "Negation",
        "The memory is no longer true.",
        corrected=("With what is true now", {"correction": "I drink tea now"}),
    ),
    answer="Effects",
    example='Example: `engramlog negate alice coffee --correction "I drink tea now" --reason "said so"`',
)
CONFIRM = Operation(
    name="confirm",
    help="Confirm a memory as if the user said it again. A negated memory comes back; its replacement stays, and both are"
    " flagged.",
    call="writer.confirm",
    needs=needs.CORRECTS,
    path=f"{MEMORY}/confirm",
    question=(DRY_RUN, *SAID),
    body=Body("Told", "Actor and time of the statement.", NOW),
    answer="Effects",
    route_help="Confirm a memory as if the user said it again. A negated memory comes back; its replacement stays, and both are"
    " flagged. From another actor than the user it counts only as a mention.",
    more="From another `--actor` than user it counts only as a mention.",
    example="Example: `engramlog mention alice coffee --confirm`",
)
SENSITIVITY = Operation(
    name="sensitivity",
    help="Set how sensitive a memory is. Only this can lower the level that rules found.",
    call="writer.set_sensitivity",
    needs=needs.CORRECTS,
    verb="set_sensitivity",
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
        needed("reason", "The reason; kept in the log.", "a made-up number"),
        DRY_RUN,
        *SAID,
    ),
    body=told(
        "Judging",
        "The sensitivity that a person sets.",
        public=("It is no secret", {"level": 0, "reason": "an example out of a book"}),
    ),
    answer="LevelSet",
    more="The level applies to the current text; rules read another text again. Only a user or operator can set it. For a"
    " turn, the answer names statements extracted from it that keep their level.",
    route_help="Set how sensitive a memory is. Only this can lower the level that rules found. Actor `user` only. For a turn,"
    " `statements` counts extracted statements with a lower level and names the first 20.",
)
WITH = (
    flag("with_sources", "Also retract the turns that say it, and everything made of them."),
    flag("core", "Also delete named core and system memories."),
    flag(
        "never",
        "Do not remember the statements again, even if they are repeated. [default: only if one memory is named, and no"
        " other memory says the same]",
    ),
    flag("dry_run", "Show what would be deleted with it. Write nothing."),
    *REASONED,
)
"""How memories are deleted."""
DELETE = Operation(
    name="delete",
    help="Delete a memory: hidden at once, restorable for 30 days with --undo. The text stays in the log.",
    apart=True,
    call="deleter.delete_many",
    needs=needs.DELETES,
    path=f"{MEMORY}/delete",
    question=(*WITH, EVENT_ID),
    body=told(
        "DeletionOfOne",
        "Delete one memory.",
        first=("With the turns that say it; shown before it is done", {"dry_run": True}),
    ),
    answer="Removed",
    route_help="Delete a memory: hidden at once, restorable for 30 days. The text stays in the log.\n\n`also` lists memories"
    " made only of it, which are deleted too; `still_said_in` lists turns that still say it. Core and system memories"
    " need `core`. 207 with a reason under `skipped` if one is left alone or already deleted.",
)
DELETE_MANY = Operation(
    name="delete_many",
    apart=True,
    call="deleter.delete_many",
    needs=needs.DELETES,
    path=f"{MEMORIES}/delete",
    question=(Parameter("ids", list[str], "At most 1,000 ids.", examples=(["coffee", "tea"],), option=None), *WITH),
    body=told(
        "Deleting", "Delete several memories.", two=("Two memories, by the user, now", {"ids": ["coffee", "tea"]})
    ),
    answer="Deleted",
    statuses=(404, 409, 413, 504, 507),
    help="Delete up to 1,000 memories, with everything made only of them. Core and system memories need `core`.",
    more="404 or 422 if none of them can be deleted.",
)
RESTORE = Operation(
    name="restore",
    help="Undo a deletion: the memory comes back, with everything that was deleted with it.",
    call="restorer.restore",
    needs=needs.DELETES,
    path=f"{MEMORY}/restore",
    question=(*REASONED, EVENT_ID),
    body=Body("Once", "A call that can be repeated and then changes nothing.", NOW),
    answer="Restored",
)
RESTORE_MANY = Operation(
    name="restore_many",
    apart=True,
    call="restorer.restore_many",
    needs=needs.DELETES,
    verb="restore_many",
    path=f"{MEMORIES}/restore",
    question=(
        Parameter("ids", list[str], "At most 1,000 ids.", examples=(["coffee", "tea"],), option=None),
        flag("dry_run", "Show what would be restored with it. Write nothing."),
        *REASONED,
    ),
    body=told(
        "Restoring", "Restore several memories.", two=("Two memories, by the user, now", {"ids": ["coffee", "tea"]})
    ),
    answer="RestoredMany",
    statuses=(404, 409, 413, 504, 507),
    help="Undo deletions of up to 1,000 memories, and of everything deleted with them. Takes the `deleted` of a deletion.",
    more="404 or 422 if none of them can be restored.",
)
UNMERGE = Operation(
    name="unmerge",
    help="Undo a merge: its sources come back, and the merged memory is shown only in review mode.",
    call="writer.unmerge",
    needs=needs.CORRECTS,
    path=f"{MEMORY}/unmerge",
    title="Un-merge",
    question=(DRY_RUN, *REASONED),
    body=Body("Reasoned", "A call with an optional reason.", NOW),
    answer="Effects",
    example="Example: `engramlog unmerge alice coffee-habit`",
)
MERGE = Operation(
    name="merge",
    help="Merge several memories into a new one. The sources stay readable; `unmerge` brings them back.",
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
            "summary", "Text of the merged memory. [default: the newest source, and what others add]", "Drinks coffee"
        ),
        text("into", "Id of the new memory. [default: generated]", "coffee-habit"),
        DRY_RUN,
        *REASONED,
    ),
    body=told(
        "Merging",
        "Merge several memories into a new one.",
        two=("Two memories into one", {"sources": ["m1", "m2"], "summary": "Drinks coffee"}),
    ),
    answer="Effects",
    statuses=OF_MEMORY,
    example='Example: `engramlog merge alice m1 m2 m3 --summary "Drinks coffee every morning"`',
)

PROMOTE = Operation(
    name="promote",
    help="As an operator, put a memory into every prompt, or remove it from there.",
    call="writer.promote",
    path=f"{MEMORY}/promote",
    question=(
        Parameter("to", str, "core or system; fact or episode undo it.", "core", ("core",)),
        REASON,
        OCCURRED_AT,
        KEY,
    ),
    answer="Effects",
    more="You vouch for its text. If anybody else revises it, it leaves the prompts until it is promoted again.",
)
"""A command alone: over HTTP nobody speaks as an operator."""
