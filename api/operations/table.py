"""Every command by its group: its name, the module that registers it, and the first paragraph of its help.

Made by `make client` of the commands: change those, and make it again. It imports the standard library alone and names modules as
text, those of `ops` too: `engramlog --help` and completion load nothing else.
"""

# ruff: noqa: E501

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
            "engramlog_server.api.cli.commands.search",
            "Find memories; each tells why it stands where it stands, and the answer tells what was withheld.",
        ),
        OperationRow(
            "get",
            "engramlog_server.api.cli.commands.memories",
            "Everything about one memory; a secret's text only with --reveal, which is recorded before it is shown.",
        ),
        OperationRow(
            "list",
            "engramlog_server.api.cli.commands.memories",
            "An owner's memories, filtered and ordered, newest activation first; --counts counts them. Leaves no trace.",
        ),
        OperationRow(
            "why",
            "engramlog_server.api.cli.commands.memories",
            "Why a memory weighs what it weighs: every factor, every change, where it comes from. Leaves no trace.",
        ),
        OperationRow(
            "history",
            "engramlog_server.api.cli.commands.memories",
            "The change log: every event, what it decided, the weight before and after. JSON has every entry.",
        ),
        OperationRow(
            "events",
            "engramlog_server.api.cli.commands.events",
            "The events of the log themselves, turns and tool results too: by type, time, session, who; or as they come.",
        ),
        OperationRow(
            "assess",
            "engramlog_server.api.operations.knowing",
            "How sure are we about a topic? A score, advice, the best evidence, and the numbers behind it.",
        ),
        OperationRow(
            "map",
            "engramlog_server.api.cli.commands.memories",
            "A map of what is known about a topic: the best hits, their associations, and how they cluster.",
        ),
        OperationRow(
            "associations",
            "engramlog_server.api.operations.knowing",
            "What a memory is associated with, as a tree: by keywords, task, time, what was told, and being recalled together.",
        ),
        OperationRow(
            "facts",
            "engramlog_server.api.operations.knowing",
            "What is known as triples, with the memories that are their evidence. Leaves no trace.",
        ),
        OperationRow(
            "synonyms",
            "engramlog_server.api.cli.commands.memories",
            "An owner's synonyms, and what a search for a word looks for; with two words define a pair.",
        ),
        OperationRow(
            "context",
            "engramlog_server.api.cli.commands.context",
            "The block to put into a prompt: time, core, the conversation so far, memories that may matter, what tools found.",
        ),
        OperationRow(
            "answers",
            "engramlog_server.api.cli.commands.context",
            "What stood in the prompts of answers: the turns, and of one its memories and the block as it was. Leaves no trace.",
        ),
    ),
    "Compare": (
        OperationRow(
            "compare",
            "engramlog_server.api.cli.commands.compare",
            "Read the same history under every law: what each would show, and how one memory fares over time. Writes nothing.",
        ),
        OperationRow(
            "diff",
            "engramlog_server.api.cli.commands.compare",
            "What changed between two moments: memories, weights, what is shown, ranks of questions; by whom and why.",
        ),
        OperationRow(
            "parameters",
            "engramlog_server.api.cli.commands.profile",
            "Every parameter that can be set of the laws and modes: default, bounds, and what it is. Opens no store.",
        ),
        OperationRow(
            "profile",
            "engramlog_server.api.cli.commands.profile",
            "The law that an owner's recall and lifecycle go by, with its parameters; or choose another from here on.",
        ),
        OperationRow(
            "replay",
            "engramlog_server.api.cli.commands.replay",
            "Fold an owner's events under other parameters, or without some of them, and show what differs. Writes nothing.",
        ),
    ),
    "Say": (
        OperationRow(
            "add",
            "engramlog_server.api.operations.saying",
            "Remember one thing, as it is told: a memory of kind and category `fact` unless you say otherwise.",
        ),
        OperationRow(
            "edit",
            "engramlog_server.api.cli.commands.write",
            "Say the same thing better under the same id; or say how sensitive it is, or that it stands in every prompt.",
        ),
        OperationRow(
            "mention",
            "engramlog_server.api.cli.commands.write",
            "Record that somebody came back to a memory; --confirm also takes back any negation of it.",
        ),
        OperationRow(
            "append",
            "engramlog_server.api.cli.commands.write",
            "Append events from JSON Lines of envelopes. Sending the same file again is always safe.",
        ),
        OperationRow(
            "import",
            "engramlog_server.api.cli.commands.imports",
            "Import conversations, exported chats and older records.",
        ),
        OperationRow(
            "extract",
            "engramlog_server.api.cli.commands.jobs",
            "Read the turns that nobody has read yet, and keep what their speakers state as typed memories, by rules or by a model.",
        ),
        OperationRow(
            "episodes",
            "engramlog_server.api.cli.commands.jobs",
            "Make episodes of what was said: ten messages each, once they left working memory or their session ended.",
        ),
        OperationRow(
            "negate",
            "engramlog_server.api.operations.writing",
            "It is no longer so: demote a memory, keep its history, and optionally say what holds instead.",
        ),
        OperationRow(
            "merge",
            "engramlog_server.api.operations.writing",
            "Several memories become a new one; the sources stay readable, and `unmerge` brings them back.",
        ),
        OperationRow(
            "unmerge",
            "engramlog_server.api.operations.writing",
            "Undo a merge: its sources come back as they were, and the merged memory retires to review mode.",
        ),
        OperationRow(
            "delete",
            "engramlog_server.api.cli.commands.write",
            "Soft delete: hidden at once, kept 30 days; --undo restores. The text stays in the log.",
        ),
        OperationRow(
            "set-aside",
            "engramlog_server.api.cli.commands.replay",
            "Withhold everything a session, principal or actor said, or what rests on an older page; --undo takes it back.",
        ),
        OperationRow(
            "retract",
            "engramlog_server.api.cli.commands.replay",
            "Undo events, a turn, a session or all that somebody brought, with what was decided from it; first tells its reach.",
        ),
        OperationRow(
            "export",
            "engramlog_server.api.cli.commands.imports",
            "An owner's memories, oldest first, as lines to import again or as a text. What is left out is told by reason.",
        ),
    ),
    "Keep": (
        OperationRow(
            "inbox",
            "engramlog_server.api.cli.commands.inbox",
            "What waits for a person; with an item accept it, reject it, or say it in your own words.",
        ),
        OperationRow(
            "health",
            "engramlog_server.api.operations.living",
            "All live memories by how well they are held (Ebbinghaus strength, whatever the profile), strongest first.",
        ),
        OperationRow(
            "fading",
            "engramlog_server.api.operations.living",
            "Live memories that are nearly forgotten (Ebbinghaus strength under 30), weakest first. Leaves no trace.",
        ),
        OperationRow(
            "reinforce",
            "engramlog_server.api.operations.living",
            "It was put to use, or looked at again: hold it better. Tells what each law reads before and after.",
        ),
        OperationRow(
            "review",
            "engramlog_server.api.cli.commands.profile",
            "What is due for review, the most pressing first; or grade one, which says when it is due again.",
        ),
        OperationRow(
            "cleanup",
            "engramlog_server.api.cli.commands.jobs",
            "Do now what the lifecycle jobs do by themselves under `up`: record levels, delete what its law lets go, purge.",
        ),
    ),
    "Share": (
        OperationRow(
            "key",
            "engramlog_server.ops.commands.keys",
            "Keys by which others open this store: new, revoke, and tokens of them that do less.",
        ),
        OperationRow(
            "grant",
            "engramlog_server.api.cli.commands.access",
            "Say what a principal may do from here on; what he could do before holds no more.",
        ),
        OperationRow(
            "access",
            "engramlog_server.api.cli.commands.access",
            "Keys and grants of every principal, now or on a day; --keys by key, --reads shows who looked at what.",
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
            "Open the memory in a browser: the console of the service that runs, or of one that is started here, until Ctrl-C.",
        ),
        OperationRow(
            "token",
            "engramlog_server.ops.commands.processes",
            "Print the token that the HTTP API asks for: that of the data folder, made if there is none yet, or `ENGRAMLOG_TOKEN`.",
        ),
        OperationRow(
            "master-key",
            "engramlog_server.ops.commands.master_key",
            "Show which master keys a sealed store has, and how many owners' keys each has wrapped; or make, rotate, drop one.",
        ),
        OperationRow(
            "backup",
            "engramlog_server.ops.commands.backup",
            "Backups of the store and of its keys: make, check, restore elsewhere, have that take the store's place.",
        ),
        OperationRow(
            "mcp",
            "engramlog_server.ops.commands.processes",
            "The memory as an MCP server for agents and their clients; `--config` prints what registers it with one.",
        ),
        OperationRow(
            "worker",
            "engramlog_server.ops.commands.processes",
            "One fold worker on a Redis of your own, until SIGTERM; as many as you like, on as many hosts.",
        ),
        OperationRow(
            "status",
            "engramlog_server.api.cli.commands.store",
            "State of the store; --jobs, --capacity, --models and --owners show one part in full.",
        ),
        OperationRow(
            "doctor",
            "engramlog_server.ops.commands.doctor",
            "Look at a deployment and say what to do: permissions, keys, access, Redis, backups, clock, disk. Changes nothing.",
        ),
        OperationRow(
            "alarms",
            "engramlog_server.api.cli.commands.store",
            "What stopped or was lost, until it is over or somebody has looked; exit code 1 while anything stands still.",
        ),
        OperationRow(
            "stats",
            "engramlog_server.api.cli.commands.memories",
            "Counts: of the store and its largest owners, or of one owner's memories by category, level and state.",
        ),
        OperationRow(
            "dead",
            "engramlog_server.api.cli.commands.store",
            "Quarantined owners and their waiting events; retry them, or discard one event.",
        ),
        OperationRow(
            "seal",
            "engramlog_server.ops.commands.seal",
            "Seal a store that lies open, under the master key of ENGRAMLOG_SEALED_BY, else a new one in its folder. Tells first.",
        ),
        OperationRow(
            "erase",
            "engramlog_server.ops.commands.erase",
            "Erase an owner, or single memories and turns, for good, and print a certificate. Shows first what would go, and asks.",
        ),
        OperationRow(
            "rebuild",
            "engramlog_server.ops.commands.proof",
            "Fold the log anew into a fresh build, while the live one goes on, then switch; the old one goes after ten minutes.",
        ),
        OperationRow(
            "verify",
            "engramlog_server.ops.commands.proof",
            "Fold the log anew in memory and compare all that is stored with it, every number and every key. Reads only.",
        ),
        OperationRow(
            "demo",
            "engramlog_server.ops.commands.processes",
            "A short story in Chinese and English on an embedded real Redis of its own: mention, negation, time, talk, context.",
        ),
    ),
}
"""In the order in which `--help` shows them."""


def entries() -> dict[str, OperationRow]:
    """Every command by its name."""
    return {entry.name: entry for group in GROUPS.values() for entry in group}
