"""Classes of work: one table that says of every route, tool and resource what it takes. A test finds those without one.

Heavy is what folds or reads all of an owner, however little is asked of the answer. What is light by its class and long by
its owner (a history of 50,000 events, an `as_of`) moves to the heavy lane by itself: see `api.work.patience.weigh`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class Work(Enum):
    """What a question takes, and so which lane it runs in."""

    LIGHT = "light"
    """A moment, whatever the owner's size."""
    APPEND = "append"
    """Reads and writes events as they were sent: a moment for a few, seconds for many long ones. Ends if its client leaves."""
    HEAVY = "heavy"
    """Folds, reads or writes all of an owner, or of the store."""
    STREAM = "stream"
    """Heavy, and answered piece by piece: it also has a place among those that are being sent."""
    WATCH = "watch"
    """What supervisors ask: it waits in no lane, and has threads of its own, so that it is answered when nothing else is."""
    FREE = "free"
    """Answered where requests are received: asks no store, waits without a thread, or takes a lane for each look by itself."""


_OWNER = "/v1/owners/{owner}"
_MEMORY = f"{_OWNER}/memories/{{memory_id}}"
ROUTES: Mapping[tuple[str, str], Work] = {
    ("GET", "/health"): Work.FREE,
    ("GET", "/docs"): Work.FREE,
    ("GET", "/docs/page.css"): Work.FREE,
    ("GET", "/docs/page.js"): Work.FREE,
    ("GET", "/docs/request.js"): Work.FREE,
    ("GET", "/v1/openapi.json"): Work.FREE,
    ("GET", "/"): Work.FREE,
    ("GET", "/console/{file:path}"): Work.FREE,
    ("POST", "/v1/console/codes"): Work.FREE,
    ("POST", "/v1/console/codes/state"): Work.FREE,
    ("POST", "/v1/console/session"): Work.FREE,
    ("POST", "/v1/console/session/end"): Work.FREE,
    ("GET", f"{_OWNER}/feed"): Work.FREE,
    ("POST", "/v1/command"): Work.FREE,
    ("GET", f"{_OWNER}/events"): Work.FREE,
    ("GET", "/v1/partitions/{partition}/events"): Work.FREE,
    ("GET", "/ready"): Work.WATCH,
    ("GET", "/metrics"): Work.WATCH,
    ("GET", "/v1/status"): Work.WATCH,
    ("GET", "/v1/alarms"): Work.WATCH,
    ("POST", "/v1/alarms/clear"): Work.WATCH,
    ("GET", "/v1/dead"): Work.WATCH,
    ("GET", "/v1/jobs"): Work.WATCH,
    ("GET", "/v1/capacity"): Work.WATCH,
    ("GET", "/v1/models"): Work.WATCH,
    ("POST", "/v1/events"): Work.APPEND,
    ("GET", "/v1/laws"): Work.LIGHT,
    ("GET", "/v1/parameters"): Work.LIGHT,
    ("GET", "/v1/schema"): Work.LIGHT,
    ("GET", "/v1/dead/{owner}"): Work.LIGHT,
    ("POST", "/v1/dead/{owner}/retry"): Work.LIGHT,
    ("POST", "/v1/dead/{owner}/discard"): Work.LIGHT,
    ("GET", f"{_OWNER}/heads"): Work.LIGHT,
    ("GET", f"{_OWNER}/search"): Work.LIGHT,
    ("GET", f"{_OWNER}/history"): Work.LIGHT,
    ("GET", f"{_OWNER}/stats"): Work.LIGHT,
    ("GET", f"{_OWNER}/assess"): Work.LIGHT,
    ("GET", f"{_OWNER}/facts"): Work.LIGHT,
    ("GET", f"{_OWNER}/times"): Work.LIGHT,
    ("GET", f"{_OWNER}/synonyms"): Work.LIGHT,
    ("GET", f"{_OWNER}/set-aside"): Work.LIGHT,
    ("POST", f"{_OWNER}/set-aside"): Work.HEAVY,
    ("POST", f"{_OWNER}/bring-back"): Work.HEAVY,
    ("POST", f"{_OWNER}/synonyms"): Work.LIGHT,
    ("POST", f"{_OWNER}/grounds"): Work.LIGHT,
    ("GET", f"{_OWNER}/embedding"): Work.LIGHT,
    ("GET", f"{_OWNER}/health"): Work.LIGHT,
    ("GET", f"{_OWNER}/fading"): Work.LIGHT,
    ("GET", f"{_OWNER}/review"): Work.LIGHT,
    ("GET", f"{_OWNER}/inbox"): Work.LIGHT,
    ("POST", f"{_OWNER}/inbox/accept"): Work.LIGHT,
    ("POST", f"{_OWNER}/inbox/edit"): Work.LIGHT,
    ("POST", f"{_OWNER}/inbox/reject"): Work.LIGHT,
    ("GET", f"{_OWNER}/profile"): Work.LIGHT,
    ("POST", f"{_OWNER}/profile"): Work.LIGHT,
    ("POST", f"{_OWNER}/context"): Work.LIGHT,
    ("POST", f"{_OWNER}/merge"): Work.LIGHT,
    ("POST", f"{_OWNER}/memories/delete"): Work.LIGHT,
    ("POST", f"{_OWNER}/memories"): Work.LIGHT,
    ("GET", f"{_OWNER}/memories"): Work.LIGHT,
    ("GET", f"{_OWNER}/counts"): Work.LIGHT,
    ("POST", f"{_OWNER}/memories/restore"): Work.LIGHT,
    ("GET", _MEMORY): Work.LIGHT,
    ("GET", f"{_MEMORY}/why"): Work.LIGHT,
    ("GET", f"{_MEMORY}/above"): Work.LIGHT,
    ("GET", f"{_MEMORY}/history"): Work.LIGHT,
    ("GET", f"{_MEMORY}/provenance"): Work.LIGHT,
    ("GET", f"{_MEMORY}/associations"): Work.LIGHT,
    ("POST", f"{_MEMORY}/edit"): Work.LIGHT,
    ("POST", f"{_MEMORY}/mention"): Work.LIGHT,
    ("POST", f"{_MEMORY}/negate"): Work.LIGHT,
    ("POST", f"{_MEMORY}/confirm"): Work.LIGHT,
    ("POST", f"{_MEMORY}/sensitivity"): Work.LIGHT,
    ("POST", f"{_MEMORY}/delete"): Work.LIGHT,
    ("POST", f"{_MEMORY}/restore"): Work.LIGHT,
    ("POST", f"{_MEMORY}/reveal"): Work.LIGHT,
    ("POST", f"{_MEMORY}/unmerge"): Work.LIGHT,
    ("POST", f"{_MEMORY}/reinforce"): Work.LIGHT,
    ("POST", f"{_MEMORY}/grade"): Work.LIGHT,
    ("GET", "/v1/me"): Work.WATCH,
    ("GET", "/v1/access"): Work.WATCH,
    ("POST", "/v1/keys"): Work.WATCH,
    ("POST", "/v1/keys/revoke"): Work.WATCH,
    ("POST", "/v1/grants"): Work.WATCH,
    ("GET", "/v1/reads"): Work.LIGHT,
    ("GET", "/v1/stats"): Work.HEAVY,
    ("GET", "/v1/heads"): Work.HEAVY,
    ("POST", "/v1/heads/check"): Work.HEAVY,
    ("GET", "/v1/owners"): Work.HEAVY,
    ("POST", f"{_OWNER}/replay"): Work.HEAVY,
    ("GET", f"{_OWNER}/diff"): Work.HEAVY,
    ("POST", f"{_OWNER}/diff"): Work.HEAVY,
    ("GET", f"{_OWNER}/instants"): Work.HEAVY,
    ("POST", f"{_OWNER}/instants"): Work.HEAVY,
    ("POST", f"{_OWNER}/retract"): Work.HEAVY,
    ("GET", f"{_OWNER}/compare"): Work.HEAVY,
    ("GET", f"{_MEMORY}/compare"): Work.HEAVY,
    ("GET", f"{_MEMORY}/compare.svg"): Work.HEAVY,
    ("GET", f"{_OWNER}/map"): Work.HEAVY,
    ("GET", f"{_OWNER}/map.svg"): Work.HEAVY,
    ("GET", f"{_MEMORY}/uses"): Work.HEAVY,
    ("GET", f"{_OWNER}/answers"): Work.HEAVY,
    ("GET", f"{_OWNER}/answers/{{turn_id}}"): Work.HEAVY,
    ("GET", f"{_OWNER}/sources"): Work.HEAVY,
    ("GET", f"{_OWNER}/export"): Work.STREAM,
    ("POST", f"{_OWNER}/export"): Work.STREAM,
    ("POST", f"{_OWNER}/extract"): Work.HEAVY,
    ("POST", f"{_OWNER}/cleanup"): Work.HEAVY,
    ("POST", f"{_OWNER}/episodes"): Work.HEAVY,
    ("POST", f"{_OWNER}/chats"): Work.HEAVY,
    ("POST", f"{_OWNER}/import/records"): Work.HEAVY,
}


def work_of_route(method: str, path: str) -> Work:
    """What a route takes. Raises LookupError where nobody has said so: then the application does not start."""
    found = ROUTES.get((method, path))
    if found is None:
        raise LookupError(f"{method} {path} has no class of work: say in api/work/classes.py what it takes")
    return found


TOOLS: Mapping[str, Work] = {
    "memory_context": Work.LIGHT,
    "search_memories": Work.LIGHT,
    "get_memory_detail": Work.LIGHT,
    "memory_contextual_search": Work.LIGHT,
    "add_memory": Work.LIGHT,
    "add_turns": Work.LIGHT,
    "update_memory": Work.LIGHT,
    "delete_memory": Work.LIGHT,
    "reinforce_memory": Work.LIGHT,
    "memory_assess_knowledge": Work.LIGHT,
    "memory_review_due": Work.LIGHT,
    "memory_knowledge_map": Work.HEAVY,
    "audit_search": Work.LIGHT,
    "audit_list": Work.LIGHT,
    "audit_get": Work.LIGHT,
    "audit_why": Work.LIGHT,
    "audit_history": Work.LIGHT,
    "audit_events": Work.LIGHT,
    "audit_provenance": Work.LIGHT,
    "audit_uses": Work.HEAVY,
    "audit_answers": Work.HEAVY,
    "audit_answer": Work.HEAVY,
    "audit_associations": Work.LIGHT,
    "audit_facts": Work.LIGHT,
    "audit_replay": Work.HEAVY,
    "audit_compare": Work.HEAVY,
    "audit_diff": Work.HEAVY,
    "audit_above": Work.LIGHT,
    "audit_laws": Work.LIGHT,
    "audit_stats": Work.LIGHT,
    "audit_status": Work.WATCH,
    "audit_alarms": Work.WATCH,
}
"""Where a tool is not named here the server does not start."""
RESOURCES: Mapping[str, Work] = {
    "memory://about": Work.LIGHT,
    "memory://recent": Work.LIGHT,
    "memory://inbox": Work.LIGHT,
    "memory://memories/{+memory_key}": Work.LIGHT,
}
