"""What a service that runs on a data folder tells of itself, by the socket in the folder: no token is shown."""

from __future__ import annotations

import stat
from pathlib import Path

import httpx2

from ops.asking.exchange import short_name
from ops.beyond.listeners import how_it_listens
from ops.doctor.deciding import access
from ops.doctor.finding import CheckFinding
from ops.doctor.gathering.access import listeners
from ops.doctor.gathering.files import folder_of
from ops.doctor.reaching import SECONDS
from ops.owned import is_ours
from ops.processes.folder_socket import NAME
from ops.settings import Settings


def look_at_service(settings: Settings) -> list[CheckFinding]:
    """Whether the service that runs is asked as these settings say; nothing where none runs."""
    found, _ = listeners(settings)
    if found is None:
        return []
    told = access.running(running_by(folder_of(settings)), how_it_listens(found)["by"])
    return [] if told is None else [told]


def running_by(folder: Path) -> str | None:
    """By what the service of a folder is asked: `loopback`, `tls`, `proxy`; None where none runs, or it tells nothing."""
    path = folder / NAME
    if not (is_ours(folder, stat.S_ISDIR) and is_ours(path, stat.S_ISSOCK)):
        return None
    try:
        with (
            short_name(path) as name,
            httpx2.Client(
                transport=httpx2.HTTPTransport(uds=name, verify=False, trust_env=False), timeout=SECONDS
            ) as client,
        ):
            told = client.get("http://localhost/ready").json()["listening"]["by"]
    except (OSError, httpx2.HTTPError, ValueError, LookupError, TypeError):
        return None
    return told if isinstance(told, str) else None
