"""Every command by its group: its name, the module that registers it, and the first paragraph of its help.

Made by `make client` of the commands: change those, and make it again. It imports the standard library alone and names modules as
text, those of `ops` too: `engramlog --help` and completion load nothing else.
"""

from __future__ import annotations

from typing import NamedTuple


class OperationRow(NamedTuple):
    """One command, or group of commands."""

    name: str
    module: str
    help: str


GROUPS: dict[str, tuple[OperationRow, ...]] = {
    "Ask": (
        OperationRow(
            "search",
            "engramlog_server.api.cli.commands.memories",
            "Search memories; results come with reasons, and withheld matches are counted.",
        ),
        OperationRow(
            "get",
            "engramlog_server.api.cli.commands.memories",
            "Show everything about one memory. The text of a secret needs --reveal, which is recorded first.",
        ),
        OperationRow(
            "list",
            "engramlog_server.api.cli.commands.memories",
            "An owner's memories, filtered and ordered, newest activation first; --counts counts them. Leaves no trace.",
        ),
        OperationRow(
            "why",
            "engramlog_server.api.cli.commands.memories",
            "Explain a memory's weight: factors, changes and sources. Leaves no trace.",
        ),
        OperationRow(
            "history",
            "engramlog_server.api.cli.commands.memories",
            "Show the change log: each event, its decision, and the weight before and after.",
        ),
        OperationRow(
            "events",
            "engramlog_server.api.cli.commands.store",
            "Show events of the log, also turns and tool results, with filters; --follow waits for new ones.",
        ),
        OperationRow(
            "assess",
            "engramlog_server.api.operations.knowledge",
            "Assess what is known about a topic: score, advice, best evidence and figures.",
        ),
        OperationRow(
            "map",
            "engramlog_server.api.cli.commands.reports",
            "Map what is known about a topic: best results, associations and clusters.",
        ),
        OperationRow(
            "associations",
            "engramlog_server.api.operations.knowledge",
            "Show a memory's associations as a tree: keywords, task, time, links, recalled together.",
        ),
        OperationRow(
            "facts",
            "engramlog_server.api.operations.knowledge",
            "List triples with the memories that back them. Leaves no trace.",
        ),
        OperationRow(
            "synonyms",
            "engramlog_server.api.cli.commands.lifecycle",
            "List an owner's synonyms; with two words, define a pair.",
        ),
        OperationRow(
            "context",
            "engramlog_server.api.cli.commands.reports",
            "Print the block for a prompt: profile, conversation so far, related memories, tool results.",
        ),
        OperationRow(
            "answers",
            "engramlog_server.api.cli.commands.reports",
            "List turns with memories in their prompts; for one turn, show its memories and the block as it was. Leaves no trace.",
        ),
    ),
    "Compare": (
        OperationRow(
            "compare",
            "engramlog_server.api.cli.commands.reports",
            "Compare the laws on the same history: what each shows, or one memory over time. Writes nothing.",
        ),
        OperationRow(
            "diff",
            "engramlog_server.api.cli.commands.reports",
            "Show what changed between two moments, who changed it, and why.",
        ),
        OperationRow(
            "parameters",
            "engramlog_server.api.cli.commands.lifecycle",
            "List every parameter of laws and modes: default, bounds, meaning. Opens no store.",
        ),
        OperationRow(
            "profile",
            "engramlog_server.api.cli.commands.lifecycle",
            "Show an owner's law and parameters, or choose another law.",
        ),
        OperationRow(
            "replay",
            "engramlog_server.api.cli.commands.reports",
            "Fold an owner's events without some of them, or under other parameters, and show what differs. Writes nothing.",
        ),
    ),
    "Say": (
        OperationRow(
            "add", "engramlog_server.api.operations.writing", "Add one memory. Kind and category are `fact` by default."
        ),
        OperationRow(
            "edit",
            "engramlog_server.api.cli.commands.write",
            "Give a memory better words under the same id, or set its sensitivity or tier.",
        ),
        OperationRow(
            "mention",
            "engramlog_server.api.cli.commands.write",
            "Record that a memory was mentioned again; --confirm also undoes its negation.",
        ),
        OperationRow(
            "append",
            "engramlog_server.api.cli.commands.files",
            "Append events from JSON Lines of envelopes. Sending the same file again is always safe.",
        ),
        OperationRow(
            "import",
            "engramlog_server.api.cli.commands.files",
            "Import conversations, exported chats and older records.",
        ),
        OperationRow(
            "extract",
            "engramlog_server.api.cli.commands.lifecycle",
            "Extract typed memories from unread turns, by rules or by a model.",
        ),
        OperationRow(
            "episodes",
            "engramlog_server.api.cli.commands.lifecycle",
            "Make episodes of ten messages each, after they left working memory or their session ended.",
        ),
        OperationRow(
            "negate",
            "engramlog_server.api.operations.writing",
            "Mark a memory as no longer true, keep its history, and optionally say what is true now.",
        ),
        OperationRow(
            "merge",
            "engramlog_server.api.operations.writing",
            "Merge several memories into a new one. The sources stay readable; `unmerge` brings them back.",
        ),
        OperationRow(
            "unmerge",
            "engramlog_server.api.operations.writing",
            "Undo a merge: its sources come back, and the merged memory is shown only in review mode.",
        ),
        OperationRow(
            "delete",
            "engramlog_server.api.cli.commands.write",
            "Delete a memory: hidden at once, restorable for 30 days with --undo. The text stays in the log.",
        ),
        OperationRow(
            "set-aside",
            "engramlog_server.api.cli.commands.reports",
            "Withhold everything from a session, principal or actor, or memories on an older document; --undo brings it back.",
        ),
        OperationRow(
            "retract",
            "engramlog_server.api.cli.commands.reports",
            "Undo events, turns, sessions or everything from a source, with everything derived from it. Shows its reach first.",
        ),
        OperationRow(
            "export",
            "engramlog_server.api.cli.commands.files",
            "Export an owner's memories, oldest first, as lines to import again or as text. Omitted ones are counted by reason.",
        ),
    ),
    "Keep": (
        OperationRow(
            "inbox", "engramlog_server.api.cli.commands.write", "List the inbox; accept, reject or reword one item."
        ),
        OperationRow(
            "health",
            "engramlog_server.api.operations.knowledge",
            "List live memories by Ebbinghaus strength, strongest first, whatever the profile.",
        ),
        OperationRow(
            "fading",
            "engramlog_server.api.operations.knowledge",
            "List live memories with an Ebbinghaus strength under 30, weakest first. Leaves no trace.",
        ),
        OperationRow(
            "reinforce",
            "engramlog_server.api.operations.knowledge",
            "Record a use or manual review, which strengthens a memory. Shows each law before and after.",
        ),
        OperationRow(
            "review",
            "engramlog_server.api.cli.commands.lifecycle",
            "List memories that are due for review, or grade one.",
        ),
        OperationRow(
            "cleanup",
            "engramlog_server.api.cli.commands.lifecycle",
            "Run lifecycle jobs now: record levels, delete what the owner's law lets go, purge.",
        ),
    ),
    "Connect": (
        OperationRow(
            "install",
            "engramlog_server.ops.commands.clients",
            "Install the memory into a client: hooks, MCP server. Shows the change, asks, and keeps a copy.",
        ),
        OperationRow(
            "uninstall",
            "engramlog_server.ops.commands.clients",
            "Take the memory out of a client: its configuration is as before, and its keys open nothing.",
        ),
        OperationRow(
            "hook",
            "engramlog_server.ops.commands.clients",
            "Answer an event of a client, as `engramlog install` configures it. Always ends with 0 within a second.",
        ),
    ),
    "Share": (
        OperationRow(
            "key",
            "engramlog_server.ops.commands.keys",
            "Keys by which others open this store: new, revoke, and tokens of them that do less.",
        ),
        OperationRow("grant", "engramlog_server.api.cli.commands.access", "Replace all grants of a principal."),
        OperationRow(
            "access",
            "engramlog_server.api.cli.commands.access",
            "Show keys and grants of every principal, now or on any day; --reads shows who looked at what.",
        ),
    ),
    "Operate": (
        OperationRow(
            "up",
            "engramlog_server.ops.commands.processes",
            "The store as a service: embedded Redis (or your own), fold workers and the HTTP API, until Ctrl-C.",
        ),
        OperationRow(
            "console",
            "engramlog_server.ops.commands.console",
            "Open the console in a browser, of the running service or of one that is started here, until Ctrl-C.",
        ),
        OperationRow(
            "token",
            "engramlog_server.ops.commands.processes",
            "Print the token of the HTTP API: that of the data folder, made if there is none, or `ENGRAMLOG_TOKEN`.",
        ),
        OperationRow(
            "master-key",
            "engramlog_server.ops.commands.keys",
            "Show the master keys of a sealed store, and how many owners' keys each wraps; or make, rotate, rewrap or drop one.",
        ),
        OperationRow(
            "backup",
            "engramlog_server.ops.commands.backup",
            "Make, check and restore backups of the store and of its keys.",
        ),
        OperationRow(
            "mcp",
            "engramlog_server.ops.commands.processes",
            "Serve the memory to agents over MCP; `--config` prints the entry for their clients.",
        ),
        OperationRow(
            "worker",
            "engramlog_server.ops.commands.processes",
            "Run one fold worker on your own Redis until SIGTERM; any number, on any hosts.",
        ),
        OperationRow(
            "status",
            "engramlog_server.api.cli.commands.store",
            "State of the store; --jobs, --capacity, --models and --owners show one part in full.",
        ),
        OperationRow(
            "doctor",
            "engramlog_server.ops.commands.processes",
            "Check a deployment: permissions, keys, access, Redis, backups, clock, disk. Changes nothing.",
        ),
        OperationRow(
            "alarms",
            "engramlog_server.api.cli.commands.store",
            "Show active alarms; exit code 1 while something has stopped.",
        ),
        OperationRow(
            "stats",
            "engramlog_server.api.cli.commands.memories",
            "Count the store's events and largest owners, or one owner's memories by category, level and state.",
        ),
        OperationRow(
            "dead",
            "engramlog_server.api.cli.commands.store",
            "Quarantined owners and their waiting events; retry them, or discard one event.",
        ),
        OperationRow(
            "seal",
            "engramlog_server.ops.commands.keys",
            "Encrypt an open store, under the master key of ENGRAMLOG_SEALED_BY or a new one in its folder.",
        ),
        OperationRow(
            "erase",
            "engramlog_server.ops.commands.erase",
            "Erase an owner, or single memories and turns, for good, and print a certificate. Shows first what would go, and asks.",
        ),
        OperationRow(
            "rebuild",
            "engramlog_server.ops.commands.proof",
            "Fold the log into a new build, while the old one answers, then switch. The old build is dropped after ten minutes.",
        ),
        OperationRow(
            "verify",
            "engramlog_server.ops.commands.proof",
            "Fold the log again in memory and compare everything that is stored with the result. Reads only.",
        ),
        OperationRow(
            "demo",
            "engramlog_server.ops.commands.processes",
            "Play a short story in Chinese and English on a private Redis: mention, negation, time, prompts.",
        ),
    ),
}
"""In the order in which `--help` shows them."""


def entries() -> dict[str, OperationRow]:
    """Every command by its name."""
    return {entry.name: entry for group in GROUPS.values() for entry in group}
