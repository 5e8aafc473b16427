"""Shapes of imports of older records and of deleting many."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.operations.answers.log import (
    EXAMPLE_CHANGE,
    Change,
    Effects,
    Example,
    Lagging,
    Warned,
    exampled,
)

EXAMPLE_RECORD: Example = {
    "engramlog": 1,
    "memory_id": "coffee",
    "created_at": "2026-11-22T09:30:00Z",
    "content": "I drink coffee every morning",
    "category": "stable_preference",
    "kind": "preference",
    "source": "user",
    "imported": {"access_count": 5, "mention_count": 2},
}
EXAMPLE_ENTRY: Example = {
    "id": "compiler",
    "content": "pin the version of the compiler",
    "category": "pitfall",
    "createdAt": "2026-11-22T09:30:00.000Z",
    "accessCount": 5,
}
EXAMPLE_TEXT = """# Memories of alice

1 memory at 2026-11-22T09:30:00Z, weights by the weighted law; left out: 2 deleted

## coffee

> I drink coffee every morning

- weight: 1.3000, level full
"""


class Skipped(BaseModel):
    """A memory that was not deleted, and why."""

    model_config = exampled(
        {"id": "name", "reason": "memory name is of tier core: core and system memories are left alone"}
    )

    id: str
    reason: str
    reason_code: str | None = Field(
        None, description="Which of the service's sentences `reason` is; null where it is somebody's own."
    )
    reason_values: dict[str, str] | None = Field(None, description="What stands in its places, by their names.")


class DeletedMany(Lagging):
    """What became of a request to delete memories."""

    model_config = exampled(
        {
            "owner": "alice",
            "deleted": ["coffee", "tea"],
            "skipped": [
                {"id": "name", "reason": "memory name is of tier core: core and system memories are left alone"},
                {"id": "milk", "reason": "owner alice has no memory milk (position 3:128); see `engramlog list alice`"},
            ],
            "also": [{"id": "m-coffee-habit", "reason": "made of turn coffee"}],
            "left_alone": [],
            "still_said_in": [],
            "hidden_with": [],
            "rejected": [],
            "dry_run": False,
            "position": "3:132",
            "restorable_until": "2026-12-22T09:30:00Z",
        }
    )

    owner: str
    deleted: list[str] = Field(description="In the order asked for; with `dry_run` what would be.")
    skipped: list[Skipped]
    also: list[Skipped] = Field(default=[], description="What went with them because it was made of them.")
    left_alone: list[Skipped] = Field(default=[], description="Made of them, and still there.")
    still_said_in: list[str] = Field(
        default=[], description="Turns that stand and say it; `with_sources` retracts them."
    )
    hidden_with: list[str] = Field(
        default=[], description="What was merged into them: hidden with them, and there again once they are restored."
    )
    rejected: list[str] = Field(
        default=[], description="Those of which what they say is rejected: told again, it becomes no memory."
    )
    dry_run: bool = Field(default=False, description="Whether nothing was written.")
    position: str = Field(description="Of the last deletion, or the one at which there was nothing to delete.")
    restorable_until: str | None = Field(
        default=None, description="When the next sweep may purge what was deleted now."
    )
    waiting: list[str] | None = Field(
        default=None, description="Written, but parked behind an event of the owner that cannot be folded."
    )
    error: dict[str, Any] | None = Field(default=None, description="What stopped it half-way.")


class DeletedOne(DeletedMany):
    """What became of a request to delete one memory."""

    model_config = exampled(
        {
            "id": "d1-3",
            "changes": [EXAMPLE_CHANGE | {"memory": "d1-3", "decision": "delete"}],
            "owner": "alice",
            "deleted": ["d1-3"],
            "skipped": [],
            "also": [{"id": "m-018f3c1e-7b2a-7000-8000-000000000002", "reason": "made of turn d1-3"}],
            "left_alone": [],
            "still_said_in": [],
            "hidden_with": [],
            "rejected": ["d1-3"],
            "dry_run": False,
            "position": "3:132",
            "restorable_until": "2026-12-22T09:30:00Z",
        }
    )

    id: str
    changes: list[Change]


class Restored(Effects):
    """What restoring a memory did."""

    model_config = exampled(
        {
            "id": "d1-3",
            "also": [
                {"id": "m-018f3c1e-7b2a-7000-8000-000000000002", "reason": "it went with d1-3, or was made of it"}
            ],
            "not_restored": [{"id": "episode-7", "reason": "episode-9 has been made anew of its turns"}],
            "owner": "alice",
            "position": "3:134",
            "changes": [EXAMPLE_CHANGE | {"memory": "d1-3", "decision": "restore"}],
        }
    )

    also: list[Skipped] = Field(default=[], description="What came back with it.")
    not_restored: list[Skipped] = Field(default=[], description="What went with it and stays deleted.")


class RecordsImported(Warned):
    """What an import of older records did, and what stayed out."""

    model_config = exampled(
        {
            "owner": "alice",
            "records": 3,
            "shapes": {"engramlog": 1, "ebbinghaus": 2},
            "appended": 2,
            "already_appended": 1,
            "conflicts": [],
            "repeated": 0,
            "duplicates": [{"line": 5, "memory_id": "coffee", "first_line": 1}],
            "skipped": {"deleted": 1},
            "ignored_fields": {"projectId": 2},
            "made_ordinary": {"core": 1},
            "rejections": 2,
            "rejections_left_out": {"keyed by another secret": 1},
            "said": 2,
            "said_withheld": 0,
            "of_the_log": {"change": 4},
            "flagged": 1,
            "conflicting": [{"id": "tea-2", "other": "tea", "reason": "opposites: hate / like"}],
            "associations_left_out": 0,
            "newest_record": "2026-11-22T09:30:00Z",
            "last_position": "3:131",
            "ids_taken": [],
            "rejected": ["lisbon"],
        }
    )

    owner: str
    records: int = Field(
        description="Records that are in the log now, from this import or an earlier one, or in conflict."
    )
    shapes: dict[str, int]
    appended: int
    already_appended: int
    conflicts: list[dict[str, Any]] = Field(
        description="Records that were imported before with other content; they stay as they were. `line` is the place in the"
        " list, from 1."
    )
    repeated: int = Field(description="Records that say exactly what an earlier one of the request said.")
    duplicates: list[dict[str, Any]] = Field(
        description="Records with the id of an earlier one of the request and something else to say: the first holds."
    )
    skipped: dict[str, int] = Field(description="Exported memories that no longer stood, by status.")
    ignored_fields: dict[str, int] = Field(description="Fields that no memory has a place for.")
    made_ordinary: dict[str, int] = Field(
        description="Records of tier core or system, by tier: ordinary memories now, since only an operator gives a place in"
        " every prompt."
    )
    said: int = Field(default=0, description="Turns and tool results of an export of everything, said again.")
    said_withheld: int = Field(default=0, description="Those whose words were left out when they were exported.")
    of_the_log: dict[str, int] = Field(
        default={},
        description="What else such an export tells, by part: of the log that it comes from, and passed over.",
    )
    flagged: int = Field(
        default=0,
        description="Pairs of a record and a memory that it may contradict: both are flagged, and both stand.",
    )
    conflicting: list[dict[str, str]] = Field(
        default=[], description="The first 50 of these pairs: `id` of the record, `other`, and the `reason`."
    )
    rejections: int = Field(
        default=0,
        description="What was rejected where the records come from, and is here now: told again, it becomes no memory.",
    )
    rejections_left_out: dict[str, int] = Field(
        default={}, description="What was rejected there and could not be carried over, by reason; reject it here."
    )
    associations_left_out: int
    newest_record: str | None
    last_position: str | None
    ids_taken: list[str] = Field(
        description="Ids under which the owner had a memory already, from elsewhere: it stays as it is."
    )
    rejected: list[str] = Field(
        default=[], description="Ids of records that say what the owner rejected: they became no memories."
    )
    failed: list[dict[str, Any]] | None = None
    error: dict[str, Any] | None = None
