"""The list of promises against the tests that there are: `make test-ci` guards each of them, and no test is in no part."""

from __future__ import annotations

from tests.parts import TESTS
from tests.promises import QUICK, SLOW, guarding, guards, is_quick


def test_what_guards_a_promise_is_a_slow_test() -> None:
    assert [test for test in guarding() if is_quick(test.partition("::")[0])] == []


def test_every_suite_is_quick_or_slow() -> None:
    suites = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
    assert suites == {place for place in QUICK if "/" not in place} | set(SLOW)
    assert all((TESTS / place).exists() for place in QUICK)


def test_a_test_guards_by_its_name_or_by_its_file() -> None:
    assert guards("integration/ops/test_joined.py", "test_whatever_it_is_called")
    assert guards("client/test_examples.py", "test_the_five_lines_end_with_a_block_that_has_the_right_fact")
    assert not guards("client/test_examples.py", "test_another")
    gap = "test_a_log_that_is_not_whole_stops_its_partition_and_no_other_until_it_is_mended"
    assert guards("integration/events/test_gaps.py", f"{gap}[valkey-there is no entry any more]")
    assert not guards("integration/events/test_gaps.py", f"{gap}[redis-7-there is no entry any more]")
    page = "test_every_command_of_a_page_succeeds_and_shows_what_the_page_shows"
    assert guards("acceptance/docs/test_readme.py", f"{page}[README.md]")
    assert not guards("acceptance/docs/test_readme.py", f"{page}[docs/start/tour.md]")
