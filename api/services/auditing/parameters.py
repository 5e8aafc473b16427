"""Parameters that a replay forces, as they are told: `name=value`."""

from __future__ import annotations

from collections.abc import Sequence

from engramlog_server.events.errors import refused
from engramlog_server.events.parameters import ParameterValue, problem_with


def parse_settings(pairs: Sequence[str]) -> dict[str, ParameterValue]:
    """`name=value` pairs as parameters within their bounds, or InputError."""
    values: dict[str, ParameterValue] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise refused("parameters", pair, "name=value, e.g. user_factor=1.3")
        values[name] = _value(text)
        check_parameter(name, values[name], text)
    return values


def check_parameter(name: str, value: ParameterValue, told: str | None = None) -> None:
    """Raises InputError for a parameter that is not known, or is out of its bounds; `told`: as it was written."""
    if rule := problem_with(name, value):
        raise refused(f"parameters {name}", str(value) if told is None else told, rule)


def _value(text: str) -> ParameterValue:
    """A truth value, a number, or else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
