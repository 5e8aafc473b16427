"""What is allowed, in our own words, for what the validating library refuses: its sentences never reach a user.

Refusals of ours (`PydanticCustomError`, `ValueError` in a validator) keep their text; every kind of the library's has words here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, get_args

from pydantic_core.core_schema import ErrorType

KINDS: Final = frozenset(get_args(ErrorType))
"""The library's own kinds of refusal; any other kind is ours, and its text stays."""
_INSTANT: Final = "an RFC 3339 date-time with a time zone, e.g. 2023-10-22T12:00:00Z"
_PREFIX: Final = re.compile(r"\A(?:Value error, |Assertion failed, )?(?:\w+ should (?:be|have) )?")
_PLAIN: Final[Mapping[str, str]] = {
    "json_type": "a text of JSON",
    "recursion_loop": "a value that does not hold itself",
    "recursion_depth_exceeded": "a value that is nested less deeply",
    "missing": "a value: it is required",
    "missing_argument": "a value: it is required",
    "missing_keyword_only_argument": "a value: it is required",
    "missing_positional_only_argument": "a value: it is required",
    "extra_forbidden": "no such field: unknown ones are refused",
    "unexpected_keyword_argument": "no such field: unknown ones are refused",
    "invalid_key": "names that are texts",
    "none_required": "null",
    "finite_number": "a finite number",
    "string_type": "a text",
    "string_unicode": "a text in UTF-8",
    "string_not_ascii": "a text of ASCII characters",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "bytes_type": "bytes",
    "date_type": "a day, e.g. 2023-10-22",
    "date_parsing": "a day, e.g. 2023-10-22",
    "date_from_datetime_parsing": "a day, e.g. 2023-10-22",
    "date_from_datetime_inexact": "a day, e.g. 2023-10-22",
    "datetime_type": _INSTANT,
    "datetime_parsing": _INSTANT,
    "datetime_object_invalid": _INSTANT,
    "datetime_from_date_parsing": _INSTANT,
    "timezone_naive": "a date-time without a time zone",
    "timezone_aware": _INSTANT,
    "uuid_type": "a UUID such as 01890000-0000-7000-8000-000000000001",
    "uuid_parsing": "a UUID such as 01890000-0000-7000-8000-000000000001",
}
_RULES: Final[Mapping[str, str]] = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "multiple_of": "a multiple of {multiple_of}",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "union_tag_invalid": "{expected_tags}",
    "json_invalid": "JSON ({error})",
}
_COUNTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "string_too_short": ("at least", "min_length", "character"),
    "string_too_long": ("at most", "max_length", "character"),
    "bytes_too_short": ("at least", "min_length", "byte"),
    "bytes_too_long": ("at most", "max_length", "byte"),
    "too_short": ("at least", "min_length", "item"),
    "too_long": ("at most", "max_length", "item"),
}
_LISTS: Final = ("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type", "deque_type")
_OBJECTS: Final = (
    "dict_type",
    "frozen_dict_type",
    "mapping_type",
    "model_type",
    "model_attributes_type",
    "dataclass_type",
)
_OURS: Final = ("value_error", "assertion_error")
OTHER: Final = "a value of another kind"
"""For a kind of refusal that no shape of ours can meet."""


def allowed_words(error: Mapping[str, Any]) -> str:
    """What would have been allowed, for one entry of `ValidationError.errors()`, with its context."""
    kind, rule = str(error["type"]), error.get("ctx") or {}
    if kind not in KINDS or kind in _OURS:
        return _PREFIX.sub("", str(error["msg"]), count=1)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _LISTS:
        return "a list"
    if kind in _OBJECTS:
        return "an object"
    return _of_rule(kind, rule)


def _of_rule(kind: str, rule: Mapping[str, Any]) -> str:
    if kind in _COUNTS:
        bound, number, noun = _COUNTS[kind]
        return f"{bound} {_counted(rule[number], noun)}"
    return _RULES[kind].format(**{name: _plain(value) for name, value in rule.items()}) if kind in _RULES else OTHER


def _plain(value: object) -> object:
    """A bound as one says it: 1, not 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
