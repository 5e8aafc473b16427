"""The shapes in which chats are exported, each read into the same messages.

`openai`: `{"messages": [{"role", "content"}]}`, or the list alone. `chatgpt`: conversations with a `mapping` of nodes, of which
those from `current_node` up to the root are the conversation. `claude`: conversations with `chat_messages` of `sender`, `text`
or `content`, `created_at`. None of them has a published schema but the first: fields that are not named here are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from api.requests.checks import parse_instant
from events.errors import InputError, refused

LINES = "lines"
ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant",), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
"""Whose message it is, by the words of all shapes."""
TEXT_PARTS = ("text", "input_text", "output_text", "audio_transcription")
UNSAID_PARTS = (
    "thinking",
    "redacted_thinking",
    "reasoning",
    "tool_use",
    "tool_result",
    "tool_call",
    "refusal",
    "summary_text",
)
"""Parts that are neither text nor an attachment."""
MOST_SECONDS = 253_402_300_799
"""The end of the year 9999, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, in the order in which it was said."""

    role: str
    """user, assistant, system or tool."""
    text: str
    id: str | None = None
    at: int | None = None
    """Microseconds since 1970; None where the export does not say."""
    left_out: str | None = None
    """Why it is no turn: system, tool, hidden or other (thoughts, summaries of what was read)."""
    attachments: int = 0
    """Pictures and files beside its text, which are in no turn."""


@dataclass(frozen=True, slots=True)
class ChatShape:
    """How conversations of one export are told and read."""

    name: str
    told_by: str
    """The field of a conversation that only this shape has."""
    messages: Callable[[dict[str, Any]], Iterator[dict[str, Any]]]
    """What is read into messages, one by one, so that an error belongs to one of them."""
    read: Callable[[dict[str, Any]], Message]
    abandoned: Callable[[dict[str, Any], int], int] = lambda _conversation, _read: 0
    """How many messages stand beside those that are read, of which there are so many: on branches that were given up."""


def shape_of(value: object) -> str | None:
    """The name of the shape a conversation (or a line) shows, or None."""
    if isinstance(value, list):
        return "openai" if value and isinstance(value[0], dict) and "role" in value[0] else None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("turn_id"), str):
        return LINES
    return next((one.name for one in SHAPES.values() if one.told_by in value), None)


def instant_of(value: object, field: str) -> int | None:
    """Microseconds since 1970 of seconds (a number) or RFC 3339 with a zone; None for none. Raises InputError."""
    if value is None:
        return None
    if isinstance(value, str):
        return parse_instant(value, field)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_SECONDS:
        raise refused(field, value, "seconds since 1970, or an RFC 3339 date-time with a zone")
    return round(value * 1_000_000)


def first_of(record: dict[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """The first of these fields that holds anything, with its name; the first name and None where none does."""
    return next(((name, record[name]) for name in names if record.get(name) not in (None, "")), (names[0], None))


def text_id(record: dict[str, Any], *names: str) -> str | None:
    """The first of these fields as an id in words: a text, or a whole number."""
    _, found = first_of(record, names)
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


def _listed(told_by: str) -> Callable[[dict[str, Any]], Iterator[dict[str, Any]]]:
    """Messages that stand in a list under one field."""

    def messages(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
        found = conversation.get(told_by)
        if not isinstance(found, list):
            raise _refused(told_by, found, "a list of messages")
        yield from found

    return messages


def _refused(field: str, got: object, allowed: str) -> InputError:
    """What is got may be a whole conversation: its beginning will do."""
    shown = got if got is None or len(str(got)) <= 80 else f"{str(got)[:80]}…"
    return refused(field, shown, allowed)


def _role(field: str, word: object) -> str:
    role = ROLES.get(word.lower()) if isinstance(word, str) else None
    if role is None:
        raise _refused(field, word, ", ".join(ROLES))
    return role


def _unsaid(role: str) -> str | None:
    """System prompts and what tools were told and answered: nobody said it."""
    return role if role in ("system", "tool") else None


def text_of(field: str, content: object) -> str:
    """The text of a content: itself, or that of its parts (strings, or objects of a type that holds text) joined by lines.

    Parts without text (pictures, files, tool calls) have none.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise _refused(field, content, "a text, or a list of parts")
    return "\n".join(filter(None, (_part(f"{field}[{at}]", part) for at, part in enumerate(content))))


def attachments_of(content: object, *beside: object) -> int:
    """How many pictures and files a message has: parts that hold no text, or those that are listed beside its content."""
    parts = content if isinstance(content, list) else ()
    return max(
        sum(_kind(part) not in (*TEXT_PARTS, *UNSAID_PARTS, None) for part in parts), *(_size(one) for one in beside), 0
    )


def _size(listed: object) -> int:
    return len(listed) if isinstance(listed, list) else 0


def _kind(part: object) -> str | None:
    """The type of a part; None for a bare text."""
    return str(part.get("type") or part.get("content_type")) if isinstance(part, dict) else None


def _part(field: str, part: object) -> str:
    if part is None or isinstance(part, str):
        return part or ""
    if not isinstance(part, dict):
        raise _refused(field, part, "a text, or an object with type and text")
    if _kind(part) not in TEXT_PARTS:
        return ""
    if not isinstance(part.get("text"), str):
        raise _refused(f"{field}.text", part.get("text"), "a text")
    return str(part["text"])


def _openai(message: dict[str, Any]) -> Message:
    role = _role("role", message.get("role"))
    if "content" not in message and not message.get("tool_calls") and not message.get("function_call"):
        raise refused("content", None, "a text, a list of parts, or null beside tool_calls")
    name, when = first_of(message, ("created_at", "timestamp", "create_time"))
    text = text_of("content", message.get("content")) if _unsaid(role) is None else ""
    attached = attachments_of(message.get("content"))
    return Message(role, text, text_id(message, "id"), instant_of(when, name), _unsaid(role), attached)


def _claude(message: dict[str, Any]) -> Message:
    role = _role("sender", message.get("sender"))
    blocks = message.get("content")
    # The blocks come first: `text` beside them may hold stand-ins for blocks that another program shows.
    text = text_of("content", blocks) or text_of("text", message.get("text"))
    if blocks is None and "text" not in message:
        raise refused("text", None, "a text, or content with a list of parts")
    when = instant_of(message.get("created_at"), "created_at")
    listed = [*_listed_in(message, "attachments"), *_listed_in(message, "files")]
    attached = attachments_of(blocks, listed)
    return Message(role, text, text_id(message, "uuid", "id"), when, _unsaid(role), attached)


def _listed_in(message: dict[str, Any], field: str) -> list[Any]:
    found = message.get(field)
    return found if isinstance(found, list) else []


def _branch(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages from the root to `current_node`; other branches are answers and questions that were replaced."""
    mapping = conversation.get("mapping")
    if not isinstance(mapping, dict):
        raise _refused("mapping", mapping, "an object of nodes by id")
    name = conversation.get("current_node")
    if name is None and mapping:
        name = _only_leaf(mapping)
    found: list[dict[str, Any]] = []
    passed: set[str] = set()
    while name is not None:
        field = "parent" if passed else "current_node"
        node = mapping.get(name) if isinstance(name, str) else None
        if not isinstance(node, dict) or name in passed:
            raise _refused(field, name, "the id of a node of mapping, each passed once on the way to the root")
        passed.add(name)
        if node.get("message") is not None:
            found.append(node["message"])
        name = node.get("parent")
    yield from reversed(found)


def _abandoned(conversation: dict[str, Any], read: int) -> int:
    nodes = conversation["mapping"].values()
    return sum(isinstance(node, dict) and node.get("message") is not None for node in nodes) - read


def _only_leaf(mapping: dict[str, Any]) -> str:
    leaves = [name for name, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
    if len(leaves) != 1:
        raise refused("current_node", None, f"the id of the last node: mapping has {len(leaves)} without children")
    return leaves[0]


def _chatgpt(message: dict[str, Any]) -> Message:
    author = message.get("author")
    role = _role("author.role", author.get("role") if isinstance(author, dict) else author)
    content = message.get("content")
    if not isinstance(content, dict):
        raise _refused("content", content, "an object with content_type and parts")
    told = message.get("metadata")
    metadata = told if isinstance(told, dict) else {}
    left_out = _unsaid(role)
    if metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message"):
        left_out = "hidden"
    elif left_out is None and message.get("recipient") not in (None, "all"):
        left_out = "tool"
    elif left_out is None and content.get("content_type", "text") not in ("text", "multimodal_text"):
        left_out = "other"
    text = "" if left_out else text_of("content.parts", content.get("parts"))
    when = instant_of(message.get("create_time"), "create_time")
    attached = attachments_of(content.get("parts"), metadata.get("attachments"))
    return Message(role, text, text_id(message, "id"), when, left_out, attached)


SHAPES = {
    one.name: one
    for one in (
        ChatShape("chatgpt", "mapping", _branch, _chatgpt, _abandoned),
        ChatShape("claude", "chat_messages", _listed("chat_messages"), _claude),
        ChatShape("openai", "messages", _listed("messages"), _openai),
    )
}
