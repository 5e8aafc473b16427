"""How memories live on: health, fading, reviews, reinforcing, the owner's profile, and the laws there are."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import OFFSET, PLACE, SAID, TIMES, limit
from engramlog_server.api.operations.definition import MEMORY, OWNER, Body, Operation, Option, Parameter, text

_PAGE = (*TIMES, limit(50), OFFSET)
HEALTH = Operation(
    name="health",
    help="All live memories by how well they are held (Ebbinghaus strength, whatever the profile), strongest first.",
    call="living.health",
    needs=needs.READ,
    verb="health",
    path=f"{OWNER}/health",
    question=_PAGE,
    answer="MemoryHealth",
    more="Green from 70, yellow from 30, red below. Where the owner's law archives or deletes by itself,"
    " also when. Leaves no trace.",
    shown="health:health",
    example="Example: `engramlog health alice`, `engramlog health alice --at 2027-01-01T00:00:00Z`",
    folds=True,
)
FADING = Operation(
    name="fading",
    help="Live memories that are nearly forgotten (Ebbinghaus strength under 30), weakest first. Leaves no trace.",
    call="living.fading",
    needs=needs.READ,
    verb="fading",
    path=f"{OWNER}/fading",
    question=_PAGE,
    answer="Fading",
    shown="health:fading",
    example="Example: `engramlog fading alice --limit 20`",
    folds=True,
)
REVIEW = Operation(
    name="review",
    help="What is due for review, the most pressing first; or grade one, which says when it is due again.",
    call="living.review",
    needs=needs.READ,
    verb="review",
    path=f"{OWNER}/review",
    title="Due for review",
    question=(
        *TIMES,
        Parameter(
            "min_importance",
            float,
            "Least importance, 0 to 1: 0.4 confidence + 0.3 consolidation + 0.3 |emotion|. At confidence 0.6 the default"
            " leaves out most.",
            0.5,
            (0.3,),
        ),
        limit(10, "How many that are due, 1 to 100."),
        text("kind", "Only memories of this kind.", "lesson"),
    ),
    answer="ReviewsDue",
    route_help="What is due for review, most pressing first, and how much the least importance left out. Leaves no trace.",
    more="Before its first grade a memory is due a day after it was made, and after accesses 2, 4, 8 ... days (at most 90) after"
    " the last; from the first grade on the owner's scheduler decides: sm2, or fsrs"
    " (`engramlog profile OWNER --set scheduler=fsrs`). Looking at the list leaves no trace.",
    example="Example: `engramlog review alice` to see what is due, then `engramlog review alice coffee --grade 4`",
    folds=True,
)
REINFORCE = Operation(
    name="reinforce",
    help="It was put to use, or looked at again: hold it better. Tells what each law reads before and after.",
    call="living.reinforce",
    needs=needs.SAYS,
    path=f"{MEMORY}/reinforce",
    question=(
        Parameter(
            "outcome",
            str,
            "used, task_success, task_failure or manual_review. Stability x 1.2, 2.0, 0.8 or 1.5; `used` also adds 0.3 to"
            " the importance (at most once in two hours), and a task grades a review 5 or 2.",
            "manual_review",
            ("used",),
        ),
        text("from_memory", "The memory that led there: with used and manual_review their association grows.", "tea"),
        text(
            "turn_id",
            "The turn in whose answer it was put to use, or that of the reply: `answers` tells the outcome beside it.",
            "D4:7",
            option=Option(("--turn",)),
        ),
        *SAID,
    ),
    body=Body(
        "Reinforcing",
        "It was put to use, or looked at again.",
        {"used": {"summary": "A memory led to it", "value": {"outcome": "used", "from_memory": "tea"}}},
    ),
    answer="Reinforced",
    example="Example: `engramlog reinforce alice coffee` or `engramlog reinforce alice coffee --outcome used --from-memory tea`",
)
GRADE = Operation(
    name="grade",
    call="living.grade",
    needs=needs.ANSWERS,
    verb="grade",
    path=f"{MEMORY}/grade",
    question=(
        Parameter(
            "grade",
            int,
            "How well it was known, 0 (forgotten) to 5 (at once).",
            examples=(4,),
            bounds={"strict": True},
            option=Option(kind=int | None, default=None),
        ),
        *SAID,
    ),
    body=Body("Grading", "It was reviewed.", {"known": {"summary": "Known after a moment", "value": {"grade": 4}}}),
    answer="Graded",
    help="It was reviewed: when it is due again by SM-2 and by FSRS, and which of them decides. Counts as an access.",
)
PROFILE = Operation(
    name="profile",
    help="The law that an owner's recall and lifecycle go by, with its parameters; or choose another from here on.",
    call="living.profile",
    needs=needs.READ,
    verb="profile",
    path=f"{OWNER}/profile",
    question=PLACE,
    answer="OwnerProfile",
    route_help="The law that the owner's recall and lifecycle go by, with its parameters.",
    more="It changes the owner, not its memories: any law can read any history, so another choice loses nothing.",
    example="Example: `engramlog profile alice`, `engramlog profile alice ebbinghaus` or"
    " `engramlog profile alice --set initial_stability=48 --set failure_restarts_clock=true`",
)
CHOOSE = Operation(
    name="choose",
    call="living.choose",
    needs=needs.CORRECTS,
    verb="choose_profile",
    path=f"{OWNER}/profile",
    title="Choose a profile",
    question=(
        text(
            "profile",
            "A law to live by; `engramlog parameters --laws` lists them.",
            "ebbinghaus",
            option=Option(names=("name",), argument=True, metavar="[NAME]", completes="laws"),
        ),
        Parameter(
            "parameters",
            dict[str, float | int | str | bool],
            "Parameters by name; to undo one, set its default again.",
            dict,
            ({"initial_stability": 48},),
            option=Option(
                names=("--set",),
                kind=list[str],
                help="A parameter, name=value; as often as needed. To undo one, set its default again: `profile OWNER` shows it.",
                reads="engramlog_server.api.parameters:parse_settings",
            ),
        ),
        *SAID,
    ),
    body=Body(
        "Choosing",
        "A law to live by, parameters, or both.",
        {
            "law": {"summary": "Another law", "value": {"profile": "ebbinghaus"}},
            "parameters": {"summary": "Another parameter", "value": {"parameters": {"initial_stability": 48}}},
        },
        required=True,
    ),
    answer="OwnerProfile",
    help="Choose the law, change parameters, or both. It changes the owner, not its memories: nothing is lost by it.",
)
LAWS = Operation(
    name="laws",
    help="Every law by which memories can be weighed: formula, factors, thresholds at the defaults, source. Opens no store.",
    call="engramlog_server.api.laws:laws",
    verb="laws",
    path="/v1/laws",
    answer="Laws",
    route_help="Every law by which memories can be weighed: formula, factors, thresholds at the defaults, source.",
)
PARAMETERS = Operation(
    name="parameters",
    help="Every parameter that can be set of the laws and modes: default, bounds, and what it is. Opens no store.",
    call="engramlog_server.api.parameters:parameters",
    verb="parameters",
    path="/v1/parameters",
    answer="ParametersKnown",
    more="`engramlog profile OWNER --set NAME=VALUE` sets one for an owner; `replay --set` shows what it would have made of the"
    " past.",
    route_help="Every parameter that POST `.../profile` and `.../replay` take: its kind, default, bounds and what it is.",
    example="Example: `engramlog parameters` or `engramlog parameters --all --json | jq '.parameters[].name'`",
)
