"""The MCP server: tools, resources and prompts over the service layer that the other faces stand on too.

What a client is told of a failure: our errors in their own words, for they say what to do; of anything else only that it
happened. What a tool was told never reaches a log line.
Tools and resources run where their class of work says, for the owner of their connection.

Every client puts the schemas of all tools into each prompt, so their size counts: they are one flat document each, without
references and without unions with null. An argument that may be left out is not required. A list of objects is described by the
names of their fields.

Resources are what a client can show or attach without a tool call: JSON, of the connection's owner; reading leaves no trace. Over
standard input and output a request that cannot be read is answered too, so that its sender does not wait.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial, wraps
from importlib.resources import files
from inspect import signature
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, Self, get_args, get_origin, get_type_hints
from urllib.parse import quote

import orjson
from anyio import EndOfStream
from mcp.server import MCPServer
from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError
from mcp_types import INVALID_PARAMS, ToolAnnotations
from pydantic import Field, ValidationError
from typing_extensions import is_typeddict

from engramlog_server.api.admission import Admission
from engramlog_server.api.checks import asked_by, come_in_by, masked_name, safe_refusal
from engramlog_server.api.choices import decoded_id, program_version
from engramlog_server.api.mcp.connection import IDS, Connection, ToolAnswer, as_recorded, cleaned, marked
from engramlog_server.api.mcp.tools_audit import audit_tools
from engramlog_server.api.mcp.tools_say import SayTools
from engramlog_server.api.mcp.tools_search import ContextTools, KnowTools, SearchTools
from engramlog_server.api.operations.definition import OWNERS
from engramlog_server.api.work import Work
from engramlog_server.events.errors import AccessDenied, EngramlogError, InputError, NotFound

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream


def admitted(function: Callable[..., Any], work: Work, admission: Admission) -> Callable[..., Any]:
    """The function as a coroutine that asks for admission first; its arguments and its answer stay."""

    @wraps(function)
    async def placed(*args: Any, **given: Any) -> Any:
        return await admission.run(work, Connection.named_owner(), partial(come_in_by, "mcp", function, *args, **given))

    return placed


Tell = Callable[..., None]
Arguments = dict[str, Any]
"""Of a call, by name."""


class OnCall(Protocol):
    """ToolAnswer of a call of a tool."""

    def __call__(self, tool: str, *, answered: bool) -> None: ...


READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
TAKES_AWAY = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
DEMOTES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
LANGUAGES = ("en", "zh")
"""Of the prompt."""
ARGUMENTS = {
    "correction": "content",
    "kind": "memory_type",
    "kinds": "memory_types",
    "since": "time_range",
    "until": "time_range",
    "tags": "context_tags",
    "feeling": "emotional_filter",
    "least": "min_score",
}
"""What the service layer calls what a tool calls otherwise."""
DENIED = "Trying again will not help: tell the user; the operator of this memory can grant it"


Hinted = tuple[Callable[..., Any], str, ToolAnnotations]
"""A tool: what it does, its title, its hints."""


def _for_agents(connection: Connection) -> list[Hinted]:
    search, say, know = SearchTools(connection), SayTools(connection), KnowTools(connection)
    return [
        (ContextTools(connection).memory_context, "Memories for an answer", READS),
        (search.search_memories, "Search memories", READS),
        (search.memory_contextual_search, "Search by context", READS),
        (search.get_memory_detail, "One memory in full", READS),
        (say.add_memory, "Remember", ADDS),
        (say.add_turns, "Record messages", ADDS),
        (say.update_memory, "Correct", DEMOTES),
        (say.reinforce_memory, "It came up, holds, helped or misled", ADDS),
        (say.delete_memory, "Delete", TAKES_AWAY),
        (know.memory_assess_knowledge, "How sure we are", READS),
        (know.memory_knowledge_map, "Map of a topic", READS),
        (know.memory_review_due, "What to confirm", READS),
    ]


def _for_auditors(connection: Connection) -> list[Hinted]:
    return [(tool, title, READS) for tool, title in audit_tools(connection)]


TOOLSETS: Mapping[str, Callable[[Connection], list[Hinted]]] = {"agent": _for_agents, "audit": _for_auditors}
"""Who asks: an agent in a conversation, or whoever looks over what is remembered (instructions of each in `prompts/`)."""


def tools_of(connection: Connection, admission: Admission, toolset: str) -> list[Tool]:
    """Every tool of a toolset, with its hints, run where its class of work says.

    Unknown arguments are refused: a misspelt one would be passed over in silence.
    """
    tools = []
    for function, title, hints in TOOLSETS[toolset](connection):
        described = " ".join((function.__doc__ or "").split())
        placed = admitted(function, getattr(function, "work", Work.LIGHT), admission)
        asked = signature(function, eval_str=True)
        placed.__signature__ = asked.replace(return_annotation=dict[str, Any])  # type: ignore[attr-defined]
        tool = Tool.from_function(placed, title=title, description=described, annotations=hints)
        tool.parameters = of_arguments(tool.parameters)
        if not connection.also:  # every prompt pays for an argument, and this one would only be refused
            tool.parameters["properties"].pop(OWNERS.name, None)
        tool.fn_metadata.output_schema = of_answer(asked.return_annotation)
        tools.append(tool)
    return tools


class MemoryServer(MCPServer[Any]):
    """An MCP server of one store."""

    def __init__(
        self,
        connection: Connection,
        tell: Tell = lambda *_args, **_facts: None,
        admission: Admission | None = None,
        toolset: str = "agent",
        on_call: OnCall | None = None,
    ) -> None:
        """`on_call` is told of each call of a tool, whether it was answered; the name is the client's own word."""
        admission = admission or Admission()
        tools = tools_of(connection, admission, toolset)
        super().__init__(
            "engramlog",
            title="Engramlog",
            description="A lasting memory for agents that can say why it remembers what it remembers.",
            instructions=_prompt("instructions" if toolset == "agent" else f"instructions_{toolset}"),
            version=program_version(),
            tools=tools,
            log_level="ERROR",
            middleware=[self._of_its_owner],
        )
        self._connection = connection
        self._tell = tell
        self._on_call = on_call
        self._arguments = {tool.name: frozenset(tool.fn_metadata.arg_model.model_fields) for tool in tools}
        resources = Resources(connection)
        told: Mapping[str, Any] = {"mime_type": "application/json"}

        def placed(function: Callable[..., Any]) -> Callable[..., Any]:
            return admitted(function, Work.LIGHT, admission)

        self.resource(ABOUT_URI, name="about", title="About this memory", **told)(placed(resources.about))
        self.resource(RECENT_URI, name="recent", title="Recent memories", **told)(placed(resources.recent))
        self.resource(INBOX_URI, name="inbox", title="What waits for a person", **told)(placed(resources.inbox))
        # Ids hold / and .. as they like: they are looked up in a store, never opened as files.
        free = ResourceSecurity(exempt_params={"memory_id"})
        self.resource(MEMORY_URI, name="memory", title="One memory", security=free, **told)(placed(resources.memory))
        self.prompt(title="When to search memory")(when_to_search)

    async def _of_its_owner(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> Any:
        """Everything that a request leads to is about the owner of its connection, and asked by whoever sent it."""
        named = getattr(ctx.request, "path_params", {}).get("owner")
        try:
            with self._connection.told(named), _sent_by(ctx.request):
                return await call_next(ctx)
        except InputError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(safe_refusal(error)["message"])) from None

    async def call_tool(self, name: str, arguments: Arguments, context: Context[Any, Any] | None = None) -> Any:
        """Call a tool. Raises ToolError, with a text that a model can act on."""
        answered = False
        try:
            told = await self._called(name, arguments, context)
            answered = True
            return told
        finally:
            if self._on_call is not None:
                self._on_call(name, answered=answered)

    @property
    def tool_names(self) -> frozenset[str]:
        """The tools that there are."""
        return frozenset(self._arguments)

    async def _called(self, name: str, arguments: Arguments, context: Context[Any, Any] | None) -> Any:
        known = self._arguments.get(name)
        for unknown in sorted(arguments.keys() - known) if known is not None else ():
            raise ToolError(
                cleaned(f"{masked_name(unknown)}: no such argument; allowed: {', '.join(sorted(known or ()))}")
            )
        try:
            told = await super().call_tool(name, _with_ids(arguments), context)
        except ToolError as error:
            raise ToolError(cleaned(self._told_of(error, name))) from None
        return as_recorded(told)

    async def read_resource(self, uri: Any, context: Context[Any, Any] | None = None) -> Any:
        """Read a resource. Raises ResourceError, with a text as of a tool."""
        try:
            return await super().read_resource(uri, context)
        except ResourceError as error:
            cause = _cause(error)
            kind = ResourceNotFoundError if isinstance(cause, NotFound | ResourceNotFoundError) else ResourceError
            raise kind(cleaned(self._told_of(error, str(uri).partition("://")[2].partition("/")[0]))) from None

    async def get_prompt(
        self, name: str, arguments: Arguments | None = None, context: Context[Any, Any] | None = None
    ) -> Any:
        """A prompt. Raises MCPError where there is no such prompt or language."""
        language = (arguments or {}).get("language", LANGUAGES[0])
        if name != when_to_search.__name__ or language not in LANGUAGES:
            told = (
                f"prompt: got {name!r} in {language!r}; allowed: {when_to_search.__name__} in {' or '.join(LANGUAGES)}"
            )
            raise MCPError(code=INVALID_PARAMS, message=told)
        return await super().get_prompt(name, arguments, context)

    def _told_of(self, error: Exception, name: str) -> str:
        cause = _cause(error)
        if isinstance(cause, AccessDenied):
            return f"{str(safe_refusal(cause)['message']).partition('. `')[0]}. {DENIED}"
        if isinstance(cause, EngramlogError):
            return _in_terms_of_arguments(safe_refusal(cause)["message"])
        if isinstance(cause, ValidationError):
            from engramlog_server.api.http.problem import input_error

            return str(
                safe_refusal(input_error([{**one, "loc": ("tool", *one["loc"])} for one in cause.errors()]))["message"]
            )
        if cause is error:  # the SDK's own words: an unknown tool or resource
            return str(error)
        where = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(cause.__traceback__)[-3:]]
        self._tell("tool failed", tool=name, error=type(cause).__name__, where=where, alarm=True)
        return f"{name} failed unexpectedly; the server's log says where"


def _with_ids(arguments: Arguments) -> Arguments:
    """The arguments with ids as they are, of which an answer may have told one percent-encoded."""
    return {
        name: decoded_id(value) if name in IDS and isinstance(value, str) else value
        for name, value in arguments.items()
    }


def _in_terms_of_arguments(message: str) -> str:
    """A refusal that names the argument as the tools call it."""
    field, colon, rest = message.removeprefix("data.").partition(": ")
    name, space, part = field.partition(" ")
    return f"{ARGUMENTS.get(name, name)}{space}{part}{colon}{rest}"


def _sent_by(request: Any) -> AbstractContextManager[None]:
    """Everything within is asked by whoever sent an HTTP request, as the guard recognised him; without one by who started this."""
    if request is None:
        return nullcontext()
    from engramlog_server.api.http.callers import caller_in

    caller = caller_in(request.scope)
    if caller is None:
        raise AccessDenied("Authorization: got nobody whom this server knows; allowed: Bearer and a key of this store")
    return asked_by(caller)


def _cause(error: BaseException) -> BaseException:
    """What was raised first."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def when_to_search(
    language: Annotated[Literal["en", "zh"], Field(description="en or zh")] = "en",
) -> str:
    """Teaches an agent when to look into memory, how, and what to make of what it finds."""
    return _prompt(f"when_to_search.{language}")


@cache
def _prompt(name: str) -> str:
    return files("engramlog_server.api.mcp").joinpath("prompts", f"{name}.md").read_text("utf-8")


Schema = dict[str, Any]
"""A JSON Schema, as clients get it."""
LEFT_OUT = ("title", "$defs", "additionalProperties")
"""Keys of a schema that repeat its names."""
NULL = {"type": "null"}
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
UNSET = (None, "", False)
"""Defaults that an argument has as nobody would expect another."""


def of_arguments(schema: Mapping[str, Any]) -> Schema:
    """The schema of a tool's arguments."""
    return _flat(schema, schema.get("$defs", {}))


def of_answer(kind: Any) -> Schema:
    """The schema of a tool's answer, of the class that it returns; of an auditor's tool any object.

    A field that may be null is left out, unless words say what it is: then it has no type.
    """
    told = get_type_hints(kind, include_extras=True) if is_typeddict(kind) else {}
    fields = {name: _field(one) for name, one in told.items()}
    return {"type": "object", "properties": {name: field for name, field in fields.items() if field}}


def _field(kind: Any) -> Schema:
    words: str | None = ""
    if get_origin(kind) is Annotated:
        kind, words = get_args(kind)
    if words is None:
        return {}
    several = get_args(kind) if get_origin(kind) is list else ()
    if several and is_typeddict(several[0]):
        words = ", ".join(several[0].__annotations__)
    described = {"description": words} if words else {}
    if type(None) in get_args(kind):
        return described
    return {"type": TYPES[get_origin(kind) or kind], **described}


def _flat(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """The schema with its references followed, without null as a kind."""
    if "$ref" in schema:
        own = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **own}
    if NULL in schema.get("anyOf", ()):
        (kind,) = (one for one in schema["anyOf"] if one != NULL)
        schema = {**kind, **{name: schema[name] for name in schema if name != "anyOf"}}
    flat = {name: value for name, value in schema.items() if name not in LEFT_OUT and value != ""}
    if flat.get("default", NULL) in UNSET:
        del flat["default"]
    if "enum" in flat:
        flat.pop("type", None)
    if "items" in flat:
        flat["items"] = _flat(flat["items"], definitions)
    if "properties" in flat:
        flat["properties"] = {name: _flat(one, definitions) for name, one in flat["properties"].items()}
    return flat


RECENT = 20
ABOUT_URI = "memory://about"
RECENT_URI = "memory://recent"
INBOX_URI = "memory://inbox"
MEMORY_URI = "memory://memories/{+memory_id}"


class Resources:
    """What can be read by its address."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def about(self) -> str:
        """Whose memories these are, how many, under which law they fade, and when the newest was active."""
        with self._connection.session() as asked:
            newest = asked.application.reader.list(asked.owner, limit=1)
            law = asked.application.living.profile(asked.owner)
        return _json(
            {
                "owner": asked.owner,
                "memories": newest["total"],
                "withheld": {one["reason"]: one["count"] for one in newest["withheld"]},
                "newest_activity": next((one["last_activated_at"] for one in newest["memories"]), None),
                "profile": law["profile"],
                "position": newest["position"],
                "behind": newest["behind"],
                "tools": "search_memories finds memories; the prompt when_to_search says when to use it",
            }
        )

    def recent(self) -> str:
        """The twenty memories that were active last."""
        with self._connection.session() as asked:
            listed = asked.application.reader.list(asked.owner, limit=RECENT)
        names = ("memory", "kind", "category", "created_at", "last_activated_at", "status")
        found: Sequence[Mapping[str, Any]] = listed["memories"]
        memories = [
            {"id": one["id"], "score": one["weight"], "uri": _uri(one["id"])} | {name: one[name] for name in names}
            for one in found
        ]
        told = {"owner": asked.owner, "total": listed["total"], "behind": listed["behind"], "memories": memories}
        return _json(told)

    def inbox(self) -> str:
        """The twenty newest things that wait for a person: only the user answers them, and none of them counts before."""
        with self._connection.session() as asked:
            told = asked.application.inbox.page(asked.owner, limit=RECENT)
        return _json({name: told[name] for name in ("owner", "items", "total", "position")})

    def memory(self, memory_id: str) -> str:
        """One memory, as `get_memory_detail` tells it; secrets stay withheld."""
        with self._connection.session() as asked:
            memory_id = asked.named(memory_id)
            told = asked.application.reader.get(asked.owner, memory_id, trace=False)
        return _json(dict(told))


def _uri(memory_id: str) -> str:
    return MEMORY_URI.replace("{+memory_id}", quote(memory_id, safe="/:@+"))


def _json(document: ToolAnswer) -> str:
    return orjson.dumps(marked(document), option=orjson.OPT_INDENT_2).decode()


async def serve(server: MemoryServer) -> None:
    """Answer until standard input ends. Standard output carries the protocol and nothing else."""
    lowlevel = server._lowlevel_server  # as the SDK's own run_stdio_async
    async with stdio_server() as (messages, answers):
        readable = _Readable(messages, answers)
        await lowlevel.run(readable, answers, lowlevel.create_initialization_options())


class _Readable:
    """The messages that can be read; a request that cannot, such as one with half a surrogate pair, is refused at once.

    The SDK only logs such a line, and whoever asked would wait for ever.
    """

    def __init__(self, messages: ReadStream[SessionMessage | Exception], answers: WriteStream[SessionMessage]) -> None:
        self._messages = messages
        self._answers = answers

    async def receive(self) -> SessionMessage | Exception:
        """The next message; an exception stands for a line that is no request."""
        while True:
            message = await self._messages.receive()
            refusal = refusal_of(message) if isinstance(message, ValidationError) else None
            if refusal is None:
                return message
            await self._answers.send(SessionMessage(refusal))

    async def aclose(self) -> None:
        """Close what it reads from."""
        await self._messages.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def refusal_of(problem: ValidationError) -> JSONRPCError | None:
    """The answer to a line that is no JSON to the SDK, if a request's id can be read in it all the same; it quotes nothing."""
    found = problem.errors(include_url=False)[0]
    if found["type"] != "json_invalid":
        return None
    try:
        asked = json.loads(found["input"])
    except (ValueError, RecursionError, TypeError):
        return None
    asked_id = asked.get("id") if isinstance(asked, dict) and "method" in asked else None
    if isinstance(asked_id, bool) or not isinstance(asked_id, int | str) or not str(asked_id).isprintable():
        return None
    why = f"no text that can be read ({found.get('ctx', {}).get('error', 'no JSON')}); allowed: JSON without half surrogate pairs"
    return JSONRPCError(jsonrpc="2.0", id=asked_id, error=ErrorData(code=PARSE_ERROR, message=why))
