"""What is known and how it lives on: topics, map, associations, triples, synonyms; health, fading, reviews, profile, laws."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import (
    AT,
    LINES,
    MEMORY,
    MODE,
    OF_MEMORY,
    OFFSET,
    OWNER,
    PLACE,
    SAID,
    TIMES,
    Operation,
    Option,
    Parameter,
    limit,
    needed,
    text,
    told,
)
from engramlog_server.api.work import Work
from engramlog_server.projections.choices import LEAST_WEIGHT, MOST_NODES

_INSTANT = (*LINES, AT)
TOPIC = needed("topic", "The topic, in any language.", "咖啡", "the deployment", option=Option(argument=True))
ASSESS = Operation(
    name="assess",
    help="Assess what is known about a topic: score, advice, best evidence and figures.",
    call="knower.assess",
    needs=needs.READ,
    verb="assess",
    path=f"{OWNER}/assess",
    question=(TOPIC, *_INSTANT),
    answer="Assessment",
    statuses=OF_MEMORY,
    example='Example: `engramlog assess alice "the deployment"`',
)
MAP = Operation(
    name="map",
    help="Map what is known about a topic: best results, associations and clusters.",
    call="knower.map",
    needs=needs.READ,
    work=Work.HEAVY,
    verb="map",
    path=f"{OWNER}/map",
    question=(
        text(
            "topic",
            "The topic, in any language. [default: the strongest memories]",
            "咖啡",
            "the deployment",
            option=Option(argument=True, metavar="[TOPIC]"),
        ),
        Parameter("depth", int, "Steps from the matches, 1 to 4.", 2, (2,)),
        Parameter("least", float, "Least weight of links to follow.", LEAST_WEIGHT, (0.3,)),
        Parameter("limit", int, "Most nodes, 1 to 1000.", MOST_NODES, (50,)),
        MODE,
        *_INSTANT,
    ),
    answer="KnowledgeMap",
    statuses=OF_MEMORY,
    more="Edges show why: associations, shared keywords, and similar meaning if there is an embedder.",
    example="Example: `engramlog map alice coffee --out coffee.svg` or `engramlog map alice`",
)
ASSOCIATIONS = Operation(
    name="associations",
    help="Show a memory's associations as a tree: keywords, task, time, links, recalled together.",
    call="knower.associations",
    needs=needs.READ,
    verb="associations",
    path=f"{MEMORY}/associations",
    question=(Parameter("depth", int, "Steps, 1 to 4.", 1, (2,)), MODE.but(default="review"), *_INSTANT),
    answer="AssociationTree",
    shown="memories:associated",
    example="Example: `engramlog associations alice coffee --depth 2`",
)
FACTS = Operation(
    name="facts",
    help="List triples with the memories that back them. Leaves no trace.",
    call="facts.facts",
    needs=needs.READ,
    verb="facts",
    path=f"{OWNER}/facts",
    question=(text("about", "Only triples with this subject or object.", "coffee", "拉面"), limit(50), OFFSET, *PLACE),
    answer="FactsKnown",
    more="A triple exists while a memory that is not deleted or purged backs it. Secret memories back no shown triple.",
    example="Example: `engramlog facts alice` or `engramlog facts alice --about 拉面`",
    folds=True,
)
SYNONYMS = Operation(
    name="synonyms",
    command="List an owner's synonyms; with two words, define a pair.",
    help="The owner's synonyms, and the words that a search for a word uses. Leaves no trace.",
    call="synonyms.synonyms",
    needs=needs.OF_THE_LOG,
    verb="synonyms",
    path=f"{OWNER}/synonyms",
    question=(
        text("of", "Show the words that a search for this word uses, also built-in synonyms.", "coffee", "咖啡"),
        *PLACE,
    ),
    answer="SynonymsKnown",
    example="Example: `engramlog synonyms alice` or `engramlog synonyms alice --of coffee`",
    folds=True,
)
SYNONYM = Operation(
    name="synonym",
    help="Define a synonym for this owner's searches, at most 256 pairs; similarity 0 removes one.",
    endpoint="define",
    call="synonyms.define",
    needs=needs.CORRECTS,
    verb="define_synonym",
    path=f"{OWNER}/synonyms",
    title="Define a synonym",
    question=(
        needed("word", "A word or phrase of at most 100 characters.", "coffee", option=Option(argument=True)),
        needed("synonym", "The synonym.", "咖啡", option=Option(argument=True, metavar="SYNONYM")),
        Parameter("similarity", float, "Similarity, 0 to 1; 0 removes the pair.", 0.8, (0.9,)),
        *SAID,
    ),
    body=told(
        "Defining",
        "Two words that mean the same.",
        pair=("In two languages", {"word": "coffee", "synonym": "咖啡", "similarity": 0.9}),
    ),
    answer="SynonymSaid",
    example="Example: `engramlog synonyms alice coffee 咖啡 --similarity 0.9`",
)


_PAGE = (*TIMES, limit(50), OFFSET)
HEALTH = Operation(
    name="health",
    help="List live memories by Ebbinghaus strength, strongest first, whatever the profile.",
    call="living.health",
    needs=needs.READ,
    verb="health",
    path=f"{OWNER}/health",
    question=_PAGE,
    answer="MemoryHealth",
    more="Green from 70, yellow from 30, red below. Shows when the owner's law archives or deletes, if it does. Leaves no"
    " trace.",
    shown="status:health",
    example="Example: `engramlog health alice`, `engramlog health alice --at 2027-01-01T00:00:00Z`",
    folds=True,
)
FADING = Operation(
    name="fading",
    help="List live memories with an Ebbinghaus strength under 30, weakest first. Leaves no trace.",
    call="living.fading",
    needs=needs.READ,
    verb="fading",
    path=f"{OWNER}/fading",
    question=_PAGE,
    answer="Fading",
    shown="status:fading",
    example="Example: `engramlog fading alice --limit 20`",
    folds=True,
)
REVIEW = Operation(
    name="review",
    help="List memories that are due for review, or grade one.",
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
        limit(10, "Most memories, 1 to 100."),
        text("kind", "Only memories of this kind.", "lesson"),
    ),
    answer="ReviewsDue",
    route_help="Memories that are due for review, most urgent first, and how many the least importance left out. Leaves no"
    " trace.",
    more="Before its first grade a memory is due one day after its creation, and 2, 4, 8 ... days (at most 90) after an"
    " access. Then the owner's scheduler decides: sm2 or fsrs (`engramlog profile OWNER --set scheduler=fsrs`). The"
    " list leaves no trace.",
    example="Example: `engramlog review alice` to see what is due, then `engramlog review alice coffee --grade 4`",
    folds=True,
)
REINFORCE = Operation(
    name="reinforce",
    help="Record a use or manual review, which strengthens a memory. Shows each law before and after.",
    call="living.reinforce",
    needs=needs.SAYS,
    verb="reinforce",
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
        text("from_memory", "The memory that led there; with used and manual_review their association grows.", "tea"),
        text(
            "turn_id",
            "The turn in whose answer it was used, or the turn of the reply; `answers` shows the outcome.",
            "D4:7",
            option=Option(("--turn",)),
        ),
        *SAID,
    ),
    body=told(
        "Reinforcing",
        "A use or a manual review.",
        used=("A memory led to it", {"outcome": "used", "from_memory": "tea"}),
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
    body=told("Grading", "A graded review.", known=("Known after a moment", {"grade": 4})),
    answer="Graded",
    help="Grade a review. Shows when the memory is due again by SM-2 and FSRS, and which decides. Counts as an access.",
)
PROFILE = Operation(
    name="profile",
    help="Show an owner's law and parameters, or choose another law.",
    call="living.profile",
    needs=needs.READ,
    verb="profile",
    path=f"{OWNER}/profile",
    question=PLACE,
    answer="OwnerProfile",
    route_help="The owner's law and parameters.",
    more="A choice changes no memory, because every law can read every history.",
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
            "The law; `engramlog parameters --laws` lists them.",
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
                help="A parameter, name=value; repeatable. To undo it, set its default, which `profile OWNER` shows.",
                reads="engramlog_server.api.parameters:parse_settings",
            ),
        ),
        *SAID,
    ),
    body=told(
        "Choosing",
        "A law, parameters, or both.",
        law=("Another law", {"profile": "ebbinghaus"}),
        parameters=("Another parameter", {"parameters": {"initial_stability": 48}}),
        required=True,
    ),
    answer="OwnerProfile",
    help="Choose an owner's law, change parameters, or both. No memory changes.",
)
LAWS = Operation(
    name="laws",
    help="List every law: formula, factors, default thresholds, source. Opens no store.",
    call="engramlog_server.api.parameters:laws",
    verb="laws",
    path="/v1/laws",
    answer="Laws",
    route_help="Every law: formula, factors, default thresholds, source.",
)
PARAMETERS = Operation(
    name="parameters",
    help="List every parameter of laws and modes: default, bounds, meaning. Opens no store.",
    call="engramlog_server.api.parameters:parameters",
    verb="parameters",
    path="/v1/parameters",
    answer="ParametersKnown",
    more="`engramlog profile OWNER --set NAME=VALUE` sets one; `replay --set` shows its effect on the past.",
    route_help="Every parameter that POST `.../profile` and `.../replay` take: kind, default, bounds, meaning.",
    example="Example: `engramlog parameters` or `engramlog parameters --all --json | jq '.parameters[].name'`",
)
