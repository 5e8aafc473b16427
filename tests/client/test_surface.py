"""What the client offers: one list of verbs for both kinds, scope given the same way everywhere, only what the service has."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from engramlog import AsyncMemory, InputError, Memory, OwnerMissing, UnexpectedAnswer, answers
from engramlog.client import Verb, Verbs
from tests.architecture.test_layers import made_at_import
from tests.given.client import connected, new_owner, service
from tests.made.client_source import VERBS as MADE
from tests.patience import PATIENCE
from tests.rows import each_row
from tests.wheels import built

CLIENT = Path(__file__).resolve().parents[2] / "client"
OF_ALL = {
    *("laws", "parameters", "owners", "status", "alarms", "partition_events"),
    *("heads", "check_heads", "jobs", "capacity", "models"),
    *("me", "access", "make_key", "revoke_key", "set_grants", "reads"),
}
"""Of the whole store: no owner is asked for, and a client of one owner asks for none but the laws, their
parameters, and who it is."""
VERBS = sorted(name for name in dir(Verbs) if isinstance(getattr(Verbs, name), Verb))
NAMED: dict[str, dict[str, Any]] = {"set_sensitivity": {"reason": "made up"}}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{name: () for name in MADE if "memory_id" not in MADE[name].subject},
    "add": ("I drink coffee",),
    "add_many": (["I drink coffee"],),
    "append": ([{"type": "MemoryMentioned", "data": {}}],),
    "search": ("coffee",),
    "edit": ("coffee", "I drink tea"),
    "update": ("coffee", "I drink tea"),
    "merge": (["coffee", "tea"],),
    "restore_many": (["coffee"],),
    "set_sensitivity": ("coffee", 1),
    "report_ground": ("https://wiki.example.org/flats", "sha256:9f86d081"),
    "import_chats": ([{"messages": []}],),
    "extract": (),
    "export": (),
    "get_all": (),
    "delete_all": (),
    "partition_events": (3,),
    "assess": ("coffee",),
    "check_heads": ("{}",),
    "map": ("coffee",),
    "map_picture": ("coffee",),
    "curves_picture": ("coffee",),
    "diff": ("2026-01-01",),
    "define_synonym": ("coffee", "brew"),
    "grade": ("coffee", 4),
    "accept": ("item",),
    "amend": ("item", "I drink tea"),
    "reject": ("item",),
    "answer": ("t1",),
    "make_key": ("support",),
    "revoke_key": ("k7m2p9qa",),
    "set_grants": ("support", []),
}


@each_row("verb", VERBS)
def test_both_kinds_have_the_verb_with_one_signature_and_one_description(verb: str) -> None:
    plain, awaited = getattr(Memory(), verb), getattr(AsyncMemory(), verb)
    assert inspect.signature(plain) == inspect.signature(awaited)
    assert plain.__doc__ == awaited.__doc__ == getattr(Memory, verb).__doc__ != ""


@each_row("verb", sorted(set(VERBS) - OF_ALL))
def test_every_verb_takes_the_owner_by_name_and_only_delete_all_demands_it(verb: str) -> None:
    owner = inspect.signature(getattr(Memory(), verb)).parameters["owner"]
    default = inspect.Parameter.empty if verb == "delete_all" else None
    assert (owner.kind, owner.default) == (inspect.Parameter.KEYWORD_ONLY, default)


@each_row("verb", sorted(set(VERBS) - OF_ALL - {"delete_all"}))
def test_without_an_owner_nothing_is_sent(verb: str) -> None:
    with Memory(transport=httpx2.MockTransport(_never)) as memory, pytest.raises(OwnerMissing, match="whose memories"):
        getattr(memory, verb)(*ARGUMENTS.get(verb, ("coffee",)), **NAMED.get(verb, {}))


@each_row("verb", sorted(OF_ALL - {"laws", "parameters", "me"}))
def test_a_client_of_one_owner_asks_nothing_of_the_whole_store(verb: str) -> None:
    with Memory(transport=httpx2.MockTransport(_never), owner="alice") as memory, pytest.raises(InputError) as refusal:
        getattr(memory, verb)(*ARGUMENTS[verb])
    assert refusal.value.field == "owner"


@each_row("verb", sorted(set(VERBS) - OF_ALL))
@each_row("owner", ["bob", "..", ""])
def test_a_client_of_one_owner_reaches_no_other(verb: str, owner: str) -> None:
    with Memory(transport=httpx2.MockTransport(_never), owner="alice") as memory:
        with pytest.raises(InputError) as refusal:
            getattr(memory, verb)(*ARGUMENTS.get(verb, ("coffee",)), **NAMED.get(verb, {}), owner=owner)
    assert refusal.value.field == "owner"


def _never(request: httpx2.Request) -> httpx2.Response:
    raise AssertionError(f"{request.method} {request.url} was sent")


@each_row("owner", ["", ".", ".."])
def test_an_owner_that_would_change_the_path_is_refused(owner: str) -> None:
    with pytest.raises(InputError):
        Memory().of(owner)


def test_a_client_of_one_owner_makes_none_of_another() -> None:
    scoped = Memory().of("alice")
    assert scoped.of("alice").scope.owner == "alice"
    with pytest.raises(InputError) as refusal:
        scoped.of("bob")
    assert refusal.value.field == "owner"


def test_an_address_without_a_scheme_is_refused() -> None:
    with pytest.raises(InputError, match="http://127"):
        Memory("127.0.0.1:8733")


def test_everything_it_asks_is_in_the_contract_of_the_service(tmp_path: Path) -> None:
    """Paths and query parameters of all verbs, against the OpenAPI document that the service gives."""
    asked: list[httpx2.Request] = []

    class Watched(httpx2.HTTPTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            asked.append(request)
            return super().handle_request(request)

    with service(tmp_path) as running, connected("sync", running.url, transport=Watched(), owner=new_owner()) as memory:
        contract = httpx2.get(f"{running.url}/v1/openapi.json", timeout=PATIENCE).json()["paths"]
        _all_verbs(memory)
    unknown = [f"{one.method} {one.url}" for one in asked if not _is_known(one, contract)]
    assert (unknown, len(asked) > 20) == ([], True)


def _all_verbs(memory: Memory) -> None:
    first, second, third = (memory.add(text).id or "" for text in ("I drink coffee", "I drink tea", "I read"))
    memory.search("tea", **_everything("search", cursor=None, ranking="overlap"))
    memory.context("tea", **_everything("context"))
    for verb in ("get", "history"):
        getattr(memory, verb)(third, **_everything(verb))
    memory.why(third, query="tea", **_everything("why", above=first, ranking="text"))
    memory.get_all(**_everything("get_all"))
    memory.update(first, "I drink much coffee")
    memory.negate(first, correction="I drink cocoa")
    memory.confirm(second)
    memory.reinforce(second)
    memory.set_sensitivity(second, 1, reason="made up")
    into = memory.merge([second, third]).into or ""
    memory.unmerge(into)
    memory.delete(third)
    memory.restore(third)
    chats = [{"messages": [{"role": "user", "content": "I read novels"}]}]
    memory.import_chats(chats, shape="openai", since="2026-01-01T08:00:00Z", turns_only=True)
    memory.extract(dry_run=True)
    memory.delete_all(owner=memory.scope.owner or "")


OF_ITS_KIND: dict[str, Any] = {
    "bool": True,
    "int": 1,
    "float": 0.1,
    "str": "x",
    "Sequence[str]": ["x"],
    "datetime | str": "2100-01-01",
}


def _everything(verb: str, **given: Any) -> dict[str, Any]:
    """A value for every optional argument: one of its kind, if no other is needed."""
    values: dict[str, Any] = {
        "as_of": None,
        "at": None,
        "after": None,
        "mode": "review",
        "search_mode": "keyword",
        "since": "2026-01-01",
        "feeling": "positive",
        "recorded_since": "2026-01-01",
        "kinds": ["create"],
        "law": "ebbinghaus",
        "metadata": {"page": 4, "checked": True},
        "budget": 800,
        "language": "zh",
        "stable_budget": 100,
        "related": "always",
        "actor": "user",
        "categories": ["fact"],
        "trust": "inferred",
        "trace": False,
    } | given
    names = inspect.signature(getattr(Memory(), verb)).parameters
    told = {
        name: values[name] if name in values else OF_ITS_KIND[str(one.annotation).removesuffix(" | None")]
        for name, one in names.items()
        if name != "owner"
    }
    return {name: value for name, value in told.items() if name not in ("query", "memory_id", "text")}


def _is_known(request: httpx2.Request, contract: dict[str, Any]) -> bool:
    path = request.url.raw_path.decode().partition("?")[0]
    for template, methods in contract.items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) and request.method.lower() in methods:
            known = {one["name"] for one in methods[request.method.lower()].get("parameters", [])}
            return set(parse_qs(urlsplit(str(request.url)).query)) <= known
    return False


def test_fields_that_are_new_to_the_client_are_kept() -> None:
    skipped = answers.Skipped.decode({"id": "a", "reason": "b", "since": "today"})
    assert (skipped.extra_fields, skipped.as_dict()["since"]) == ({"since": "today"}, "today")


def test_an_answer_without_a_field_that_it_must_have_is_an_error_of_the_client() -> None:
    with pytest.raises(UnexpectedAnswer, match=r"Skipped: .*reason"):
        answers.Skipped.decode({"id": "a"})


def test_it_imports_nothing_of_the_service_and_only_one_library() -> None:
    script = "import sys; before = set(sys.modules); import engramlog; print(*{n.partition('.')[0] for n in sys.modules} - before)"
    ran = subprocess.run(
        [sys.executable, "-P", "-c", script], env={"PYTHONPATH": str(CLIENT)}, capture_output=True, check=True
    )
    loaded = set(ran.stdout.decode().split())
    assert loaded.isdisjoint({"engramlog_server", "redis", "fastapi", "msgspec", "orjson", "pydantic"})
    sources = [path.read_text("utf-8") for path in (CLIENT / "engramlog").rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)}
    assert named - set(sys.stdlib_module_names) == {"agents", "engramlog", "httpx2", "langgraph"}


def test_importing_it_makes_no_connection_and_no_thread() -> None:
    modules = sorted(path.stem for path in (CLIENT / "engramlog").glob("[a-z]*.py") if path.stem != "langgraph")
    assert made_at_import(CLIENT, "engramlog", *(f"engramlog.{name}" for name in modules)) == ""


def test_types_tell_what_is_awaited_and_what_is_demanded(tmp_path: Path) -> None:
    """For a type checker too both kinds come from one verb."""
    script = tmp_path / "typed.py"
    script.write_text(
        "from engramlog import AsyncMemory, Memory\n"
        "reveal_type(Memory().search('x'))\n"
        "reveal_type(AsyncMemory().search('x'))\n"
        "Memory().search(3)\n"
        "Memory().delete_all()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--follow-imports=silent", str(script)],
        env={"MYPYPATH": str(CLIENT), "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    told = ran.stdout
    assert 'Revealed type is "engramlog.answers.search.Found"' in told, told + ran.stderr
    assert 'Revealed type is "typing.Coroutine[Any, Any, engramlog.answers.search.Found]"' in told
    assert [line.partition("error: ")[2] for line in told.splitlines() if "error: " in line] == [
        'Value of type "Coroutine[Any, Any, Found]" must be used  [unused-coroutine]',
        'Argument 1 has incompatible type "int"; expected "str"  [arg-type]',
        'Missing named argument "owner"  [call-arg]',
    ]


def test_the_distribution_holds_the_package_and_its_types(tmp_path: Path) -> None:
    from zipfile import ZipFile

    names = ZipFile(built(CLIENT, tmp_path)).namelist()
    assert {"engramlog/__init__.py", "engramlog/client.py", "engramlog/py.typed"} <= set(names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"engramlog", "engramlog_client"}
