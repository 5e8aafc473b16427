"""`engramlog review`, `profile` and `parameters`."""

from __future__ import annotations

from rich.text import Text

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.command import Call, command
from engramlog_server.api.operations.definition import ACTOR, Option, Parameter
from engramlog_server.api.operations.knowledge import CHOOSE, GRADE, LAWS, PARAMETERS, PROFILE, REVIEW
from engramlog_server.events.errors import refused

SAID = ("actor", "occurred_at", "key")


@command(
    REVIEW,
    GRADE,
    more=(
        Parameter(
            "memory_id",
            str | None,
            "A memory to grade; what is due without.",
            None,
            option=Option(argument=True, metavar="[ID]"),
        ),
    ),
)
def review(call: Call) -> None:
    """What is due, or one of it graded."""
    given = call.given
    owner, memory_id, grade = given["owner"], given["memory_id"], given["grade"]
    if memory_id is None and grade is not None:
        raise refused("ID", None, f"a memory to grade: engramlog review {owner} ID --grade {grade}")
    if memory_id is not None and grade is None:
        raise refused("grade", None, f"0 to 5: engramlog review {owner} {memory_id} --grade 4")
    if memory_id is None:
        call.take("memory_id", "grade", *SAID)
        call.print(call.answer())
        return
    for field in ("at", "as_of", "known"):
        if given[field] is not None:
            raise refused(field, given[field], "not together with --grade; --occurred-at gives the time of the review")
    call.take(*(one.name for one in REVIEW.question))
    call.operation = GRADE
    call.print(call.answer())


@command(PROFILE, CHOOSE.but(question=(ACTOR.but(default="operator"), *CHOOSE.question)))
def profile(call: Call) -> None:
    """The law as it is, or another from here on."""
    given = call.given
    name, settings = given["profile"], given["parameters"]
    chosen = name is not None or bool(settings)
    for field in ("as_of", "known"):
        if given[field] is not None and chosen:
            raise refused(
                field, given[field], "nothing where a profile or a parameter is chosen: that holds from here on"
            )
    if chosen:
        call.take("as_of", "known", "after")
        call.operation = CHOOSE
    else:
        call.take("profile", "parameters", *SAID)
    answer = call.answer()
    call.show(answer)
    if name is not None and not call.json:
        look = f"`engramlog cleanup {given['owner']} --dry-run` shows what it would do"
        out.print(Text(f"The next sweep decides by the {name} law: {look}", "dim"))
    call.end(answer)


@command(
    PARAMETERS,
    more=(
        Parameter("all", bool, "List all of them.", False),
        Parameter("laws", bool, "Show the laws instead: formula, factors and thresholds.", False),
    ),
)
def parameters(call: Call) -> None:
    """The parameters that are recommended, or all."""
    from engramlog_server.api.parameters import RECOMMENDED

    everything, laws = call.take("all", "laws")
    if laws:
        call.operation = LAWS
        call.print(call.answer())
        return
    answer = call.answer()
    if not everything:
        answer = {"parameters": [one for one in answer["parameters"] if one["name"] in RECOMMENDED]}
    call.print(answer)
