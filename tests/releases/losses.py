"""What was published once and is no more: two trees' faces compared, by `tests/releases/published.py`.

What is asked of a caller may be asked for less and taken wider, never the other way; what is told may gain fields and lose none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

Shape = dict[str, Any]
LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems")
MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def losses(before: dict[str, Shape], now: dict[str, Shape]) -> Iterator[str]:
    """A line for each loss: where it was published, and what is gone or other."""
    yield from _routes(before["routes"], now["routes"])
    yield from _commands(before["commands"]["commands"], now["commands"]["commands"])
    yield from _tools(before["tools"], now["tools"])
    yield from _verbs(before["verbs"], now["verbs"])


def _gone(where: str, before: Iterable[str], now: Iterable[str]) -> Iterator[str]:
    yield from (f"{where}{name}: gone" for name in sorted(set(before) - set(now)))


def _changed(where: str, before: Shape, now: Shape, *names: str) -> Iterator[str]:
    for name in names:
        if before.get(name) != now.get(name):
            yield f"{where}: {name} was {before.get(name)!r}, is {now.get(name)!r}"


def _routes(before: Shape, now: Shape) -> Iterator[str]:
    old = {f"{method.upper()} {path}": one for path, told in before["paths"].items() for method, one in told.items()}
    new = {f"{method.upper()} {path}": one for path, told in now["paths"].items() for method, one in told.items()}
    yield from _gone("", old, new)
    asked, told = (Compared(before["schemas"], now["schemas"], asked) for asked in (True, False))
    for name in sorted(old.keys() & new.keys()):
        yield from _changed(name, old[name], new[name], "operationId")
        yield from _asked_of_route(name, old[name], new[name], asked)
        statuses = old[name]["responses"], new[name]["responses"]
        yield from _gone(f"{name} -> ", *statuses)
        for status in sorted(statuses[0].keys() & statuses[1].keys()):
            yield from told.contents(f"{name} -> {status}", *(one[status] for one in statuses))


def _asked_of_route(name: str, old: Shape, new: Shape, compared: Compared) -> Iterator[str]:
    parameters = [{f"{one['in']} {one['name']}": one for one in told.get("parameters", ())} for told in (old, new)]
    yield from _gone(f"{name} ", *parameters)
    for parameter, told in parameters[1].items():
        was = parameters[0].get(parameter)
        if told["required"] and not (was and was["required"]):
            yield f"{name} {parameter}: is demanded now"
        if was:
            yield from compared.shapes(f"{name} {parameter}", was["schema"], told["schema"])
    bodies = old.get("requestBody"), new.get("requestBody")
    if bodies[0] and not bodies[1]:
        yield f"{name} body: gone"
    elif bodies[1] and bodies[1].get("required") and not (bodies[0] and bodies[0].get("required")):
        yield f"{name} body: is demanded now"
    elif bodies[0] and bodies[1]:
        yield from compared.contents(f"{name} body", *bodies)


def _commands(before: Shape, now: Shape) -> Iterator[str]:
    yield from _gone("engramlog ", before, now)
    for name in sorted(before.keys() & now.keys()):
        old, new = before[name]["parameters"], now[name]["parameters"]
        where = f"engramlog {name} "
        yield from _gone(where, old, new)
        yield from _demanded(where, old, new)
        yield from _moved(where, before[name]["order"], now[name]["order"])
        for parameter in sorted(old.keys() & new.keys()):
            was, is_now = old[parameter], new[parameter]
            yield from _changed(f"{where}{parameter}", was, is_now, "type", "default", "many", "flag")
            yield from _narrower(f"{where}{parameter}", was, is_now)
            if isinstance(was["opts"], list):
                yield from _gone(f"{where}{parameter} ", was["opts"], is_now["opts"])
            if "choices" in is_now:
                yield from _gone(f"{where}{parameter} ", was.get("choices", ["any text"]), is_now["choices"])


def _tools(before: Shape, now: Shape) -> Iterator[str]:
    for group in ("resources", "templates", "prompts"):
        yield from _gone(f"{group} ", before[group], now[group])
    old, new = before["tools"], now["tools"]
    yield from _gone("tool ", old, new)
    for name in sorted(old.keys() & new.keys()):
        yield from _changed(f"tool {name}", old[name], new[name], "annotations")
        for part, asked in (("inputSchema", True), ("outputSchema", False)):
            was, is_now = old[name][part], new[name][part]
            compared = Compared(was.get("$defs", {}), is_now.get("$defs", {}), asked)
            yield from compared.shapes(f"tool {name} {'takes' if asked else 'tells'}", was, is_now)


def _verbs(before: Shape, now: Shape) -> Iterator[str]:
    yield from _gone("client ", before["names"], now["names"])
    yield from _gone("memory.", before["verbs"], now["verbs"])
    for name in sorted(before["verbs"].keys() & now["verbs"].keys()):
        was, is_now, where = before["verbs"][name], now["verbs"][name], f"memory.{name} "
        old, new = was["parameters"], is_now["parameters"]
        yield from _changed(where.strip(), was, is_now, "answer")
        yield from _gone(where, old, new)
        yield from _demanded(where, old, new)
        yield from _moved(where, was["order"], is_now["order"])
        for one in sorted(old.keys() & new.keys()):
            yield from _changed(f"{where}{one}", old[one], new[one], "place", "default")
            yield from _gone(f"{where}{one} of type ", _kinds(old[one]), _kinds(new[one]))
    yield from _gone("client ", before["answers"], now["answers"])
    for name in sorted(before["answers"].keys() & now["answers"].keys()):
        old, new = before["answers"][name], now["answers"][name]
        yield from _gone(f"{name}.", old, new)
        for field in sorted(old.keys() & new.keys()):
            yield from _gone(f"{name}.{field} was never ", _kinds(new[field]), _kinds(old[field]))


def _kinds(told: Shape) -> set[str]:
    return set(str(told["type"]).split(" | "))


def _demanded(where: str, old: Shape, new: Shape) -> Iterator[str]:
    for name, told in new.items():
        if told["required"] and not (name in old and old[name]["required"]):
            yield f"{where}{name}: is demanded now"


def _moved(where: str, old: list[str], new: list[str]) -> Iterator[str]:
    if new[: len(old)] != old:
        yield f"{where}: arguments in order were {old}, are {new}"


def _narrower(where: str, old: Shape, new: Shape) -> Iterator[str]:
    for names, sign in ((LEAST, 1), (MOST, -1)):
        for name in names:
            if name in new and (name not in old or sign * new[name] > sign * old[name]):
                yield f"{where}: {name} was {old.get(name)}, is {new[name]}"


class Compared(NamedTuple):
    """JSON schemas of two trees, of what a caller is asked (`asked`) or told."""

    old: Shape
    new: Shape
    asked: bool

    def contents(self, where: str, old: Shape, new: Shape) -> Iterator[str]:
        """Losses of what stands under each content type."""
        contents = old.get("content", {}), new.get("content", {})
        yield from _gone(f"{where} ", *contents)
        for kind in sorted(contents[0].keys() & contents[1].keys()):
            yield from self.shapes(where, *(one[kind].get("schema", {}) for one in contents))

    def shapes(self, where: str, old: Shape, new: Shape, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        """Losses from one schema to another; `seen` are the pairs that lead here, for shapes that hold themselves."""
        pair = f"{old.get('$ref')} {new.get('$ref')}"
        if pair in seen:
            return
        seen |= {pair} - {"None None"}
        old, new = _resolved(old, self.old), _resolved(new, self.new)
        if self.asked:
            yield from _changed(where, old, new, "default")
        else:
            kinds = {_kind(_resolved(one, self.new)) for one in _either(new)}
            lost = {_kind(_resolved(one, self.old)) for one in _either(old)} - kinds - {"null", "anything"}
            if lost and "anything" not in kinds:
                yield f"{where}: tells {' or '.join(sorted(lost))} no more"
                return
        for one in _either(old) if self.asked else _either(new):
            yield from self._in_none_of(where, one, _either(new) if self.asked else _either(old), seen)

    def _in_none_of(self, where: str, one: Shape, others: list[Shape], seen: frozenset[str]) -> Iterator[str]:
        """Losses where no other alternative holds all of this one: those of the nearest."""
        mine, theirs = (self.old, self.new) if self.asked else (self.new, self.old)
        kind = _kind(_resolved(one, mine))
        alike = [other for other in others if _kind(_resolved(other, theirs)) in (kind, "anything")]
        if not alike:
            yield f"{where}: {'no longer takes' if self.asked else 'tells now'} {kind}"
            return
        pairs = [(one, other) if self.asked else (other, one) for other in alike]
        yield from min((list(self._one(where, *pair, seen)) for pair in pairs), key=len)

    def _one(self, where: str, old: Shape, new: Shape, seen: frozenset[str]) -> Iterator[str]:
        pair = f"{old.get('$ref')} {new.get('$ref')}"
        if pair in seen:
            return
        seen |= {pair} - {"None None"}
        old, new = _resolved(old, self.old), _resolved(new, self.new)
        fields = old.get("properties", {}), new.get("properties", {})
        demanded = set(old.get("required", ())), set(new.get("required", ()))
        yield from _gone(f"{where}.", *fields)
        if self.asked:
            yield from (f"{where}.{field}: is demanded now" for field in sorted(demanded[1] - demanded[0]))
            yield from _taken(where, old, new)
        else:
            lost = demanded[0] - demanded[1]
            yield from (f"{where}.{field}: is not always told now" for field in sorted(lost & set(fields[1])))
        for field in sorted(fields[0].keys() & fields[1].keys()):
            yield from self.shapes(f"{where}.{field}", fields[0][field], fields[1][field], seen)
        for part, sign in (("items", "[]"), ("additionalProperties", ".*")):
            if isinstance(old.get(part), dict) and isinstance(new.get(part), dict):
                yield from self.shapes(f"{where}{sign}", old[part], new[part], seen)


def _taken(where: str, old: Shape, new: Shape) -> Iterator[str]:
    """Values that were taken and are no more."""
    yield from _narrower(where, old, new)
    if values := _values(new):
        yield from _gone(f"{where} ", _values(old) or ["any value"], values)
    if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
        yield f"{where}: no longer takes other fields"
    if "pattern" in new:
        yield from _changed(where, old, new, "pattern")


def _resolved(shape: Shape, named: Shape) -> Shape:
    if "$ref" not in shape:
        return shape
    return {**named[shape["$ref"].rpartition("/")[2]], **{name: one for name, one in shape.items() if name != "$ref"}}


def _either(shape: Shape) -> list[Shape]:
    rest = {name: one for name, one in shape.items() if name not in ("anyOf", "oneOf", "default", "discriminator")}
    found = shape.get("anyOf") or shape.get("oneOf")
    kinds = shape.get("type")
    if found:
        return [{**one, **rest} for one in found]
    return [{**rest, "type": kind} for kind in kinds] if isinstance(kinds, list) else [rest]


def _kind(shape: Shape) -> str:
    if "const" in shape or "enum" in shape:
        return str(shape.get("type", type(_values(shape)[0]).__name__))
    return str(shape.get("type", "object" if "properties" in shape else "anything"))


def _values(shape: Shape) -> list[str]:
    return list(map(str, shape.get("enum", [shape["const"]] if "const" in shape else [])))
