"""Whether a service would answer as a command would by itself: the same code, and settings that say the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops.environment import all_told
from engramlog_server.ops.running_service import code_here, place
from engramlog_server.ops.settings import Settings, load_settings

OF_EACH: Final = frozenset(
    {
        "data", "redis_server", "redis_maxmemory", "partitions", "workers", "job_workers", "host", "port",
        "token",
        "redis_timeout", "log_level", "dask",
        "view_bytes", "metrics",
        "tls_cert_file", "tls_key_file", "trusted_proxies", "public_names", "operate",
        "vault_token_file",
    }
)  # fmt: skip
"""Settings that change no answer: those of the service hold for it. The folder and the token are shown by being asked at all."""
RELATIVE: Final = "unix://"


def answers_for(settings: Settings) -> Callable[[Mapping[str, Any]], bool]:
    """Tells of a command's question whether the service of these settings answers it."""
    code, here = code_here(), place(all_told(os.environ))
    mine = _that_matter(settings)

    def answers(asked: Mapping[str, Any]) -> bool:
        told = asked["settings"]
        if asked["code"] != code or asked["place"] != here or not isinstance(told, dict):
            return False
        try:
            theirs = load_settings({str(name): str(value) for name, value in told.items()})
        except EngramlogError:
            return False  # the command is refused, and says why
        url = theirs.redis_url or ""
        whole = not url.startswith(RELATIVE) or url.startswith(f"{RELATIVE}/")
        return whole and _that_matter(theirs) == mine

    return answers


def _that_matter(settings: Settings) -> dict[str, Any]:
    return settings.model_dump(exclude=set(OF_EACH))
