"""The Grafana board and the alert rules ask for what is told: every name and label of each expression is one that a scrape has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from engramlog_server.api.http.guard import count_request
from engramlog_server.api.http.metrics import OF_STORE, Metrics, MetricSources, readings
from engramlog_server.api.services.capacity import AppendOnlyFile, DiskRoom, Kept
from engramlog_server.consumers.fold.figures import FoldFigures
from engramlog_server.events.alarms import KNOWN
from engramlog_server.ops.metrics import ToolMetrics, worker_registry
from tests.given.a_status import STATUS
from tests.rows import each_row

BOARD = files("engramlog_server.ops.metrics") / "board" / "engramlog.json"
RULES = files("engramlog_server.ops.metrics") / "board" / "alerts.yml"
PROMETHEUS_S_OWN = {"up": {"job", "instance"}}
"""A figure that Prometheus makes itself."""
OF_TARGET = {"job", "instance"}
"""Labels that Prometheus gives every sample."""
STARTERS = {"sum", "max", "min", "count", "avg", "topk", "bottomk"}
FUNCTIONS = STARTERS | {"rate", "increase", "histogram_quantile", "time"}
WORDS = {"and", "or", "unless"}
NAME = r"[A-Za-z_:][A-Za-z0-9_:]*"
TOKEN = re.compile(
    rf"(?P<function>{NAME})(?:\s+by\s*\((?P<by>[^)]*)\))?\s*\(|(?P<series>{NAME})(?:\{{(?P<chosen>[^}}]*)\}})?(?P<range>\[\w+\])?"
    r"|(?P<open>\()|(?P<close>\))|\d+(?:\.\d+)?|==|!=|>=|<=|[,<>+*/-]|\s+"
)


class Selected(NamedTuple):
    """A figure as an expression asks for it."""

    name: str
    labels: frozenset[str]
    """Those that it is chosen by, and those that what stands around it groups by."""
    within: tuple[str, ...]
    """The functions around it, the outermost first."""


class Parsed:
    """As much of PromQL as our expressions use; anything else fails."""

    def __init__(self, text: str) -> None:
        self.selected: list[Selected] = []
        around: list[tuple[str, frozenset[str]]] = []
        at = 0
        while at < len(text):
            found = TOKEN.match(text, at)
            assert found, (text, text[at:])
            at = found.end()
            if name := found["function"]:
                assert name in (STARTERS if found["by"] else FUNCTIONS), name
                around.append((name, frozenset(re.findall(r"\w+", found["by"] or ""))))
            elif found["open"]:
                around.append(("", frozenset()))
            elif found["close"]:
                around.pop()
            elif (name := found["series"]) and name not in WORDS:
                within = tuple(one for one, _ in around if one)
                assert bool(found["range"]) == (within[-1:] in (("rate",), ("increase",))), (name, within)
                labels = re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"[^"]*"', found["chosen"] or "")
                assert bool(labels) == bool(found["chosen"]), found["chosen"]
                self.selected.append(Selected(name, frozenset(labels).union(*(by for _, by in around)), within))
        assert not around, text


class Exported(NamedTuple):
    """A figure that is told."""

    labels: frozenset[str]
    family: Metric


def settings_given() -> Iterator[CollectorRegistry]:
    """The registries of an API process, a worker and an MCP server, each with a sample of each family."""
    aof = AppendOnlyFile(True, 1, 1, True, True, False, 1, 0)
    kept = Kept("7.0.15", aof, DiskRoom(2, 3, 1), None)
    metrics = Metrics(MetricSources(readings(lambda: STATUS, lambda: kept), lambda: {("view", "memory"): 1}))
    count_request(metrics, "GET", "/x", 200, 0.1)
    for counter, labels in ((metrics.append_events, 1), (metrics.feed_closed, 1), (metrics.refused, 1)):
        counter.labels(*["x"] * labels)
    metrics._lanes.labels("light", "running").set(1)
    tools = ToolMetrics()
    tools.know(["search_memories"])
    yield from (metrics.registry, worker_registry(FoldFigures()), tools.registry)


@cache
def exported() -> Mapping[str, Exported]:
    """Every sample's name, with all labels that it ever has."""
    found: dict[str, Exported] = {}
    for registry in settings_given():
        for family in registry.collect():
            for sample in family.samples:
                labels = found[sample.name].labels if sample.name in found else frozenset()
                found[sample.name] = Exported(labels | sample.labels.keys(), family)
    return found


@cache
def board() -> Any:
    return json.loads(BOARD.read_text("utf-8"))


@cache
def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"] for rule in group["rules"]]


def on_board() -> list[str]:
    return [target["expr"] for panel in board()["panels"] for target in panel.get("targets", ())]


def expressions() -> list[str]:
    return [*on_board(), *(rule["expr"] for rule in rules())]


@each_row("text", expressions())
def test_an_expression_asks_for_figures_and_labels_that_are_told(text: str) -> None:
    selected = Parsed(text.replace("$__rate_interval", "5m")).selected
    assert selected or "time()" in text
    for one in selected:
        if one.name in PROMETHEUS_S_OWN:
            assert one.labels <= PROMETHEUS_S_OWN[one.name]
            continue
        assert one.name in exported(), one.name
        assert one.labels - OF_TARGET <= exported()[one.name].labels, one


@each_row("text", expressions())
def test_a_figure_of_the_store_is_never_summed_over_processes_and_one_of_a_process_always_is(text: str) -> None:
    for one in Parsed(text.replace("$__rate_interval", "5m")).selected:
        if one.name in PROMETHEUS_S_OWN:
            continue
        around = [name for name in one.within if name in STARTERS]
        innermost = around[-1] if around else None
        if exported()[one.name].family.documentation.startswith(OF_STORE):
            assert innermost in ("max", "min", None), text
            assert innermost is not None or text in on_board(), text
        elif exported()[one.name].family.type in ("counter", "histogram"):
            assert innermost == "sum" or one.name.startswith("process_"), text


def test_counters_are_asked_for_their_rate() -> None:
    for text in expressions():
        for one in Parsed(text.replace("$__rate_interval", "5m")).selected:
            if (
                one.name.endswith(("_total", "_bucket", "_sum", "_count"))
                and one.name != "engramlog_refused_events_total"
            ):
                assert {"rate", "increase"} & set(one.within), text


def test_the_reader_finds_names_labels_and_what_stands_around_them() -> None:
    assert Parsed('2 * sum by (le) (rate(a_bucket{x="1", y!="2"}[5m])) > max(b)').selected == [
        Selected("a_bucket", frozenset({"le", "x", "y"}), ("sum", "rate")),
        Selected("b", frozenset(), ("max",)),
    ]


def test_labels_in_a_text_are_those_that_its_expression_keeps() -> None:
    for rule in rules():
        named = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
        kept = {label for one in Parsed(rule["expr"]).selected for label in one.labels} | (
            OF_TARGET if rule["expr"].startswith("up{") else set()
        )
        assert named <= kept, rule["alert"]


def alarms_of(rule: dict[str, Any]) -> set[str]:
    """The alarms that a rule fires for."""
    text = rule["expr"]
    if "engramlog_alarms" not in text:
        return set()
    name, severity = re.search(r'name="(\w+)"', text), re.search(r'severity="(\w+)"', text)
    return {
        one
        for one, kind in KNOWN.items()
        if (name is None or name[1] == one) and (severity is None or severity[1] == kind.severity)
    }


@each_row("name", KNOWN)
def test_every_alarm_is_told_and_one_that_stops_something_pages_by_its_own_name(name: str) -> None:
    firing = [rule for rule in rules() if name in alarms_of(rule)]
    wanted = "page" if KNOWN[name].severity == "stopped" else "ticket"
    assert wanted in {rule["labels"]["severity"] for rule in firing}
    if wanted == "page":
        assert [rule for rule in firing if alarms_of(rule) == {name}]
