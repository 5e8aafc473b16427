"""What errors tell where nobody's words are told."""

from __future__ import annotations

from traceback import format_exception

from engramlog_server.events.errors import DamagedState, InputError, StoreUnavailable, told_by, trace_of, untold

SAID = "what somebody said"


def chained() -> ValueError:
    try:
        try:
            {}[SAID]
        except KeyError as error:
            raise ValueError(f"no {SAID}") from error
    except ValueError as error:
        return error
    raise AssertionError


def test_a_traceback_tells_kinds_and_places_of_all_that_led_to_it_and_no_words() -> None:
    told = trace_of(chained())
    assert SAID not in told.replace("{}[SAID]", "")
    assert told.index("KeyError\n") < told.index("which led to") < told.index("ValueError\n")
    assert "in chained" in told


def test_what_formats_errors_by_itself_is_given_one_that_says_no_more() -> None:
    error = chained()
    assert SAID in "".join(format_exception(error))
    told = "".join(format_exception(*untold(error)))
    assert SAID not in told
    assert "KeyError" not in told
    assert told.rstrip().splitlines()[-1] == "ValueError"
    assert "in chained" in told


def test_words_of_ours_about_the_store_are_told_and_those_that_quote_what_was_given_are_not() -> None:
    assert told_by(StoreUnavailable("Redis does not answer")) == "StoreUnavailable: Redis does not answer"
    assert told_by(DamagedState("a record cannot be read")) == "DamagedState: a record cannot be read"
    assert told_by(InputError(f"got {SAID}")) == "InputError"
    assert told_by(UnicodeDecodeError("utf-8", SAID.encode(), 0, 1, "bad")) == "UnicodeDecodeError"
    assert str(untold(StoreUnavailable("it is away"))[1]) == "it is away"


def test_errors_that_led_to_each_other_come_to_an_end() -> None:
    one, other = ValueError(SAID), KeyError(SAID)
    one.__context__, other.__context__ = other, one
    assert trace_of(one).count("Error") == 2
