"""What would be without some of a history, and undoing it: the events that are struck are named in one way for both."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import ACTOR, MODE, OFFSET, REASON, TIMES, limit
from engramlog_server.api.operations.definition import OWNER, Operation, Option, Parameter, flag, text, told
from engramlog_server.api.work.patience import Work


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
