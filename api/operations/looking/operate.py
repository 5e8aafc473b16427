"""What operators look at beside the status: jobs, capacity, and what models took."""

from __future__ import annotations

from api.operations.definition import Operation, Parameter

JOBS = Operation(
    name="jobs",
    help="The lifecycle jobs: when each kind last ran and is due, what waits, and why one failed or stopped.",
    call="job_queue.jobs",
    path="/v1/jobs",
    title="Jobs",
    tag="store",
    answer="JobBoard",
    told="Each kind of job, and the jobs that run, wait or failed.",
    shown="generic:answer",
    example="Example: `engramlog status --jobs`, `engramlog status --jobs --json | jq '.jobs[] | select(.state == \"failed\")'`",
)
CAPACITY = Operation(
    name="capacity",
    help="Memory and disk until they are full, at the growth of the last days: what was measured, and what follows from it.",
    call="capacities.capacity",
    path="/v1/capacity",
    title="Capacity",
    tag="store",
    question=(
        Parameter("days", int, "Growth of the last so many days, 1 to 366.", 7, (7,), bounds={"ge": 1, "le": 366}),
    ),
    answer="Capacity",
    told="Memory, disk, and until when they last.",
    shown="generic:answer",
    example="Example: `engramlog status --capacity --days 30`",
)
MODELS = Operation(
    name="models",
    help="The models that are set, and what asking them took: questions, tokens and costs, by use and day.",
    call="model_uses.models",
    path="/v1/models",
    title="Models",
    tag="store",
    question=(
        Parameter("days", int, "Day by day over the last so many, 1 to 366.", 30, (30,), bounds={"ge": 1, "le": 366}),
    ),
    answer="ModelsUsed",
    told="The models that are set, and what asking them took.",
    shown="generic:answer",
    example="Example: `engramlog status --models --days 7`",
)
OPERATIONS = (JOBS, CAPACITY, MODELS)
