"""What registers the MCP server with a client: the `mcpServers` entry that most of them read."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from api.choices import TOOLSETS
from events.text.urls import holds_secret
from ops.settings import SECRET, Settings

NAME = "memory"
"""What clients call the server."""


def client_config(
    settings: Settings, owner: str | None, toolset: str, port: int, *, token: str | None = None
) -> dict[str, Any]:
    """The entry, with this program's full path, for clients that know no PATH, and the settings of this environment.

    With a `token` the one for HTTP, which shows it; there whoever starts the server chooses the toolset.
    `left_out` names settings that hold secrets: these are never printed.
    """
    if token is not None:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{port}/mcp/{owner or 'OWNER'}"
        entry: dict[str, Any] = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
        return {"mcpServers": {NAME: entry}}
    program = Path(sys.argv[0]).absolute()
    command = [str(program)] if os.access(program, os.X_OK) else [sys.executable, "-P", "-m", "ops.main"]
    given = {name: value for name, value in os.environ.items() if name.startswith("ENGRAMLOG_") and value}
    secret = sorted(name for name, value in given.items() if name.endswith(SECRET) or holds_secret(value))
    told = {name: value for name, value in given.items() if name not in secret}
    if "ENGRAMLOG_DATA" in told:
        told["ENGRAMLOG_DATA"] = str(Path(told["ENGRAMLOG_DATA"]).expanduser().absolute())
    chosen = () if toolset == TOOLSETS[0] else ("--tools", toolset)
    entry = {"command": command[0], "args": [*command[1:], "mcp", "--owner", str(owner), *chosen]}
    entry |= {"env": dict(sorted(told.items()))} if told else {}
    return {"mcpServers": {NAME: entry}} | ({"left_out": secret} if secret else {})
