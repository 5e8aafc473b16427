"""Write memories: add, edit, mention, negate, confirm, merge, judge, delete, restore."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import (
    DRY_RUN,
    EVENT_ID,
    KEY,
    MEMORIES,
    MEMORY,
    OCCURRED_AT,
    OF_MEMORY,
    OWNER,
    REASON,
    REASONED,
    SAID,
    Body,
    Operation,
    Option,
    Parameter,
    Record,
    flag,
    limit,
    needed,
    text,
    told,
)
from engramlog_server.projections.choices import CATEGORY, KIND

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


Plain = str | int | float | bool
GROUND = Record(
    "GroundTold",
    "A document on which a memory rests.",
    (
        needed("uri", "What it is.", "https://wiki.example.org/flats"),
        needed("digest", "Its digest then.", "sha256:9f86d081884c7d65"),
    ),
)
_GROUNDS = ([{"uri": "https://wiki.example.org/flats", "digest": "sha256:9f86d081884c7d65"}],)
_METADATA = ({"page": 4, "checked": True},)
TEXT = Option(
    names=("text",),
    argument=True,
    metavar="TEXT|-",
    reads="engramlog_server.api.cli.command:text_of",
    help="The text, or - to read it from standard input.",
)
SUMMARY = text("summary", "A shorter text.", "tea")
SESSION = text("session", "Session (conversation) id.", "s1")
KEYWORD = Option(names=("--keyword",), help="A keyword for searches; repeatable.")
TAG = Option(names=("--tag",), help="A tag of your own; repeatable.")
BECAUSE = Parameter("because", str, "Why it is kept.", "", ("asked for at breakfast",))

ADD = Operation(
    name="add",
    help="Add one memory. Kind and category are `fact` by default.",
    endpoint="remember",
    call="rememberer.add",
    needs=needs.SAYS,
    path=MEMORIES,
    title="Remember",
    question=(
        needed("content", "The text: one statement that is clear by itself.", "I drink tea", option=TEXT),
        text("memory_id", "Id of the memory. [default: generated]", "tea", option=Option(names=("--id",))),
        Parameter(
            "category",
            str,
            "identity, stable_preference, short_term_preference, fact, skill or temporary; decides how fast it fades.",
            CATEGORY,
            ("stable_preference",),
        ),
        Parameter("kind", str, "A word for what it is: preference, lesson, note ...", KIND, ("preference",)),
        text("source", "user, assistant, judge, system or import. [default: the actor]", "user"),
        Parameter("importance", float | None, "0 to 10. [default: by category]", None, (5,)),
        Parameter("confidence", float | None, "0 to 1. [default: 0.6]", None, (0.9,)),
        SUMMARY,
        text("speaker", "Who said it, by name.", "Lin"),
        Parameter("keywords", list[str], "Keywords for searches, at most 50.", [], (["tea"],), option=KEYWORD),
        Parameter("tags", list[str], "Tags of your own, at most 50.", [], (["morning"],), option=TAG),
        Parameter("emotion", float | None, "-1 to 1.", None, (0.5,), option=None),
        text("project", "The project that it belongs to.", "engram"),
        text("task", "The task that it belongs to.", "release"),
        Parameter(
            "sensitivity",
            int | None,
            "Least sensitivity, 0 to 3; rules may raise it.",
            None,
            (1,),
            bounds={"strict": True},
            option=None,
        ),
        Parameter(
            "source_turns",
            list[str],
            "Turns that say it, at most 100.",
            [],
            (["D4:7"],),
            option=Option(names=("--source-turn",), help="A turn that says it; repeatable."),
        ),
        text("corrects", "Id of the memory that it corrects: a link only.", "m1", option=None),
        flag("confirm", "Add it even if a person rejected it before. Only a person can say so."),
        BECAUSE,
        Parameter("grounds", [GROUND], "Documents on which it rests, at most 16.", [], _GROUNDS, option=None),
        Parameter(
            "metadata", dict[str, Plain] | None, "Named values, at most 32 and 4 KiB.", None, _METADATA, option=None
        ),
        SESSION,
        *SAID,
        EVENT_ID.but(option=None),
    ),
    body=told(
        "Remembering",
        "One memory. Omitted fields have their defaults.",
        tea=("By the user, now", {"content": "I drink tea"}),
    ),
    answer="Remembered",
    more="Rules read the text: a password or document number makes it a secret, which only `get --reveal` shows.\nUse"
    " `negate` if it is no longer true, `edit` for better words, and `import turns` for a conversation.",
    route_help="Add one memory. Kind and category are `fact` by default.\n\nIt can be found when this returns. Rules read the"
    " text: a password or document number makes it a secret, which only POST `.../reveal` shows. Negate it if it is"
    " no longer true; edit it for better words.",
    example='Example: `engramlog add alice "I drink tea every morning" --kind preference` or'
    " `fortune | engramlog add alice - --json`",
)
EDIT = Operation(
    name="edit",
    command="Give a memory better words under the same id, or set its sensitivity or tier.",
    help="Give a memory better words under the same id. Older versions stay readable; equal words write nothing.",
    call="rememberer.edit",
    needs=needs.CORRECTS,
    verb="edit",
    path=f"{MEMORY}/edit",
    question=(
        needed("content", "The whole new text.", "I drink green tea", option=TEXT),
        SUMMARY.but(examples=("green tea",)),
        Parameter("keywords", list[str] | None, "Replaces the earlier ones.", None, (["tea"],), option=KEYWORD),
        Parameter("tags", list[str] | None, "Replaces the earlier ones.", None, (["morning"],), option=TAG),
        BECAUSE.but(kind=str | None, default=None),
        Parameter("grounds", [GROUND, None], "Replaces the earlier ones.", None, _GROUNDS, option=None),
        Parameter("metadata", dict[str, Plain] | None, "Replaces the earlier values.", None, _METADATA, option=None),
        DRY_RUN,
        *SAID,
    ),
    body=told(
        "Editing",
        "The new version of a memory. Omitted fields stay.",
        more=("More exact", {"content": "I drink green tea"}),
    ),
    answer="Edited",
    more="Keywords, tags and reason replace earlier ones if they are given. Use `negate` if the memory became untrue.",
    example='Example: `engramlog edit alice coffee "I drink coffee at eight every morning"`',
)
MENTION = Operation(
    name="mention",
    command="Record that a memory was mentioned again; --confirm also undoes its negation.",
    help="Record that a memory was mentioned again, which strengthens it. A mention by the user undoes a negation.",
    call="writer.mention",
    needs=needs.SAYS,
    verb="mention",
    path=f"{MEMORY}/mention",
    question=(
        Parameter("similarity", float | None, "Similarity of the mention to the memory, 0 to 1.", None, (0.9,)),
        TURN_ID,
        SESSION,
        DRY_RUN,
        *SAID,
    ),
    body=Body("Mentioning", "The memory was mentioned again.", NOW),
    answer="Effects",
    example="Example: `engramlog mention alice coffee --turn-id D4:7`",
)
GROUND_REPORT = Operation(
    name="ground",
    help="Report the digest that a document has now. Normal mode withholds memories that rest on another digest.",
    endpoint="report",
    call="grounds.report",
    needs=needs.SAYS,
    path=f"{OWNER}/grounds",
    title="Report a digest",
    question=(
        needed("uri", "URI of the document: 1 to 2,000 visible characters.", "https://wiki.example.org/flats"),
        needed(
            "digest",
            "Its digest now: 8 to 128 letters, digits, _ or -, optionally after a name and a colon.",
            "sha256:9f86d081884c7d65",
        ),
        limit(1_000, "Most memories to change, 1 to 1000; `left` counts the rest."),
        *SAID,
    ),
    body=told(
        "Reporting",
        "A document has this digest now.",
        page=("A page was read again", {"uri": "https://wiki.example.org/flats", "digest": "sha256:9f86d081884c7d65"}),
    ),
    answer="Reported",
    more="Reporting it again changes nothing. If more memories rest on it than the limit, `left` counts them.",
)
