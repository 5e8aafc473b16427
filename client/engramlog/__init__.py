"""Memory for AI agents, kept by an Engramlog service.

from engramlog import Memory

memory = Memory().of("alice")
memory.add("I drink coffee every morning")
for hit in memory.search("coffee").results:
    print(hit.memory, hit.score)
"""

from __future__ import annotations

from engramlog.answers import (
    Added,
    Appended,
    Change,
    ChatsImported,
    ContextBlock,
    Deleted,
    Detail,
    Effects,
    Extracted,
    Found,
    History,
    Hit,
    Listing,
    Receipt,
    Removed,
    Restored,
    Why,
)
from engramlog.client import URL, AsyncMemory, Memory
from engramlog.errors import (
    AccessDenied,
    Conflict,
    DeadlineExceeded,
    EngramlogError,
    InputError,
    NotFound,
    NotYetFolded,
    OwnerMissing,
    OwnerQuarantined,
    OwnerTooLarge,
    StoreFull,
    TokenRefused,
    Unavailable,
    UnderReplicated,
    UnexpectedAnswer,
    Unreachable,
)
from engramlog.wire import Retry

__all__ = [
    "URL",
    "AccessDenied",
    "Added",
    "Appended",
    "AsyncMemory",
    "Change",
    "ChatsImported",
    "Conflict",
    "ContextBlock",
    "DeadlineExceeded",
    "Deleted",
    "Detail",
    "Effects",
    "EngramlogError",
    "Extracted",
    "Found",
    "History",
    "Hit",
    "InputError",
    "Listing",
    "Memory",
    "NotFound",
    "NotYetFolded",
    "OwnerMissing",
    "OwnerQuarantined",
    "OwnerTooLarge",
    "Receipt",
    "Removed",
    "Restored",
    "Retry",
    "StoreFull",
    "TokenRefused",
    "Unavailable",
    "UnderReplicated",
    "UnexpectedAnswer",
    "Unreachable",
    "Why",
]
