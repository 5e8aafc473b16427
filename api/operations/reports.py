"""What is made of a history: laws compared, prompts, episodes, extraction, cleanup; changes, answers, replays and retractions."""

from __future__ import annotations

from typing import Literal

from engramlog_server.api.choices import (
    BUDGET,
    BY_HAND,
    HEIGHT,
    HEIGHTS,
    LANGUAGES,
    MODEL,
    RULES,
    THEMES,
    WIDTH,
    WIDTHS,
)
from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import (
    ACTOR,
    EXPAND,
    MEMORY,
    MODE,
    OF_MEMORY,
    OFFSET,
    OWNER,
    OWNERS,
    PLACE,
    REASON,
    TIMES,
    TRACE,
    TRUST,
    Operation,
    Option,
    Parameter,
    flag,
    limit,
    needed,
    text,
    told,
)
from engramlog_server.api.operations.knowledge import MAP
from engramlog_server.api.work import Work
from engramlog_server.projections.choices import WORKING_MESSAGES

COMPARE = Operation(
    name="compare",
    help="Compare the laws on the same history: what each shows, or one memory over time. Writes nothing.",
    call="comparer.compare",
    needs=needs.REPLAYS,
    work=Work.HEAVY,
    verb="compare",
    path=f"{OWNER}/compare",
    title="Compare laws",
    question=(
        *TIMES,
        limit(20, "Number of memories, 1 to 1000.").but(
            option=Option(("-k", "--limit"), "Number of memories, 1 to 1000. [default: 20]", None, int | None)
        ),
        OFFSET.but(option=None),
    ),
    answer="Compared",
    route_help="Weights of the owner's memories under every law, what each law shows, and where they differ most. Leaves no"
    " trace.",
    example="Example: `engramlog compare alice` or"
    " `engramlog compare alice coffee --since 2026-01-01T00:00:00Z --out coffee.svg`",
    folds=True,
)
CURVES = Operation(
    name="curves",
    call="comparer.curves",
    needs=needs.REPLAYS._replace(told="replay", of_past=True),
    work=Work.HEAVY,
    verb="curves",
    path=f"{MEMORY}/compare",
    title="Compare laws over time",
    question=(
        *PLACE,
        text(
            "since",
            "First instant. [default: its creation]",
            "2026-01-01T00:00:00Z",
            option=Option(help="With an ID: first instant. [default: its creation]"),
        ),
        text(
            "until",
            "Last instant, past or future. [default: now]",
            "2026-11-22T09:30:00Z",
            option=Option(help="With an ID: last instant, past or future. [default: now]"),
        ),
        Parameter(
            "points",
            int,
            "Evenly spaced instants, 2 to 2000.",
            200,
            (200,),
            option=Option(
                help="With an ID: number of evenly spaced instants, 2 to 2000. [default: 200]",
                default=None,
                kind=int | None,
            ),
        ),
    ),
    answer="Curves",
    help="One memory's weights under every law at each instant, with the events that changed it. Leaves no trace.",
    folds=True,
)
CONTEXT = Operation(
    name="context",
    help="Print the block for a prompt: profile, conversation so far, related memories, tool results.",
    call="contexts.context",
    needs=needs.READ_CONTEXT,
    path=f"{OWNER}/context",
    question=(
        needed(
            "text",
            "Text of the message to answer.",
            "What should I drink tonight?",
            "今晚喝什么好？",
            option=Option(argument=True),
        ),
        text("session", "Its session. [default: that of the newest turn]", "s1"),
        text("turn_id", "Its turn id; the injection is recorded once for it.", "D4:7", option=Option(("--turn",))),
        text("project", "The project in which it is said: its memories are related as if it were named.", "engram"),
        Parameter("budget", int, "Most tokens of the block, estimated.", BUDGET, (800,)),
        Parameter(
            "related",
            Literal["auto", "always", "never"],
            "Search for related memories: if the message needs them (auto), always, or never.",
            "auto",
            ("auto",),
        ),
        Parameter("threshold", float, "Least closeness of a related memory, 0 to 1.", 0.0, (0.0,)),
        Parameter(
            "messages",
            int,
            "Messages of the conversation so far, 0 to 30; 0 if the agent has them.",
            WORKING_MESSAGES,
            (30,),
        ),
        Parameter(
            "sensitive",
            bool | None,
            "Include sensitive memories (illness, pay, addresses, phone numbers); never secrets. [default: if the caller"
            " may read them]",
            None,
            (True,),
        ),
        TRUST,
        text("language", "Language of titles: `en` or `zh`. [default: that of the message]", "zh"),
        Parameter(
            "stable_budget",
            int | None,
            "Most tokens of the stable part. [default: half; a quarter of a budget under 1,000]",
            None,
            (400,),
        ),
        EXPAND,
        OWNERS,
        *PLACE,
        TRACE.but(
            description="Record that this block was used in a prompt, once per turn.",
            default=False,
            option=Option(("--trace/--no-trace",)),
        ),
    ),
    body=told(
        "ContextAsked",
        "A message to answer.",
        turn={"text": "What should I drink tonight?", "session": "s1", "turn_id": "D4:7", "budget": 800},
        中文={"text": "今晚喝什么好？", "messages": 0},
    ),
    answer="ContextBlock",
    route_help="The block for a prompt. Records nothing unless `trace` is true.",
    more="Standard output has only the block; standard error says what did not fit.",
    example='Example: `engramlog context alice "What should I drink tonight?" --session s1 --budget 800`',
    folds=True,
    together="engramlog_server.api.services.sharing:block_together",
)
CLEANUP = Operation(
    name="cleanup",
    help="Run lifecycle jobs now: record levels, delete what the owner's law lets go, purge.",
    call="cleaner.clean",
    needs=needs.CLEANS,
    work=Work.HEAVY,
    verb="cleanup",
    path=f"{OWNER}/cleanup",
    title="Clean up",
    question=(
        flag("dry_run", "Show what a run would do. Write nothing."),
        Parameter(
            "jobs",
            list[str],
            "sweep, review, merge, link, replay, levels, abstract or suggest. [default: sweep and review]",
            list(BY_HAND),
            (["sweep", "review"],),
            option=Option(
                ("--job",),
                "sweep, review, merge, link, replay, levels, abstract, suggest or embed; repeatable. [default: sweep and"
                " review]",
            ),
        ),
    ),
    body=told("Cleaning", "Which jobs, and whether to write.", preview=("What would be done?", {"dry_run": True})),
    answer="Cleaned",
    route_help="Run lifecycle jobs now: record levels, delete what the owner's law lets go, purge.\n\nDeletions can be restored"
    " for 30 days. A purge removes a text from everything computed; the log still holds it.",
)
EPISODES = Operation(
    name="episodes",
    help="Make episodes of ten messages each, after they left working memory or their session ended.",
    call="episodes.make",
    needs=needs.MAKES,
    work=Work.HEAVY,
    verb="episodes",
    path=f"{OWNER}/episodes",
    title="Make episodes",
    question=(flag("dry_run", "Show what would be made. Write nothing; ask no model."),),
    body=told("Making", "Whether to write.", preview=("What would be made?", {"dry_run": True})),
    answer="Left",
    statuses=(409, 503, 504, 507),
    route_help="Make episodes of messages that left working memory or of sessions that ended, and record which memories replies"
    " rested on.\n\n`up` does it every ten minutes. Nothing is done twice.",
)
EXTRACT = Operation(
    name="extract",
    help="Extract typed memories from unread turns, by rules or by a model.",
    apart=True,
    call="extractor.extract",
    needs=needs.MAKES,
    work=Work.HEAVY,
    path=f"{OWNER}/extract",
    question=(
        flag("dry_run", "Show what each statement would become. Write nothing."),
        Parameter(
            "by", str, "`rules`, or `model`: the language model of `ENGRAMLOG_MODEL` is asked.", RULES, (RULES, MODEL)
        ),
    ),
    body=told(
        "Extracting", "By rules or a model, and whether to write.", preview=("What would be kept?", {"dry_run": True})
    ),
    answer="Extracted",
    route_help="Extract typed memories from unread turns. Nothing is done twice.\n\nIf turns are `left` because a model had no"
    " time, send it again. A dry run by a model covers the next ten turns.",
)

_PANEL = "Picture"


def _size(name: str, usual: int, bounds: tuple[int, int], narrow: int) -> Parameter:
    told = f"Pixels, {bounds[0]} to {bounds[1]}."
    return Parameter(name, int, told, usual, (narrow,), option=Option(panel=_PANEL))


LOOK = (
    Parameter(
        "language", str, "Language of its labels: `en` or `zh`.", LANGUAGES[0], LANGUAGES, option=Option(panel=_PANEL)
    ),
    Parameter("theme", str, "`light` or `dark`.", THEMES[0], THEMES, option=Option(panel=_PANEL)),
    _size("width", WIDTH, WIDTHS, 390),
    _size("height", HEIGHT, HEIGHTS, 500),
)
CURVES_SVG = CURVES.but(
    name="curves-svg",
    endpoint="curves_picture",
    path=f"{CURVES.path}.svg",
    title="Picture of the laws over time",
    question=(*CURVES.question, *LOOK),
    answer="",
    help="The comparison of one memory as a picture: curves, thresholds and events. Leaves no trace.",
)
MAP_SVG = MAP.but(
    name="map-svg",
    endpoint="map_picture",
    path=f"{MAP.path}.svg",
    title="Picture of the map",
    question=(*MAP.question, *LOOK),
    answer="",
    help="The map as a picture: memories by weight, associations, and named clusters. Leaves no trace.",
)


DIFF = Operation(
    name="diff",
    help="Show what changed between two moments, who changed it, and why.",
    call="differ.diff",
    needs=needs.REPLAYS._replace(of_past=True),
    work=Work.HEAVY,
    path=f"{OWNER}/diff",
    question=(
        needed(
            "since",
            "From this moment: an instant, the end of a day, or a position.",
            "2026-03-03",
            "2026-03-03T12:00:00Z",
        ),
        text(
            "until",
            "To this moment; the forms of `since`. [default: now]",
            "2026-11-22",
            "2026-11-22T12:00:00Z",
            option=Option(help="To this moment; the forms of --since. [default: now]"),
        ),
        Parameter(
            "line",
            str,
            "Time line of both moments: `known` (recorded by then, as answers were given) or `happened` (happened by"
            " then, as known now).",
            "known",
            ("known", "happened"),
        ),
        Parameter(
            "queries",
            list[str],
            "Questions whose results are compared, at most 20.",
            [],
            (["coffee"],),
            option=Option(("--query",), "A question whose results are compared; repeatable, at most 20."),
        ),
        MODE,
        Parameter("results", int, "Results of each question, 1 to 100.", 10, (10,)),
        flag("everything", "Include memories of which only the weight changed."),
        limit(50),
        OFFSET,
        text(
            "as_of",
            "With `known`: use only events that had happened by this, on both sides; weights are computed at it.",
            "2026-03-03",
        ),
        text("known", "With `happened`: use only events recorded by this, on both sides.", "2026-11-22"),
    ),
    answer="Diff",
    shown="reports:differences",
    more="Each memory comes with the events that changed it and their principals. Without such an event, time changed it.",
    example="Example: `engramlog diff alice --since 2026-03-03 --query coffee` or"
    " `engramlog diff alice --since 2026-01-01 --until 2026-06-01 --line happened`",
    folds=True,
)
DIFF_POSTED = DIFF.but(
    verb="diff",
    endpoint="diff_posted",
    title="Diff, asked in a body",
    body=told(
        "Differing",
        "Two moments of an owner: for questions that are too long for an address.",
        since=("What changed since?", {"since": "2026-03-03", "queries": ["coffee"]}),
        required=True,
    ),
)

ANSWERS = Operation(
    name="answers",
    help="List turns with memories in their prompts; for one turn, show its memories and the block as it was. Leaves no"
    " trace.",
    call="answers.answers",
    needs=needs.AUDITS,
    work=Work.HEAVY,
    verb="answers",
    path=f"{OWNER}/answers",
    question=(
        text("session", "Only turns of this session.", "s1"),
        text("since", "Injected then or later: RFC 3339 with a zone, or a day.", "2026-11-22T00:00:00Z"),
        text("until", "Injected then or before; a day is its end.", "2026-11-23T00:00:00Z"),
        limit(20),
        OFFSET,
        *PLACE,
    ),
    answer="AnsweredTurns",
    more="With a turn: its memories as they were, and the block, made again and compared. Name the turn by its id, the"
    " reply's id, or the position of the injection.",
    route_help="The turns with memories in their prompts, newest first, with the replies. Leaves no trace.",
    example="Example: `engramlog answers alice` or `engramlog answers alice D4:7`",
    folds=True,
)
ANSWER = Operation(
    name="answer",
    call="answers.answer",
    needs=needs.AUDITS._replace(of_past=True),
    work=Work.HEAVY,
    verb="answer",
    path=f"{OWNER}/answers/{{turn_id}}",
    question=PLACE,
    answer="AnsweredInFull",
    statuses=OF_MEMORY,
    help="The prompt of one answer: each memory as it was, and the block as it was, with proof.",
    shown="reports:whole",
    folds=True,
)


def _struck(name: str, description: str, option: str, example: str) -> Parameter:
    return Parameter(name, list[str], description, list, ([example],), option=Option((f"--{option}",)))


STRIKES = (
    _struck(
        "without",
        "Exclude the events with these ids or positions; `history` shows both.",
        "without",
        "018f3c1e-7b2a-7000-8000-000000000001",
    ).but(examples=(["018f3c1e-7b2a-7000-8000-000000000001"], ["3:128"])),
    _struck("without_turns", "Exclude these turns, by id.", "without-turn", "D4:7"),
    _struck("without_sessions", "Exclude everything said in these sessions.", "without-session", "s1"),
    _struck(
        "without_sources",
        "Exclude memories of these sources (user, assistant, judge, system or import), or that rest on these URIs.",
        "without-source",
        "import",
    ),
    _struck("without_actors", "Exclude all events of these actors.", "without-actor", "judge"),
    _struck(
        "without_principals",
        "Exclude all events of these principals: `local`, a name in the settings, a job, or a job with its model.",
        "without-principal",
        "agent-7",
    ),
    _struck(
        "without_correlations",
        "Exclude all events with these correlation ids.",
        "without-correlation",
        "018f3c1e-7b2a-7000-8000-000000000002",
    ),
    _struck("without_models", "Exclude everything that these language models decided.", "without-model", "qwen3:8b"),
)
"""What is struck; the union of all that is named."""
ALONE = Parameter("alone", bool, "Exclude only the named events, not what was derived from them.", False, (False,))
QUERIES = Parameter(
    "queries",
    list[str],
    "Also compare the order of these queries' results, at most 20.",
    list,
    (["coffee", "what does she drink?"],),
    option=Option(("--query",), "Also compare the order of this query's results; repeatable, at most 20."),
)
MOST = Parameter(
    "most",
    int,
    "Most differences, excluded events and remaining memories to list, 1 to 1000 of each; totals are always shown.",
    1000,
    (1000,),
)
REPLAY = Operation(
    name="replay",
    help="Fold an owner's events without some of them, or under other parameters, and show what differs. Writes nothing.",
    call="replayer.replay",
    needs=needs.REPLAYS._replace(of_past=True),
    work=Work.HEAVY,
    verb="replay",
    path=f"{OWNER}/replay",
    question=(
        Parameter(
            "parameters",
            dict[str, float | int | str | bool],
            "Parameters to use, by name.",
            dict,
            ({"user_factor": 1.3},),
            option=Option(
                ("--set",),
                "A parameter, name=value; repeatable.",
                kind=list[str],
                reads="engramlog_server.api.parameters:parse_settings",
            ),
        ),
        text("profile", "Use this law instead of the owner's.", "tiered"),
        *STRIKES,
        ALONE,
        QUERIES,
        MODE.but(default="review"),
        limit(10, "Results of each query."),
        MOST,
        OFFSET,
        *TIMES,
    ),
    body=told(
        "Replaying",
        "Fold an owner's events again, in memory.",
        faster=("What if they forgot faster?", {"parameters": {"user_factor": 1.3}, "queries": ["coffee"]}),
        assistant=("What if the assistant had said nothing?", {"without_actors": ["assistant"], "queries": ["coffee"]}),
        required=True,
    ),
    answer="Replayed",
    more="Also excludes everything derived from the excluded events, and lists it. Memories that stay for another reason"
    " are listed too.",
    shown="generic:answer",
    example="Example: `engramlog replay alice --without-session s1 --query coffee`, `engramlog replay --all --set user_factor=1.3`",
    folds=True,
    task="replaying",
)
RETRACT = Operation(
    name="retract",
    help="Undo events, turns, sessions or everything from a source, with everything derived from it. Shows its reach first.",
    call="retracter.retract",
    needs=needs.CORRECTS._replace(also=lambda _told: ("audit",)),
    work=Work.HEAVY,
    verb="retract",
    path=f"{OWNER}/retract",
    question=(
        *STRIKES,
        ALONE,
        flag("dry_run", "Show what it would change. Write nothing."),
        text(
            "reach",
            "The digest that the dry run showed. If it differs now, nothing is written (409).",
            "5d41402abc4b2a76b9719d911017c592",
        ),
        QUERIES,
        MODE.but(description="Mode in which the queries are compared: `normal`, `review` or `debug`."),
        limit(10, "Results of each query."),
        MOST.but(
            description="Most events, memories and differences to list, 1 to 1000 of each; totals are always shown."
        ),
        OFFSET,
        ACTOR,
        REASON,
    ),
    body=told(
        "Retracting",
        "The selection to undo: first with `dry_run`, then with the `reach` that it returned.",
        look=("What would it reach?", {"without_actors": ["assistant"], "dry_run": True, "queries": ["coffee"]}),
        do=(
            "Do it",
            {
                "without_actors": ["assistant"],
                "reach": "5d41402abc4b2a76b9719d911017c592",
                "reason": "it made things up",
            },
        ),
        required=True,
    ),
    answer="Retracted",
    more="Sessions, principals, actors and models are set aside; memories are deleted, merges undone, and other events"
    " reversed, if they have an inverse. Events without one are listed and stay. The log keeps everything.",
    shown="generic:answer",
    example="Example: `engramlog retract alice --without-turn D4:7`, then again with the reach that it printed: `--reach"
    " DIGEST`",
    folds=True,
    task="retracting",
)
