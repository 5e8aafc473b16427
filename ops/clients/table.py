"""The clients that `engramlog install` knows: their files, formats, events and fields, and what each was written against.

A hook reads this at every prompt, so it imports the standard library alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Event = Literal["session-start", "prompt", "stop", "compact"]
EVENTS: tuple[Event, ...] = ("session-start", "prompt", "stop", "compact")
SERVER = "engramlog"
"""Name of the MCP server in configurations."""
Answers = Literal["hook_output", "additional_context", "context", "nothing"]
"""How a client takes text for the model: in `hookSpecificOutput`, in a field of that name, or not at all."""
Records = Literal["transcript", "payload", "messages"]
"""Source of turns: the file at `transcript_path`, the event itself, or its list `messages`."""


class File(NamedTuple):
    """A configuration file: the variable that may name its folder, that folder by default, and its path within."""

    variable: str | None
    folder: str
    path: str


class Adapter(NamedTuple):
    """One client."""

    name: str
    title: str
    written_against: str
    events: Mapping[Event, str]
    """Our events by the client's names; the first name of a pair `a b` answers, the second only records."""
    hooks: File | None
    """File with hooks as JSON under `hooks`, by event; None if a plugin is written instead."""
    servers: File
    """File with the MCP servers."""
    server_path: tuple[str, ...]
    answers: Mapping[Event, Answers]
    records: Records
    shape: str = "openai"
    """The shape of exported chats in which turns are sent to the service."""
    session: str = "session_id"
    turn: str = "prompt_id"
    """Field with the id of the user's turn, for turns from the event itself."""
    reply: str = ""
    """Field with the assistant's words, for turns from the event itself."""
    timeout: int = 2
    """Longest time of a hook in the client's configuration, in the client's own unit."""
    plugin: File | None = None
    after: str = ""
    """Instruction for the user after the installation, if there is one."""

    def entry(self, command: str) -> dict[str, Any]:
        """An element of the list of one event's hooks."""
        if self.name == "cursor":
            return {"command": command}
        hook: dict[str, Any] = {"type": "command", "command": command, "timeout": self.timeout}
        return {"hooks": [{"name": SERVER, **hook} if self.name == "gemini-cli" else hook]}

    def server(self, command: list[str], environment: Mapping[str, str]) -> dict[str, Any]:
        """The MCP server's entry."""
        if self.name == "opencode":
            return {"type": "local", "command": command, "environment": dict(environment), "enabled": True}
        kind = {"type": "stdio"} if self.name == "claude-code" else {}
        return {**kind, "command": command[0], "args": command[1:], "env": dict(environment)}


_CONTEXT: dict[Event, Answers] = {"session-start": "hook_output", "prompt": "hook_output"}
ADAPTERS: dict[str, Adapter] = {
    one.name: one
    for one in (
        Adapter(
            "claude-code",
            "Claude Code",
            "schemas in version 2.1.197, and its payloads as recorded on 2026-11-29",
            {
                "session-start": "SessionStart",
                "prompt": "UserPromptSubmit",
                "stop": "Stop SessionEnd",
                "compact": "PreCompact",
            },
            File("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
            File("CLAUDE_CONFIG_DIR", "", ".claude.json"),
            ("mcpServers", SERVER),
            _CONTEXT,
            "transcript",
            shape="claude-code",
        ),
        Adapter(
            "codex",
            "Codex CLI",
            "schemas in version 0.171.0, and its payloads as recorded on 2026-11-29",
            {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "stop": "Stop", "compact": "PreCompact"},
            File("CODEX_HOME", ".codex", "hooks.json"),
            File("CODEX_HOME", ".codex", "config.toml"),
            ("mcp_servers", SERVER),
            _CONTEXT,
            "transcript",
            shape="codex",
            turn="turn_id",
            after="Codex runs new hooks only after you trust them: start codex, type /hooks and trust them.",
        ),
        Adapter(
            "cursor",
            "Cursor",
            "cursor.com/docs/agent/hooks, as of version 2.0.77 (a copy of 2026-01)",
            {"prompt": "beforeSubmitPrompt", "stop": "afterAgentResponse"},
            File(None, ".cursor", "hooks.json"),
            File(None, ".cursor", "mcp.json"),
            ("mcpServers", SERVER),
            {},
            "payload",
            session="conversation_id",
            turn="generation_id",
            reply="text",
            after="Cursor's hooks cannot add text to a prompt: they record, and the agent reads by MCP.",
        ),
        Adapter(
            "gemini-cli",
            "Gemini CLI",
            "docs/hooks/reference.md of version 0.61.0, and its payloads as recorded on 2026-11-29",
            {"session-start": "SessionStart", "prompt": "BeforeAgent", "stop": "AfterAgent"},
            File("GEMINI_CLI_HOME", "", ".gemini/settings.json"),
            File("GEMINI_CLI_HOME", "", ".gemini/settings.json"),
            ("mcpServers", SERVER),
            _CONTEXT,
            "payload",
            turn="timestamp",
            reply="prompt_response",
            timeout=2000,
        ),
        Adapter(
            "opencode",
            "OpenCode",
            "types of @opencode-ai/plugin 1.18.33, and payloads of its plugin as recorded on 2026-11-29",
            {},
            None,
            File("XDG_CONFIG_HOME", ".config", "opencode/opencode.json"),
            ("mcp", SERVER),
            {"session-start": "context", "prompt": "context"},
            "messages",
            plugin=File("XDG_CONFIG_HOME", ".config", "opencode/plugins/engramlog.js"),
        ),
    )
}
