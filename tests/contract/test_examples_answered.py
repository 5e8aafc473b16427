"""What the OpenAPI document shows can be sent, and what is answered is of the shape that it shows: every route, every example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

from tests.given.asking import STUCK, Asking, bodies, first_answers, needed, story
from tests.given.shaped import JSON

OF_ANOTHER_STORE = re.compile(r'"field":"(as_of|known|after|cursor|from|search_mode)"')
"""Why an example may be refused: positions, pages and the embedder of a store are not those of another one."""
OF_THE_BODY = "shape"
"""A parameter that says what the body is: the example of a body is of one shape."""


@pytest.fixture
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    with story(tmp_path_factory.mktemp("examples")) as opened:
        yield opened


def test_the_first_example_of_every_route_does_what_it_says_and_every_answer_has_its_shape(asking: Asking) -> None:
    assert [one for one in first_answers(asking) if one.status not in (200, 207)] == []
    shaped = {
        f"{method} {path}"
        for method, path, operation in asking.operations
        if "$ref" in operation["responses"]["200"]["content"].get(JSON, {}).get("schema", {})
    }
    assert len(shaped) > 55
    assert shaped - asking.checked == set()


def test_every_example_of_a_parameter_or_body_is_answered_as_the_document_says(asking: Asking) -> None:
    answers = []
    for method, path, operation in asking.operations:
        first = bodies(operation)[0]
        queries = [
            {one["name"]: example}
            for one in operation.get("parameters", ())
            if one["in"] == "query" and one["name"] != OF_THE_BODY
            for example in one["schema"]["examples"]
        ]
        for query, body in [*product(queries, [first]), *product([{}], bodies(operation)[1:])]:
            answers.append(asking.ask(method, path, operation, "alice", needed(operation) | query, body))
    assert len(answers) > 250
    assert [one for one in answers if not one.documented or one.status >= 500] == []
    assert [one for one in answers if one.status == 422 and not OF_ANOTHER_STORE.search(one.text)] == []


def test_every_answer_about_an_owner_whose_fold_stands_still_has_its_shape_too(asking: Asking) -> None:
    asking.stick()
    answers = [
        asking.ask(method, path, operation, STUCK, needed(operation), bodies(operation)[0])
        for method, path, operation in asking.operations
        if "{owner}" in path and not path.startswith("/v1/dead/")
    ]
    assert [one for one in answers if not one.documented] == []
    assert '"quarantined":{' in "".join(one.text for one in answers)
