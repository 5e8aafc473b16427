"""`/docs`: every route with its purpose, every parameter with type and default; its texts stay texts, nothing is from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from importlib.resources import files
from typing import Annotated, Any, Literal, cast

import pytest
from fastapi import FastAPI, Query
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field

from engramlog_server.api.application import Application
from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.callers import OPEN_PATHS
from engramlog_server.api.http.document import FILES, REFERENCE_HEADERS, serve_reference
from tests.rows import each_row

BASE = "http://127.0.0.1:8733"
TOKEN = "a-token-of-the-tests-0123456789-abcdef"
VOID = {"meta", "link", "input"}
"""Tags that hold nothing."""
SCRIPTS = [name for name in FILES if name.endswith(".js")]


class _Anything:
    """Stands for every part of an application that is only described."""

    def __getattr__(self, _name: str) -> _Anything:
        return _Anything()


@dataclass
class Element:
    """An element of a page, with the text that is in it and in what it holds."""

    tag: str
    attributes: dict[str, str | None]
    around: list[Element]
    first: int
    """The place among the page's elements of the first one that is in it, and behind the last one."""
    behind: int = 0
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its text, blanks as one."""
        return " ".join("".join(self.words).split())

    def get(self, name: str) -> str:
        """An attribute; nothing where it has none."""
        return self.attributes.get(name) or ""


class Page(HTMLParser):
    """The elements of a page, in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """What follows is in it."""
        element = Element(tag, dict(attrs), list(self._open), len(self.elements) + 1)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Every element is closed, in order."""
        element = self._open.pop()
        assert element.tag == tag
        element.behind = len(self.elements)

    def handle_data(self, data: str) -> None:
        """A text is of everything around it."""
        for element in self._open:
            element.words.append(data)

    def within(self, around: Element) -> list[Element]:
        """The elements in another one."""
        return self.elements[around.first : around.behind]

    def all(self, tag: str, around: Element | None = None, **attributes: str) -> list[Element]:
        """The elements of a tag, in another one, with these attributes (`data_in` for `data-in`)."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            one
            for one in (self.within(around) if around else self.elements)
            if one.tag == tag and all(one.attributes.get(name, "") == value for name, value in wanted.items())
        ]

    def route(self, method: str, path: str) -> Element:
        """The element that tells this route."""
        (form,) = [one for one in self._forms if (one.get("data-method"), one.get("data-path")) == (method, path)]
        return next(one for one in reversed(form.around) if one.get("class") == "route")

    @cached_property
    def _forms(self) -> list[Element]:
        return self.all("form")


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A client of an application without a store."""
    app = create_app(cast("Application", _Anything()), admits=lambda shown: shown == TOKEN)
    with TestClient(app, base_url=BASE) as opened:
        yield opened


@pytest.fixture(scope="module")
def document(client: TestClient) -> dict[str, Any]:
    """The document that the page is made from."""
    return cast("dict[str, Any]", client.get("/v1/openapi.json").json())


@pytest.fixture(scope="module")
def page(client: TestClient) -> Page:
    """The page as it is served."""
    return Page(client.get("/docs").text)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and operation of every route."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def plain(text: str) -> str:
    """A text of the document as it reads on the page."""
    return " ".join(text.replace("`", "").split())


def test_every_route_stands_once_in_its_group_with_its_purpose_beside_it(page: Page, document: dict[str, Any]) -> None:
    told = list(operations(document))
    assert len(page.all("details", class_="route")) == len(told)
    for method, path, operation in told:
        route = page.route(method, path)
        (summary,) = [one for one in page.all("summary", route) if one.around[-1] is route]
        first = re.split(r"(?<=\.)\s", operation["description"])[0]
        assert summary.text == f"{method} {path} {operation['summary']} {plain(first)}"
        (section,) = [one for one in route.around if one.tag == "section"]
        (heading,) = page.all("h2", section)
        assert heading.text.startswith(operation["tags"][-1].capitalize())
        assert [one for one in operation["description"].split("\n\n") if plain(one) not in route.text] == []


def test_nothing_is_inline_or_from_elsewhere(page: Page, client: TestClient) -> None:
    assert [one for one in page.elements if one.tag in ("style", "iframe", "img", "base", "object", "embed")] == []
    assert [
        (one.tag, name)
        for one in page.elements
        for name in one.attributes
        if name.startswith("on") or name in ("style", "action", "formaction", "srcdoc")
    ] == []
    loaded = {one.get("src") or one.get("href") for one in page.elements if one.tag in ("script", "link")}
    assert loaded == {"/docs/page.js", "/docs/page.css"}
    assert [one.text for one in page.all("script")] == [""]
    for path, kind in FILES.items():
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, f"{kind}; charset=utf-8")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"https?://|url\(|@import|//[a-z]+\.", answer.text)
    assert set(FILES) < OPEN_PATHS


@each_row("path", ["/docs", *FILES])
def test_the_policy_admits_files_of_this_service_alone_and_no_frame(client: TestClient, path: str) -> None:
    answer = client.get(path)
    told = [part.strip().partition(" ")[::2] for part in answer.headers["content-security-policy"].split(";")]
    assert dict(told) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert REFERENCE_HEADERS.items() <= dict(answer.headers).items()


@each_row("path", SCRIPTS)
def test_a_script_neither_stores_nor_logs_nor_makes_markup_of_a_text(path: str) -> None:
    source = files("engramlog_server.api.http").joinpath("page", path.rpartition("/")[2]).read_text("utf-8")
    banned = (
        r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|Function|localStorage|sessionStorage|indexedDB"
    )
    banned += (
        r"|cookie|console|sendBeacon|XMLHttpRequest|WebSocket|EventSource|setTimeout|postMessage|window\.open|import\()"
    )
    assert re.findall(banned, source) == []
    assert re.findall(r'from "([^"]+)"', source) in ([], ["./request.js"])


def test_the_token_is_read_in_one_place_and_goes_into_one_header() -> None:
    source = files("engramlog_server.api.http").joinpath("page", "page.js").read_text("utf-8")
    assert re.findall(r".*\btoken\.value\b.*", source) == [
        '  token.value = "";',
        "  const shownToken = token.value.trim();",
    ]
    assert [line.count("shownToken") for line in source.splitlines() if "shownToken" in line] == [1, 1, 2]
    for manner in ('mode: "same-origin"', 'credentials: "omit"', 'cache: "no-store"', 'redirect: "error"'):
        assert source.count(manner) == 1
    assert source.count("fetch(") == 1


def test_requests_of_the_page_are_admitted_and_those_of_another_are_not(client: TestClient) -> None:
    of_the_page = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "same-origin", "origin": BASE}
    shown = {"authorization": f"Bearer {TOKEN}", "engramlog-request": "1"}
    assert client.post("/v1/nothing", headers=of_the_page | shown).status_code == 404
    assert client.post("/v1/nothing", headers=of_the_page).status_code == 401
    # what `no-referrer` would make of the Origin: the script asks with a policy of its own
    assert client.post("/v1/nothing", headers=of_the_page | shown | {"origin": "null"}).status_code == 403
    for path in FILES:
        assert client.get(path, headers={"sec-fetch-site": "same-origin"}).status_code == 200
        for site in ("same-site", "cross-site"):
            assert client.get(path, headers={"sec-fetch-site": site}).status_code == 403


class Branch(BaseModel):
    """A model that holds itself."""

    depth: Annotated[int, Field(gt=0, lt=9, description="How deep.")]
    rest: list[Branch] = []
    beside: Branch | None = None


def made_up() -> FastAPI:
    """An application whose document says what ours does not say yet."""
    app = FastAPI(docs_url=None, openapi_tags=[{"name": "trees", "description": "<b>Trees</b> & more."}])

    @app.get("/trees/{name}", tags=["trees"], summary="<i>Find</i>")
    def find(
        name: str,
        size: Annotated[int, Query(ge=1, le=10, description="Of `<leaves>`.")] = 5,
        kind: Annotated[Literal["oak", "ash"], Query(description='"><script>alert(1)</script>')] = "oak",
        code: Annotated[str, Query(min_length=2, max_length=4, pattern="^a+$")] = "",
    ) -> Branch:
        """Look. Then `look` again: <img src=x onerror=alert(1)>."""
        raise NotImplementedError(name, size, kind, code)

    made = app.openapi

    def described() -> dict[str, Any]:
        document = made()
        document["info"]["description"] = "Made up."
        document["components"] |= {"securitySchemes": {"token": {"description": "None."}}}
        document["components"]["schemas"]["ProblemShape"] = {"properties": {"detail": {"type": "string"}}}
        for answer in document["paths"]["/trees/{name}"]["get"]["responses"].values():
            for content in answer["content"].values():
                content["example"] = {"text": "</pre><script>alert(1)</script>"}
        return document

    app.openapi = described  # type: ignore[method-assign]
    serve_reference(app)
    return app


@pytest.fixture(scope="module")
def invented() -> Page:
    """The page of an application made up here."""
    with TestClient(made_up(), base_url=BASE) as opened:
        return Page(opened.get("/docs").text)


def test_texts_of_the_document_stay_texts(invented: Page) -> None:
    assert [one.tag for one in invented.elements if one.tag in ("img", "script")] == ["script"]
    assert "<script>alert" not in invented.text
    assert "</pre><script>alert(1)</script>" in next(one for one in invented.all("pre") if "text" in one.text).text
    assert "<b>Trees</b> & more." in invented.all("h2")[0].text
    route = invented.route("GET", "/trees/{name}")
    assert "<i>Find</i> Look." in route.text
    assert "look again: <img src=x onerror=alert(1)>." in route.text
