"""From an answer to what stood in its prompt."""

from __future__ import annotations

from api.operations.common import OFFSET, PLACE, limit
from api.operations.definition import Operation, Parameter
from api.operations.places import OF_MEMORY, OF_PLACE, OWNER

ANSWERS = Operation(
    name="answers",
    call="answers.answers",
    path=f"{OWNER}/answers",
    title="Answers",
    tag="owners",
    question=(
        Parameter("session", str | None, "Only turns of this session.", None, ("s1",)),
        Parameter(
            "since",
            str | None,
            "Injected then or later: RFC 3339 with a zone, or a day.",
            None,
            ("2026-11-22T00:00:00Z",),
        ),
        Parameter("until", str | None, "Injected then or before; a day is its end.", None, ("2026-11-23T00:00:00Z",)),
        limit(20),
        OFFSET,
        *PLACE,
    ),
    answer="AnsweredTurns",
    told="A page of turns.",
    statuses=OF_PLACE,
    more="With a turn: what was injected for it, each memory as it was then, and the block made again and compared. The turn is"
    " named by its id, by a reply's, or by the position of the injection.",
    route_help="The turns for which memories were put into a prompt, the newest first, with what was replied. Leaves no trace.",
    shown="context:listed",
    example="Example: `engramlog answers alice` or `engramlog answers alice D4:7`",
    folds=True,
)
ANSWER = Operation(
    name="answer",
    call="answers.answer",
    path=f"{OWNER}/answers/{{turn_id}}",
    title="Answer",
    tag="owners",
    question=PLACE,
    answer="AnsweredInFull",
    told="What was injected.",
    statuses=OF_MEMORY,
    help="What stood in the prompt of one answer: each memory as it was then, and the block as it was, with proof.",
    shown="context:whole",
    folds=True,
)
OPERATIONS = (ANSWERS, ANSWER)
