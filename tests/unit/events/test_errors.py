"""Each error knows its exit code and HTTP status."""

from __future__ import annotations

import inspect

from engramlog_server.events import errors
from engramlog_server.events.errors import EngramlogError, InvalidBatch, InvalidEvent, StoreFull
from tests.rows import each_row

ALL = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, EngramlogError)]


@each_row("cls", ALL)
def test_an_error_has_a_status_and_an_exit_code(cls: type[EngramlogError]) -> None:
    assert 400 <= cls.status < 600
    assert cls.exit_code == (2 if issubclass(cls, errors.InputError | errors.NotConfirmed | errors.BeyondHead) else 1)


def test_no_error_hides_one_of_python() -> None:
    assert not {cls.__name__ for cls in ALL} & set(dir(__builtins__))


def test_an_error_is_written_as_json_with_its_context() -> None:
    assert StoreFull("too full", retry_after=5).as_dict() == {
        "error": "StoreFull",
        "message": "too full",
        "retry_after": 5,
    }


def test_a_batch_says_how_many_more_are_bad() -> None:
    one, two = (InvalidEvent("owner", '""', "an id", index=i) for i in (0, 4))
    assert InvalidBatch([one]).message == 'index 0: owner: got ""; allowed: an id; nothing of the request was written'
    assert "(and 1 more)" in InvalidBatch([one, two]).message
    assert [problem["index"] for problem in InvalidBatch([one, two]).context["problems"]] == [0, 4]
