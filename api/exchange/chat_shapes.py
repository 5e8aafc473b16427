"""The shapes in which chats are exported, each read into the same messages.

None of them has a stable published schema, so fields without a name here are ignored, and a message or conversation that cannot be
read raises InputError with a `reason`: the import leaves it out and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from engramlog_server.events.envelope import micros
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.vocabulary import EARLIEST, MAX_TEXT_BYTES

LINES = "lines"
ROLES = {
    **dict.fromkeys(("user", "human", "prompter"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "gpt", "chatgpt", "claude", "gemini", "bard"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "tool_call", "tool_response", "function_call", "observation"), "tool"),
}
"""Whose message it is, by the words of all shapes."""
TEXT_PARTS = ("text", "input_text", "output_text", "audio_transcription", "voice_note", "transcript")
SPOKEN_PARTS = ("input_audio", "output_audio", "audio")
"""Parts with a text only if they were transcribed."""
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
CONTENTS = ("content", "text", "value", "parts", "contentParts", "mes", "message")
TIMES = ("created_at", "timestamp", "create_time", "createdAt", "inserted_at", "send_date", "created", "date")
CONVERSATION_TIMES = ("create_time", "created_at", "created", "timestamp", "createdAt", "inserted_at")
CONVERSATION_IDS = ("conversation_id", "id", "uuid", "session_id", "conversationId")
IDS = ("uuid", "id", "messageId")
PARENTS = ("parent_message_uuid", "parentMessageId")
NO_PARENT = "00000000-0000-"
"""Beginning of the id that a conversation's first message has as its parent."""
UNITS = ((1e17, 1e-3), (1e14, 1), (1e11, 1e3))
"""Smallest nano-, micro- and milliseconds since 1970, with their microseconds; smaller numbers are seconds."""
MOST_NUMBER = 1e19
TIME_FIELDS = ("$date", "$numberLong", "seconds", "_seconds")
"""Fields of an object that is a time, as databases export it."""
ENGLISH_TIMES = tuple(
    f"{month} %d, %Y{between}{clock}"
    for month in ("%B", "%b")
    for between in (" ", ", ", " at ")
    for clock in ("%I:%M%p", "%I:%M %p", "%I:%M:%S %p", "%H:%M", "%H:%M:%S")
)
OF_THE_PROGRAM = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<system-reminder>",
    "[Request interrupted by user",
)
"""Beginnings of messages that Claude Code writes as the user's: commands, their output, notices."""
OF_CODEX = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""The same of Codex."""
LOOKED_AT = 20
"""Items of a list that are checked for a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, in the order in which it was said."""

    role: str
    """user, assistant, system or tool."""
    text: str
    id: str | None = None
    at: int | None = None
    """Microseconds since 1970; None if the export has no usable time."""
    left_out: str | None = None
    """Why it is no turn: system, tool, hidden or other (thoughts, summaries of what was read)."""
    attachments: int = 0
    """Pictures and files without a text, which are in no turn."""
    odd_parts: int = 0
    """Parts of its content that should hold a text and hold none."""
    time_note: str | None = None
    """`naive_time` (UTC was assumed) or `bad_time` (ignored)."""


Json = Mapping[str, Any]
"""An object of an export, whose fields may hold anything."""


class Branch(NamedTuple):
    """The messages of a conversation that are read."""

    messages: list[Any]
    abandoned: int = 0
    """Messages on other branches: answers and questions that were replaced."""
    chosen: bool = False
    """Whether the export did not say which branch is current, so that the newest was taken."""


@dataclass(frozen=True, slots=True)
class ChatShape:
    """How conversations of one export are recognised and read."""

    name: str
    comes_from: str
    """What a conversation of this shape has, for errors."""
    recognised: Callable[[Json], bool]
    messages: Callable[[Json], Branch]
    read: Callable[[Json], Message]


def shape_of(value: object) -> str | None:
    """The name of the shape of a conversation (or a line), or None."""
    if isinstance(value, list):
        return "openai" if _has_messages(value) else None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("turn_id"), str):
        return LINES
    return next((shape.name for shape in SHAPES.values() if shape.recognised(value)), None)


def odd(reason: str, field: str, got: object, allowed: str) -> InputError:
    """The error of a message or conversation to leave out; `reason` is what it is counted as."""
    problem = refused(field, shown(got), allowed)
    return InputError(problem.message, **{**problem.context, "reason": reason})


def shown(value: object) -> object:
    """A value for an error: scalars as they are, up to 80 characters; of others what they are."""
    if isinstance(value, dict):
        fields = ", ".join(str(name)[:40] for name in list(value)[:8])
        return f"an object with {fields}"[:160] if value else "an object without fields"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"{value[:80]}…" if isinstance(value, str) and len(value) > 80 else value


def time_of(value: object) -> tuple[int | None, str | None]:
    """Microseconds since 1970 of a number (seconds, or a larger unit by its size) or an ISO date-time, and what to note.

    The note is `naive_time` (no zone, UTC is assumed) or `bad_time` (unreadable, negative or before 1900: no time).
    """
    while isinstance(value, dict) and any(name in value for name in TIME_FIELDS):
        value = next(value[name] for name in TIME_FIELDS if name in value)
    if value is None or value == "":
        return None, None
    if isinstance(value, str):
        text = value.strip()
        number = len(text) >= 9 and text.replace(".", "", 1).isdecimal()
        return _number_time(float(text)) if number else _iso_time(text)
    return _number_time(value)


def _iso_time(text: str) -> tuple[int | None, str | None]:
    try:
        moment = _moment(text)
        note = None if moment.tzinfo is not None else "naive_time"
        moment = moment if note is None else moment.replace(tzinfo=UTC)
        return (micros(moment), note) if moment >= EARLIEST else (None, "bad_time")
    except (ValueError, OverflowError):
        return None, "bad_time"


def _moment(text: str) -> datetime:
    """An ISO date-time, one of an e-mail (`Tue, 14 Nov 2023 22:13:20 GMT`), or one in English words. Raises ValueError."""
    text = " ".join(text.split())
    plain = text.removesuffix("UTC").removesuffix("GMT").rstrip() if text.endswith((" UTC", " GMT")) else text
    zone = UTC if plain != text else None
    try:
        moment = datetime.fromisoformat(plain)
        return moment if zone is None else moment.replace(tzinfo=zone)
    except ValueError:
        if not text[:3].isalpha():
            raise
    for form in ENGLISH_TIMES:
        with suppress(ValueError):
            return datetime.strptime(plain, form).replace(tzinfo=zone)
    return parsedate_to_datetime(text)


def _number_time(value: object) -> tuple[int | None, str | None]:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST_NUMBER:
        return None, "bad_time"
    factor = next((factor for smallest, factor in UNITS if value >= smallest), 1_000_000)
    return round(value * factor), None


def first_of(record: Mapping[str, Any], names: Iterable[str]) -> tuple[str, Any]:
    """The first of these fields that holds anything, with its name; the first name and None if none does."""
    names = tuple(names)
    return next(((name, record[name]) for name in names if record.get(name) not in (None, "")), (names[0], None))


def text_id(record: Mapping[str, Any], *names: str) -> str | None:
    """The first of these fields as an id in words: a text, or a whole number."""
    _, found = first_of(record, names)
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


# --- roles and texts ------------------------------------------------------------------------------------------------


def _word(word: object) -> str | None:
    return (
        ROLES.get(word.strip().lower().removesuffix("chunk").removesuffix("message")) if isinstance(word, str) else None
    )


def _role(field: str, *words: object) -> str:
    """The role by the first word that is one. Raises InputError, of the first word that is there."""
    role = next(filter(None, map(_word, words)), None)
    if role is None:
        word = next((each for each in words if each not in (None, "")), None)
        raise odd("no_role" if word is None else "unknown_role", field, word, ", ".join(ROLES))
    return role


def _unsaid(role: str) -> str | None:
    """System prompts and what tools were given and answered: nobody said it."""
    return role if role in ("system", "tool") else None


def text_of(field: str, content: object) -> tuple[str, int]:
    """The text of a content, and how many of its parts should have a text and have none.

    The content is a text, one part, or a list of parts; texts of parts are joined by lines. Raises InputError for anything else,
    and if the odd parts are all there is.
    """
    if isinstance(content, str):
        return content, 0
    if isinstance(content, dict):
        content = content["parts"] if isinstance(content.get("parts"), list) else [content]
    if not isinstance(content, list):
        raise odd("no_content" if content is None else "bad_content", field, content, "a text, or a list of parts")
    texts = [_part(part) for part in content]
    text, bad = "\n".join(filter(None, texts)), texts.count(None)
    if bad and not text:
        raise odd("no_content", field, None, "a text in at least one part")
    return text, bad


def attachments_of(content: object, *listed: object) -> int:
    """How many pictures and files a message has: parts that hold no text, or those that are listed next to its content."""
    parts = content if isinstance(content, list) else ()
    known = (*TEXT_PARTS, *UNSAID_PARTS)
    in_parts = sum(isinstance(part, dict) and _kind(part) not in known and not _spoken(part) for part in parts)
    return max(in_parts, *(len(each) if isinstance(each, list) else 0 for each in listed), 0)


def _kind(part: Json) -> str:
    return str(part.get("type") or part.get("content_type") or ("text" if "text" in part else "unknown"))


def _spoken(part: Json) -> bool:
    return _kind(part) in SPOKEN_PARTS and isinstance(part.get("transcript"), str)


def _part(part: object) -> str | None:
    """Its text, "" for a part of another type; None if it should have a text and has none."""
    if part is None or isinstance(part, str):
        return part or ""
    if not isinstance(part, dict):
        return None
    if _kind(part) not in TEXT_PARTS and not _spoken(part):
        return ""
    texts = (part.get(name) for name in ("text", "transcript", "value", "content"))
    texts = (each.get("value") if isinstance(each, dict) else each for each in texts)
    return next((each for each in texts if isinstance(each, str)), None)


# --- branches -------------------------------------------------------------------------------------------------------


def _no_messages(field: str, got: object, allowed: str = "a list of messages") -> InputError:
    return odd("no_messages", field, got, allowed)


def _listed(*fields: str) -> Callable[[Json], Branch]:
    """Messages in a list under the first of these fields."""

    def messages(conversation: Json) -> Branch:
        field = next((name for name in fields if isinstance(conversation.get(name), list)), fields[0])
        listed = conversation.get(field)
        if isinstance(listed, dict) and _has_messages(list(listed.values())):  # by their ids
            listed = list(listed.values())
        if not isinstance(listed, list):
            raise _no_messages(field, listed)
        return _replies(_with_threads(listed), conversation.get("current_leaf_message_uuid"))

    return messages


def _with_threads(messages: list[Any]) -> list[Any]:
    """The messages, each followed by the messages of the thread below it."""
    found: list[Any] = []
    waiting = messages[::-1]
    while waiting:
        found.append(message := waiting.pop())
        below = message.get("replies") if isinstance(message, dict) else None
        if isinstance(below, list) and _has_messages(below):
            waiting.extend(below[::-1])
    return found


def _replies(messages: list[Any], current: object) -> Branch:
    """The branch that ends in the current message, or in the last, if messages name their parents; else all of them."""
    places: dict[str, int] = {}
    parents: list[object] = []
    for place, message in enumerate(messages):
        record = message if isinstance(message, dict) else {}
        name = text_id(record, *IDS)
        if name is not None:
            places[name] = place
        parents.append(next((record[field] for field in PARENTS if field in record), NotImplemented))
    if not any(isinstance(parent, str) for parent in parents):
        return Branch(messages)
    at: int | None = places[current] if isinstance(current, str) and current in places else len(messages) - 1
    passed: dict[int, None] = {}
    while at is not None and at not in passed:
        passed[at] = None
        parent = parents[at]
        if isinstance(parent, str) and parent in places:
            at = places[parent]
        elif (isinstance(parent, str) and parent.startswith(NO_PARENT)) or (parent is None and parents[0] is None):
            at = None
        else:  # a parent that is missing in the export: the message before it in the file
            at = at - 1 if at else None
    return Branch([messages[place] for place in reversed(passed)], len(messages) - len(passed))


def _tree(
    mapping: Mapping[str, Any], current: object, parent: str, children: str, message: Callable[[Json], Any]
) -> Branch:
    """The messages from the root to the current node; to the newest leaf if the export names no node that is there."""
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    parents: dict[str, str] = {}
    for name, node in nodes.items():
        listed = node.get(children)
        for child in listed if isinstance(listed, list) else ():
            if isinstance(child, str):
                parents[child] = name
    for name, node in nodes.items():
        if isinstance(node.get(parent), str) and node[parent] in nodes:
            parents[name] = node[parent]

    def branch(last: str | None) -> list[Any]:
        passed: dict[str, None] = {}
        while last is not None and last in nodes and last not in passed:
            passed[last] = None
            last = parents.get(last)
        return [each for name in reversed(passed) if (each := message(nodes[name])) is not None]

    found = branch(current if isinstance(current, str) else None)
    total = sum(message(node) is not None for node in nodes.values())
    chosen = not found and total > 0
    if chosen:
        inner = set(parents.values())
        filled = [name for name, node in nodes.items() if message(node) is not None]
        leaves = [name for name in filled if name not in inner] or filled
        found = branch(max(enumerate(leaves), key=lambda leaf: (_said_at(message(nodes[leaf[1]])), leaf[0]))[1])
    return Branch(found, total - len(found), chosen)


def _said_at(message: object) -> int:
    return time_of(first_of(message, TIMES)[1])[0] or 0 if isinstance(message, dict) else 0


def _mapping(conversation: Json) -> Branch:
    mapping = conversation.get("mapping")
    if isinstance(mapping, list):
        mapping = {str(node.get("id")): node for node in mapping if isinstance(node, dict)}
    if not isinstance(mapping, dict):
        raise _no_messages("mapping", mapping, "an object of nodes by id")
    return _tree(mapping, conversation.get("current_node"), "parent", "children", lambda node: node.get("message"))


def _history(conversation: Json) -> Branch:
    chat = conversation["chat"]
    history = chat.get("history")
    if isinstance(history, dict) and isinstance(history.get("messages"), dict) and history["messages"]:
        return _tree(history["messages"], history.get("currentId"), "parentId", "childrenIds", lambda node: node)
    if not isinstance(chat.get("messages"), list):
        raise _no_messages("chat.messages", chat.get("messages"))
    return Branch(chat["messages"])


def _memories(conversation: Json) -> Branch:
    """The lines of what Claude remembers of the user: headings alone are no statements."""
    lines: list[Any] = []
    for name in ("conversations_memory", "project_memories"):
        held = conversation.get(name)
        texts = held.values() if isinstance(held, dict) else held if isinstance(held, list) else (held,)
        for text in texts:
            lines.extend(text.splitlines() if isinstance(text, str) else [] if text is None else [text])
    statements = [line.strip() if isinstance(line, str) else line for line in lines]
    return Branch([{"line": line} for line in statements if line and not _is_heading(line)])


def _is_heading(line: object) -> bool:
    if not isinstance(line, str):
        return False
    return line.startswith("#") or (
        line.startswith("**") and line.rstrip(":").find("**", 2) == len(line.rstrip(":")) - 2
    )


# --- messages -------------------------------------------------------------------------------------------------------


def _message(
    record: Mapping[str, Any], role: str, content: tuple[str, int], times: Iterable[str] = TIMES, **more: Any
) -> Message:
    when, note = time_of(first_of(record, times)[1])
    text, bad = content
    return Message(role, text, text_id(record, *IDS), when, odd_parts=bad, time_note=note, **more)


def _fields(message: Json) -> Json:
    """A message's fields, which LangChain keeps under `data` or `kwargs`, and Grok under `response`."""
    if isinstance(response := message.get("response"), dict):
        return response
    for name in ("data", "kwargs"):
        inner = message.get(name)
        if isinstance(inner, dict):
            kind = message.get("type")
            if isinstance(message.get("id"), list) and message["id"]:  # the class, e.g. HumanMessage
                kind = str(message["id"][-1]).removesuffix("Chunk").removesuffix("Message")
            return {**inner, "type": kind}
    return message


def _openai(message: Json) -> Message:
    message = _fields(message)
    author = message.get("author")
    words = [message.get("role"), message.get("from"), *(author.values() if isinstance(author, dict) else (author,))]
    kind = message.get("type")
    flags = (message.get(name) for name in ("isCreatedByUser", "is_user"))
    words += ["user" if flag else "assistant" for flag in flags if isinstance(flag, bool)]
    words += [message.get("sender"), None if kind == "message" else kind]
    if not any(map(_word, words)) and isinstance(kind, str) and (left_out := _item(kind)):
        return _message(message, "tool", ("", 0), left_out=left_out)
    role = _role("role", *words)
    if _unsaid(role) is not None:
        return _message(message, role, ("", 0), left_out=_unsaid(role))
    contents = [(name, message[name]) for name in CONTENTS if message.get(name) is not None]
    filled = (each for each in contents if each[1] not in ("", []))
    field, content = next(filled, contents[0] if contents else ("content", None))
    calls = message.get("tool_calls") or message.get("function_call") or message.get("audio")
    said = ("", 0) if content is None and calls else text_of(field, content)
    return _message(message, role, said, attachments=attachments_of(content))


def _item(kind: str) -> str | None:
    """Why an item of the Responses API without a role is no turn."""
    if kind.endswith(("_call", "_call_output", "_output")) or kind.startswith("mcp_"):
        return "tool"
    return "other" if kind == "reasoning" else None


def _claude(message: Json) -> Message:
    role = _role("sender", message.get("sender"), message.get("role"))
    blocks = message.get("content")
    listed = [*_listed_in(message, "attachments"), *_listed_in(message, "files")]
    pasted = [text for each in listed if (text := _pasted(each))]
    # The blocks come first: `text` may hold stand-ins for blocks that another program shows.
    text, bad = ("", 0) if blocks is None else _or_pasted(blocks, bool(pasted) or bool(message.get("text")))
    if not text and (message.get("text") is not None or (blocks is None and not pasted)):
        text, _ = text_of("text", message.get("text"))
    left = len(listed)
    for each in pasted:
        if not text or len((text + each).encode("utf-8", "replace")) < MAX_TEXT_BYTES:
            text, left = f"{text}\n{each}" if text else each, left - 1
    attached = attachments_of(blocks, [None] * left)
    return _message(message, role, (text, bad), left_out=_unsaid(role), attachments=attached)


def _or_pasted(blocks: object, more: bool) -> tuple[str, int]:
    """The text of blocks; without any, "" if the message has another text."""
    try:
        return text_of("content", blocks)
    except InputError:
        if not more:
            raise
        return "", 0


def _pasted(attachment: object) -> str | None:
    text = attachment.get("extracted_content") if isinstance(attachment, dict) else None
    return text if isinstance(text, str) and text.strip() else None


def _listed_in(message: Json, field: str) -> list[Any]:
    found = message.get(field)
    return found if isinstance(found, list) else []


def _of_fragments(message: Json) -> Json:
    """A message of DeepSeek with the author and content that ChatGPT's has: its fragments are of the user or the assistant."""
    fragments = message.get("fragments")
    if "author" in message or not isinstance(fragments, list):
        return message
    authors = {"REQUEST": "user", "RESPONSE": "assistant"}
    said = [each for each in fragments if isinstance(each, dict) and each.get("type") in authors]
    parts = [each.get("content") for each in said]
    return {**message, "author": authors[said[0]["type"]] if said else None, "content": {"parts": parts}}


def _chatgpt(message: Json) -> Message:
    message = _of_fragments(message)
    author = message.get("author")
    words = (author.get("role"), author.get("name")) if isinstance(author, dict) else (author,)
    role = _role("author.role", *words)
    content = message.get("content")
    kind = content.get("content_type") or "text" if isinstance(content, dict) else "text"
    given = message.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    left_out = _unsaid(role)
    if metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message"):
        left_out = "hidden"
    elif left_out is None and message.get("recipient") not in (None, "all"):
        left_out = "tool"
    elif left_out is None and kind not in ("text", "multimodal_text"):
        left_out = "other"
    if left_out is not None:
        return _message(message, role, ("", 0), left_out=left_out)
    parts = content
    if isinstance(content, dict):
        _, parts = first_of(content, ("parts", "text")) if content.get("parts") != [] else ("parts", [])
    said = text_of("content", parts)
    return _message(message, role, said, attachments=attachments_of(parts, metadata.get("attachments")))


def _statement(message: Json) -> Message:
    text, bad = text_of("memory", message["line"])
    return Message("assistant", text.lstrip("-*• ") if text.startswith(("- ", "* ", "• ")) else text, odd_parts=bad)


def _claude_code(line: Json) -> Message:
    kind, message = line.get("type"), line.get("message")
    if kind not in ("user", "assistant") or line.get("isSidechain") or line.get("isCompactSummary"):
        return _message(line, "system", ("", 0), left_out="system" if kind == "system" else "other")
    if line.get("isMeta"):
        return _message(line, "user", ("", 0), left_out="hidden")
    record = message if isinstance(message, dict) else {"content": message}
    role, content = _role("message.role", record.get("role"), kind), record.get("content")
    kinds = {_kind(part) for part in content if isinstance(part, dict)} if isinstance(content, list) else set()
    if kinds and kinds <= {"tool_use", "tool_result"}:
        return _message(line, role, ("", 0), left_out="tool")
    if kinds and kinds <= {"thinking", "redacted_thinking"}:
        return _message(line, role, ("", 0), left_out="other")
    said = text_of("message.content", content)
    left_out = "hidden" if role == "user" and said[0].lstrip().startswith(OF_THE_PROGRAM) else _unsaid(role)
    return _message(line, role, said, left_out=left_out, attachments=attachments_of(content))


def _codex(line: Json) -> Message:
    payload = line["payload"]
    if line.get("type") != "response_item" or payload.get("type") != "message":
        kind = str(payload.get("type"))
        return _message(line, "system", ("", 0), left_out=_item(kind) or "other")
    read = _openai({**payload, "timestamp": line.get("timestamp")})
    if read.role == "user" and read.text.startswith(OF_CODEX):
        return _message(line, "user", ("", 0), left_out="hidden")
    return read


# --- shapes ---------------------------------------------------------------------------------------------------------


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or any(
        shape in value for shape in ("mapping", "messages", "chat_messages", "turn_id")
    ):
        return False
    if "role" in value or value.get("lc") is not None or ("is_user" in value and "mes" in value):
        return True
    if isinstance(response := value.get("response"), dict):
        return _is_message(response)
    named = "from" in value or "sender" in value or _word(value.get("type")) is not None
    return named and any(
        name in value and not (name == "message" and isinstance(value[name], dict)) for name in (*CONTENTS, "data")
    )


def _has_messages(value: object) -> bool:
    return isinstance(value, list) and any(map(_is_message, value[:LOOKED_AT]))


def _is_open_webui(value: Json) -> bool:
    chat = value.get("chat")
    return isinstance(chat, dict) and ("history" in chat or "messages" in chat)


def message_shape_of(value: object) -> str | None:
    """The shape of a file of which this is one message (a line of it), or None."""
    if not isinstance(value, dict) or shape_of(value) is not None:
        return None
    if isinstance(value.get("type"), str):
        if isinstance(value.get("payload"), dict):
            return "codex"
        if isinstance(value.get("message"), dict) or "sessionId" in value or "leafUuid" in value:
            return "claude-code"
    return "openai" if _is_message(value) else None


Sessions = dict[tuple[str, str], dict[str, Any]]
"""Conversations by shape and session."""


def conversations_of(messages: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, Json]]:
    """Conversations of messages that stand alone, each with its shape: one for each session."""
    sessions: Sessions = {}
    session = ""
    for shape, message in messages:
        if shape == "codex" and message.get("type") == "session_meta":
            session = text_id(message["payload"], "id") or session
        if shape == "claude-code":
            session = text_id(message, "sessionId") or session
        field = "messages" if shape == "openai" else "lines"
        key = (shape, "" if shape == "openai" else session)
        held = sessions.setdefault(key, {"id": key[1] or None, field: []})
        held[field].append(message)
    _join_unnamed(sessions)
    yield from ((shape, conversation) for (shape, _), conversation in sessions.items())


def _join_unnamed(sessions: Sessions) -> None:
    """Lines before the first that names its session belong to that session."""
    for shape in ("claude-code", "codex"):
        named = next((name for each, name in sessions if each == shape and name), None)
        if named is not None and (unnamed := sessions.pop((shape, ""), None)) is not None:
            held = sessions[shape, named]
            held["lines"] = [*unnamed["lines"], *held["lines"]]


MESSAGES = ("contents", "responses", "history", "turns")
"""Fields of a conversation that hold its messages under another name than `messages`."""


def _has(*names: str) -> Callable[[Json], bool]:
    return lambda value: any(name in value for name in names)


SHAPES = {
    shape.name: shape
    for shape in (
        ChatShape("chatgpt", "mapping", _has("mapping"), _mapping, _chatgpt),
        ChatShape("claude", "chat_messages", _has("chat_messages"), _listed("chat_messages"), _claude),
        ChatShape(
            "openai",
            "messages",
            lambda value: "messages" in value or any(_has_messages(value.get(name)) for name in MESSAGES),
            _listed("messages", *MESSAGES),
            _openai,
        ),
        ChatShape(
            "sharegpt",
            "conversations of from and value",
            lambda value: _has_messages(value.get("conversations")) or _has_messages(value.get("conversation")),
            _listed("conversations", "conversation"),
            _openai,
        ),
        ChatShape("open-webui", "chat with history", _is_open_webui, _history, _openai),
        ChatShape(
            "claude-memories",
            "conversations_memory",
            _has("conversations_memory", "project_memories"),
            _memories,
            _statement,
        ),
        ChatShape("claude-code", "lines with sessionId and message", lambda _: False, _listed("lines"), _claude_code),
        ChatShape("codex", "lines with type and payload", lambda _: False, _listed("lines"), _codex),
    )
}
