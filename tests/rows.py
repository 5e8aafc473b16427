"""One test for a table of rows: every row is tried, and the test fails once, with all the rows that failed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

LONGEST = 400
"""Characters of a row, and of why it failed, that the message shows."""


def each_row(
    names: str | Sequence[str], table: Iterable[Any], *, ids: Iterable[Any] | Callable[[Any], Any] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test with every row of the table, as `pytest.mark.parametrize` would, but as one test.

    Each row has a `tmp_path` and a `monkeypatch` of its own; every other fixture is shared by all rows.
    """
    arguments = [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
    rows = [_row(one, arguments, names) for one in table]
    assert rows, f"a table of no rows tests nothing: {names}"
    ids = ids if ids is None or callable(ids) else list(ids)
    labels = [_label(number, values, given, ids) for number, (values, given) in enumerate(rows)]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def every_row(*of: Any, **fixtures: Any) -> None:
            failed: list[tuple[str, BaseException]] = []
            skipped: list[BaseException] = []
            for number, (label, (values, _)) in enumerate(zip(labels, rows, strict=True)):
                try:
                    with _own(fixtures, number) as own:
                        test(*of, **own, **dict(zip(arguments, values, strict=True)))
                except pytest.skip.Exception as why:
                    skipped.append(why)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append((label, error))
            if failed:
                told = "\n".join(f"- {label}: {type(error).__name__}: {_short(error)}" for label, error in failed)
                raise AssertionError(f"{len(failed)} of {len(rows)} rows failed:\n{told}") from failed[0][1]
            if len(skipped) == len(rows):
                raise skipped[0]

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in arguments]
        every_row.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return every_row

    return decorate


def _row(one: Any, arguments: list[str], names: str | Sequence[str]) -> tuple[tuple[Any, ...], str | None]:
    """The values of a row, and the name that `pytest.param` gave it."""
    named = None
    if isinstance(one, type(pytest.param())):
        assert not one.marks, f"a row has no marks: {one}"
        named = None if one.id is None else str(one.id)
        values = tuple(one.values)
    else:
        values = (one,) if len(arguments) == 1 and (isinstance(names, str) and "," not in names) else tuple(one)
    assert len(values) == len(arguments), f"a row has other values than {arguments}: {values}"
    return values, named


def _label(number: int, values: tuple[Any, ...], named: str | None, ids: Any) -> str:
    if named is not None:
        return named
    if callable(ids):
        return "-".join(str(ids(value)) for value in values)
    return str(ids[number]) if ids is not None else repr(values if len(values) > 1 else values[0])[:LONGEST]


def _short(error: BaseException) -> str:
    lines = str(error).splitlines()
    return "\n  ".join(lines)[:LONGEST] if lines else ""


@contextmanager
def _own(fixtures: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """The fixtures, with a folder and changes of this row alone."""
    own = dict(fixtures)
    if isinstance(folder := own.get("tmp_path"), Path):
        own["tmp_path"] = folder / str(number)
        own["tmp_path"].mkdir(exist_ok=True)
    if "monkeypatch" not in own:
        yield own
        return
    with pytest.MonkeyPatch.context() as own["monkeypatch"]:
        yield own
