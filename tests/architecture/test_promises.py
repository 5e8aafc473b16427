"""The list of promises against the tests that there are: `make test-ci` guards each of them, and no test is in no part."""

from __future__ import annotations

import pytest

from tests.parts import TESTS, table
from tests.promises import QUICK, SLOW, guarding, guards, is_quick


def test_what_guards_a_promise_is_a_slow_test() -> None:
    assert [test for test in guarding() if is_quick(test.partition("::")[0])] == []


def test_every_suite_is_quick_or_slow() -> None:
    suites = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
    assert suites == {place for place in QUICK if "/" not in place} | set(SLOW)
    assert all((TESTS / place).exists() for place in QUICK)


def test_a_test_guards_by_its_name_or_by_its_file() -> None:
    assert guards("integration/ops/test_joined.py", "test_whatever_it_is_called")
    assert guards("client/test_verbs.py", "test_what_was_added_is_found_at_once")
    assert not guards("client/test_verbs.py", "test_an_update_is_a_new_version")
    gap = "test_a_log_that_is_not_whole_stops_its_partition_and_no_other_until_it_is_mended"
    assert guards("integration/events/test_gaps.py", f"{gap}[redis-6.2-there is no entry any more]")
    assert not guards("integration/events/test_gaps.py", f"{gap}[redis-7-there is no entry any more]")
    page = "test_every_command_of_a_page_succeeds_and_shows_what_the_page_shows"
    assert guards("acceptance/docs/test_readme.py", f"{page}[README.md]")
    assert not guards("acceptance/docs/test_readme.py", f"{page}[docs/tour.md]")


def test_the_parts_share_no_test_and_leave_none_out(pytester: pytest.Pytester) -> None:
    """In a small copy of the suites: one quick file, one that guards in part, one that guards nothing."""
    pytester.makeconftest("")
    files = {
        "unit/test_a.py": ["test_quick"],
        "client/test_verbs.py": ["test_what_was_added_is_found_at_once", "test_an_update_is_a_new_version"],
        "client/test_other.py": ["test_other"],
        "integration/ops/test_joined.py": ["test_all_of_it_guards"],
    }
    for path, names in files.items():
        file = pytester.path / "tests" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(f"def {name}(): pass" for name in names))
    (pytester.path / "tests" / "conftest.py").write_text(
        "import tests.parts as parts\nfrom pathlib import Path\nparts.TESTS = Path(__file__).parent\nfrom tests.parts import *"
    )
    told = pytester.path / "told"
    told.touch()  # as `mktemp` leaves it
    ran = {}
    for part in ("quick", "ci", "rest", "quick+ci"):
        result = pytester.runpytest_subprocess("tests", f"--part={part}", f"--told={told}", "-v", "-p", "no:randomly")
        assert result.ret == 0
        ran[part] = {name for names in files.values() for name in names if f"::{name} PASSED" in result.stdout.str()}
    assert ran["quick"] == {"test_quick"}
    assert ran["ci"] == {"test_what_was_added_is_found_at_once", "test_all_of_it_guards"}
    assert ran["quick+ci"] == ran["quick"] | ran["ci"]
    assert ran["rest"] == {"test_an_update_is_a_new_version", "test_other"}
    rows = [line.split("|")[1:4] for line in table(told.read_text().splitlines()).splitlines()[2:]]
    assert [tuple(cell.strip() for cell in row) for row in rows[:6]] == [
        ("quick", "unit", "1"),
        ("quick", "together", "1"),
        ("ci", "client", "1"),
        ("ci", "integration/ops", "1"),
        ("ci", "together", "2"),
        ("rest", "client", "2"),
    ]
