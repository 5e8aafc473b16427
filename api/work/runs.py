"""What services are told of jobs: those run by `consumers`, which `api` may not import, and `ops.wiring` hands them in."""

from __future__ import annotations

from typing import Any, Protocol


class RunReport(Protocol):
    """What a job's run came to for one owner."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, with `owner`; what else is told depends on the job."""
