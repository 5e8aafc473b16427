"""What routes are given: the application, ids from the path, and questions from the query, all with examples."""

from __future__ import annotations

from typing import Annotated, NamedTuple, cast
from urllib.parse import unquote

from fastapi import Depends, Path, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from api.application import Application
from api.http.feed import Feeds
from api.http.metrics import Metrics
from api.revealing import By
from events.standing import Speaker as Speaks
from events.standing import claimed

EXAMPLES_OF_OWNERS = ["alice", "团队/α@x+1"]
EXAMPLES_OF_IDS = ["coffee", "D1:3", "a/b"]


class Parts(NamedTuple):
    """What the routes of one FastAPI application stand on."""

    application: Application
    metrics: Metrics
    feeds: Feeds


async def parts_of(request: Request) -> Parts:
    """The parts of the application that was asked."""
    return cast("Parts", request.app.state.parts)


async def application_of(request: Request) -> Application:
    """The application itself."""
    return cast("Parts", request.app.state.parts).application


def _decoded(segment: str) -> str:
    """A path segment as it was meant: the guard hands paths on percent-encoded, so that `%2F` separates nothing."""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise ValueError("percent-encoded UTF-8") from None


Asked = Annotated[Application, Depends(application_of)]
AskedParts = Annotated[Parts, Depends(parts_of)]
Owner = Annotated[
    str,
    BeforeValidator(_decoded),
    Path(
        description="Whose memories: a user, an agent, a team. Percent-encoded; a `/` inside as `%2F`.",
        examples=EXAMPLES_OF_OWNERS,
    ),
]
MemoryId = Annotated[
    str,
    BeforeValidator(_decoded),
    Path(description="A memory's id. Percent-encoded; a `/` inside as `%2F`.", examples=EXAMPLES_OF_IDS),
]


MOST_OFFSET = 1_000_000_000
"""Largest number of rows to pass over."""
Offset = Annotated[int, Field(ge=0, le=MOST_OFFSET, description="How many to pass over.", examples=[0])]


class Question(BaseModel):
    """Query parameters; an unknown name is refused, since a misspelt `as_of` would answer about the present."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


AS_OF: str | None = Field(
    default=None,
    description="Answer as of an instant or the end of a day (what had happened by then), or a position.",
    examples=["2023-10-22T12:00:00Z", "2023-10-22", "3:128"],
)
KNOWN: str | None = Field(
    default=None,
    description="Answer from what was recorded by an instant, the end of a day or a position: as it was given then."
    " With `as_of` what had happened by that, as it was known by this.",
    examples=["2026-11-22T12:00:00Z", "2026-11-22", "3:128"],
)


class LinesAsked(Question):
    """Which past, on both time lines."""

    as_of: str | None = AS_OF
    known: str | None = KNOWN


class AsOfAsked(LinesAsked):
    """When, and after what."""

    after: str | None = Field(
        default=None,
        description="Wait until this position of the owner is folded (read your writes): 504 after two seconds,"
        " 409 where it is parked or does not exist.",
        examples=["3:128"],
    )


class HistoryAsked(AsOfAsked):
    """A page of a change log."""

    limit: int = Field(default=100, description="How many changes a page, 1 to 1000.", examples=[100])
    cursor: str | None = Field(
        default=None,
        description="The next page: what `next` said, with nothing else changed. What was folded meanwhile comes too.",
        examples=["WyJiMSIsMTMxLDEyLCJhYiJd"],
    )
    order: str = Field(default="oldest", description="`oldest` or `newest` first.", examples=["oldest", "newest"])


class TimeAsked(AsOfAsked):
    """When, after what, and at which instant weights are computed."""

    at: str | None = Field(
        default=None,
        description="Compute weights at this instant, past or future, instead of now.",
        examples=["2023-10-22T12:00:00Z"],
    )


class WhyAsked(TimeAsked):
    """The same with a page of changes."""

    limit: int = Field(default=1_000, description="How many changes a page, 1 to 1000.", examples=[100])
    cursor: str | None = Field(
        default=None,
        description="The next page: what `next` said, with nothing else changed; `history` takes it too.",
        examples=["WyJiMSIsMTMxLDEyLCJhYiJd"],
    )
    order: str = Field(default="oldest", description="`oldest` or `newest` first.", examples=["oldest", "newest"])


class ModeAsked(TimeAsked):
    """The same under a mode."""

    mode: str = Field(
        default="normal",
        description="`normal` (dialogue), `review` (looking back) or `debug` (everything).",
        examples=["normal", "review", "debug"],
    )


class SearchAsked(ModeAsked):
    """A search."""

    q: str = Field(description="What to look for, in any language.", examples=["咖啡", "When did she go to Paris?"])
    limit: int = Field(default=5, description="How many results a page, 1 to 100.", examples=[5])
    cursor: str | None = Field(
        default=None,
        description="The next page: what `next` said, with nothing else changed. It is read as of the first page.",
        examples=["WyIzOjEyOCIsMTcwMCw1LCJhYiJd"],
    )
    ranking: str = Field(
        default="conversation",
        description="`conversation` (text, and its place in the conversation), `text`, `published` (seed 001's score),"
        " `overlap` (seed 004's) or `associative` (what activation reaches among the hits).",
        examples=["conversation", "text", "published", "overlap", "associative"],
    )
    search_mode: str = Field(
        default="hybrid",
        description="`keyword`, `semantic` or `hybrid`; hybrid goes by words where no embedder is configured.",
        examples=["hybrid", "keyword", "semantic"],
    )
    keywords: list[str] = Field(
        default=[], description="Keywords, any of which a result must have.", examples=[["kiln"]]
    )
    kinds: list[str] = Field(default=[], description="Kinds, of which a result must be one.", examples=[["lesson"]])
    categories: list[str] = Field(
        default=[], description="Categories, of which a result must have one.", examples=[["identity"]]
    )
    tags: list[str] = Field(
        default=[],
        description="Context tags, any of which a result must have: late_night, weekend, debugging ... or a producer's own.",
        examples=[["late_night", "debugging"]],
    )
    feeling: str | None = Field(
        default=None, description="positive, negative or urgent: a mood that results must have.", examples=["positive"]
    )
    session: str | None = Field(default=None, description="Only from this session.", examples=["s1"])
    project: str | None = Field(default=None, description="Only of this project.", examples=["engram"])
    near_project: str | None = Field(
        default=None, description="Memories of this project stand higher under `overlap`.", examples=["engram"]
    )
    speaker: str | None = Field(default=None, description="Only what this speaker said.", examples=["Alice"])
    since: str | None = Field(
        default=None,
        description="Created then or later: a day, an instant, or words such as `last week`, `上周`.",
        examples=["2026-05-01", "last week"],
    )
    until: str | None = Field(
        default=None, description="Created up to the end of that day or time; the same forms.", examples=["2026-06-01"]
    )
    min_relevance: float = Field(default=0.0, description="Only at least so relevant, 0 to 1.", examples=[0.6])
    min_weight: float | None = Field(default=None, description="Only of at least this weight.", examples=[0.3])
    associations: bool = Field(
        default=False, description="Tell also what the hits bring to mind, with the way there.", examples=[True]
    )
    trace: bool = Field(
        default=True, description="Record that these memories were shown, after the answer.", examples=[True]
    )
    inspect: bool = Field(
        default=False,
        description="Somebody only looks: recorded in any mode and at any time, and no memory gains by it.",
        examples=[False],
    )


class InstantAsked(LinesAsked):
    """As of when, and at which instant."""

    at: str | None = Field(default=None, description="Compute at this instant.", examples=["2023-10-22T12:00:00Z"])


class AssessAsked(InstantAsked):
    """A topic."""

    topic: str = Field(description="What it is about, in any language.", examples=["咖啡", "the deployment"])


class MapAsked(AssessAsked):
    """A topic, and how far around it."""

    depth: int = Field(default=2, description="Steps over associations, 1 to 4.", examples=[2])
    least: float = Field(default=0.3, description="Associations weaker than this are not followed.", examples=[0.3])
    limit: int = Field(default=200, description="Nodes at the most, 1 to 1000.", examples=[50])
    mode: str = Field(default="normal", description="`normal`, `review` or `debug`.", examples=["normal"])


class AssociationsAsked(InstantAsked):
    """How far from a memory."""

    depth: int = Field(default=1, description="Steps, 1 to 4.", examples=[2])
    mode: str = Field(default="review", description="`normal`, `review` or `debug`.", examples=["review"])


class ListAsked(ModeAsked):
    """A page of an owner's memories."""

    limit: int = Field(default=50, description="How many, 1 to 1000.", examples=[50])
    offset: Offset = 0


def _never_by_get(value: bool) -> bool:
    if value:
        raise ValueError(
            "false: secrets are shown by POST alone (.../memories/{memory_id}/reveal, .../export), which records it"
        )
    return value


Unrevealed = Annotated[bool, AfterValidator(_never_by_get)]
"""`reveal` of a question, which reveals nothing."""


class GetAsked(TimeAsked):
    """One memory."""

    reveal: Unrevealed = Field(
        default=False, description="Refused: POST .../reveal shows a secret, and records it.", examples=[False]
    )
    trace: bool = Field(default=True, description="Record that this memory was shown.", examples=[True])
    inspect: bool = Field(
        default=False,
        description="Somebody only looks: recorded at any time, and the memory gains nothing by it.",
        examples=[False],
    )


def _speaker(actor: str) -> str:
    if problem := claimed(actor, Speaks("http")):
        raise PydanticCustomError("speaker", "{rule}", {"rule": problem.allowed})
    return actor


Speaker = Annotated[str, AfterValidator(_speaker)]
"""For whom a caller speaks: whoever holds a token is not the operator by that."""


KEY: str | None = Field(
    default=None,
    description="Any text of your own for this call, at most 200 characters: sent again under it, it changes nothing and answers as"
    " it did. Sent with something else: 409.",
    examples=["message-17/negate"],
)


class Told(BaseModel):
    """A JSON body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    actor: Speaker = Field(default="user", description="Who says so: user, assistant or judge.", examples=["user"])
    occurred_at: str | None = Field(
        default=None,
        description="When it happened, if not now: RFC 3339 with a zone.",
        examples=["2026-11-22T09:30:00Z"],
    )
    key: str | None = KEY


class Reasoned(Told):
    """What may be told with why."""

    reason: str = Field(default="", description="Why, in words; kept in the log.", examples=["asked at the desk"])


class Revealing(BaseModel):
    """A secret is to be shown."""

    model_config = ConfigDict(extra="forbid")

    actor: Speaker = Field(default="user", description="Who asks: user, assistant or judge.", examples=["user"])
    reason: str = Field(default="", description="Why, in words.", examples=["asked at the desk"])
    as_of: str | None = Field(default=None, description="As of an instant, a day or a position.", examples=["3:128"])
    known: str | None = Field(
        default=None, description="As recorded by an instant, a day or a position.", examples=["3:128"]
    )
    at: str | None = Field(default=None, description="Compute at this instant.", examples=["2023-10-22T12:00:00Z"])
    after: str | None = Field(default=None, description="Wait until this position is folded.", examples=["3:128"])
    trace: bool = Field(
        default=True,
        description="Record also what was shown; who asked is recorded in any case, and the memory gains nothing by either.",
        examples=[True],
    )

    @property
    def by(self) -> By:
        """Who asks, and why."""
        return By("http", self.actor, self.reason)


class Deletion(Reasoned):
    """A memory is deleted."""

    with_sources: bool = Field(
        default=False, description="Retract the turns that say it too, and all that was made of them.", examples=[True]
    )
    core: bool = Field(
        default=False, description="Core and system memories are meant too, where they are named.", examples=[True]
    )
    dry_run: bool = Field(
        default=False,
        description="Tell what would be deleted and what would go with it; write nothing.",
        examples=[True],
    )


class Once(Reasoned):
    """What may be told again, and changes nothing then."""

    event_id: str | None = Field(
        default=None,
        description="A UUID for the event: the same request under it may be sent again, and changes nothing then.",
        examples=["018f3c1e-7b2a-7000-8000-000000000003"],
    )


class DeletionOfOne(Deletion, Once):
    """One memory is deleted."""


class Negation(Reasoned):
    """It is no longer so."""

    correction: str | None = Field(
        default=None, description="What holds instead: becomes a new memory.", examples=["I drink tea now"]
    )
    replaced_by: str | None = Field(
        default=None, description="Or the id of a memory that holds instead.", examples=["tea"]
    )
    resolution: str | None = Field(
        default=None,
        description="latest_wins, version_keep or weight_balance; by category if not given.",
        examples=["latest_wins"],
    )
    turn_id: str | None = Field(default=None, description="The turn in which it was said.", examples=["D4:7"])


class Judging(Told):
    """How sensitive a memory is, as a person says."""

    level: int = Field(strict=True, description="0 public, 1 general, 2 sensitive, 3 secret.", examples=[1])
    reason: str = Field(description="Why, in words; kept in the log.", examples=["a made-up number"])


class Merging(Reasoned):
    """Several memories become a new one."""

    sources: list[str] = Field(description="Two memories or more.", examples=[["m1", "m2"]])
    summary: str | None = Field(
        default=None,
        description="What the merged memory says; the newest source's text if not given.",
        examples=["Drinks coffee"],
    )
    into: str | None = Field(
        default=None, description="The new memory's id; made up if not given.", examples=["coffee-habit"]
    )


class Replaying(BaseModel):
    """An owner's events folded anew, in memory."""

    model_config = ConfigDict(extra="forbid")

    set: dict[str, float | int | str | bool] = Field(
        default_factory=dict, description="Parameters to force, by name.", examples=[{"user_factor": 1.3}]
    )
    without: list[str] = Field(
        default_factory=list,
        description="Leave out these event ids.",
        examples=[["018f3c1e-7b2a-7000-8000-000000000001"]],
    )
    without_actors: list[str] = Field(
        default_factory=list, description="Leave out all events of these actors.", examples=[["judge"]]
    )
    query: str | None = Field(
        default=None, description="Compare the order of this query's results too.", examples=["coffee"]
    )
    mode: str = Field(default="review", description="Mode of the query.", examples=["review"])
    limit: int = Field(default=10, description="How many results of the query.", examples=[10])
    as_of: str | None = AS_OF
    known: str | None = KNOWN
    at: str | None = Field(
        default=None, description="Compute weights at this instant.", examples=["2026-11-22T09:30:00Z"]
    )
    after: str | None = Field(default=None, description="Wait until this position is folded.", examples=["3:128"])


class Discarding(BaseModel):
    """One parked event to drop for good."""

    model_config = ConfigDict(extra="forbid")

    position: str = Field(description="The parked position to drop.", examples=["3:128"])
    reason: str = Field(
        default="", description="Why, in words; kept in the log.", examples=["written by a broken producer"]
    )
    actor: Speaker = Field(default="user", description="Who says so: user, assistant or judge.", examples=["user"])
