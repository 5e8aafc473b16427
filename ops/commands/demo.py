"""`engramlog demo`: a few months of one person's memories, in Chinese and English, on a real Redis of its own.

Nothing is faked: every step appends events, a worker folds them, and every figure shown is read back from the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from engramlog_server.api.application import Application
from engramlog_server.api.cli.show import memories as render
from engramlog_server.api.cli.show import search as render_search
from engramlog_server.api.cli.show.generic import answer as used
from engramlog_server.api.exchange.turns import ImportOptions, import_turns
from engramlog_server.events.catalogue import MemoryMentioned
from engramlog_server.events.envelope import canonical, derived_id, from_micros, micros, utc_text
from engramlog_server.events.log import positions_by_partition
from engramlog_server.events.validation import make_event, ready
from engramlog_server.projections.memory.kind import created, recorded

OWNER = "mei"
START = datetime(2025, 3, 3, 8, 0, tzinfo=UTC)
SHOWN = ("name", "coffee", "latte-habit", "parking")
"""Memories in the picture, each with the letter that draws it."""

BEGINNING: Sequence[tuple[str, float, str, str, str]] = (
    ("name", 0.0, "identity", "fact", "我叫陈美，在上海做建筑师。"),
    ("coffee", 0.01, "stable_preference", "preference", "I love strong coffee in the morning. 早上一定要喝咖啡。"),
    ("parking", 0.02, "temporary", "episode", "This week my car stands on level B2, place 114."),
    ("locker", 0.03, "temporary", "fact", "My locker PIN is 4821."),
    ("latte-1", 3.0, "short_term_preference", "preference", "Had an oat latte before the site visit."),
    ("latte-2", 4.0, "short_term_preference", "preference", "Oat latte again, the place on Wukang Road is good."),
    ("latte-3", 5.0, "short_term_preference", "preference", "今天又喝了一杯燕麦拿铁。"),
)


ASKED_BY_MEANING = "What is her profession?"


def day(number: float) -> datetime:
    """The instant `number` days into the story."""
    return START + timedelta(days=number)


class Demo:
    """Tells the story on one application."""

    def __init__(self, application: Application, console: Console) -> None:
        self._app = application
        self._out = console

    def tell(self) -> None:
        """The whole story."""
        self._say(
            "1", "Seven things are said", "Each becomes an event in a Redis stream; a worker folds it into a memory."
        )
        self._create()
        self._table(at=day(5.1))
        self._say(
            "2",
            "Day 11: coffee is mentioned once",
            "A mention activates a memory: its clock starts again and S lifts it by half.",
        )
        self._mention("coffee", 11.0)
        self._why("coffee", day(22.0))
        self._say(
            "3",
            "Day 25: coffee three times in one day",
            "From the third within 24 h on, a mention counts less: the log says `merge`.",
        )
        for hour in (0.0, 0.1, 0.2):
            self._mention("coffee", 25.0 + hour)
        self._changes("coffee")
        self._say(
            "4",
            "Day 30: three lattes become one memory",
            "The sources stay readable, and `unmerge` would bring them back.",
        )
        sources = ("latte-1", "latte-2", "latte-3")
        self._app.writer.merge(
            OWNER,
            sources,
            into="latte-habit",
            summary="Often has an oat latte. 常喝燕麦拿铁。",
            occurred_at=utc_text(day(30.0)),
        )
        render.origins(self._app.reader.provenance(OWNER, "latte-habit")["provenance"], self._out)
        self._say(
            "5",
            "Day 60: “我不喝咖啡了”",
            "A negation demotes the old memory and keeps it; what holds instead is a new one.",
        )
        self._app.writer.negate(
            OWNER,
            "coffee",
            correction="我不喝咖啡了，早上改喝绿茶。",
            reason="the user said so",
            occurred_at=utc_text(day(60.0)),
        )
        self._out.print("[dim]normal mode, day 61: what does Mei drink in the morning?[/]")
        self._search("早上喝咖啡 coffee in the morning", "normal", day(61.0))
        self._out.print("[dim]review mode shows the old version too, with its interval and successor:[/]")
        self._search("早上喝咖啡 coffee in the morning", "review", day(61.0))
        self._say(
            "6", "Time passes", "Nothing is stored as faded: a weight is computed at the instant that is asked for."
        )
        self._course()
        self._table(at=day(200.0))
        self._say(
            "7",
            "Before the correction",
            "The same question, as of day 59: the answer of that day, with the ranking of that day.",
        )
        self._search("morning coffee", "normal", day(59.0))
        self._say(
            "8",
            "Had she not said so?",
            "The same events without that negation and its consequences, folded again and compared with the answer.",
        )
        self._what_if()
        self._say(
            "9",
            "A secret stays one",
            "A PIN is recognised by its value and withheld from every answer, index and log line.",
        )
        secret = self._app.reader.get(OWNER, "locker", trace=False)
        self._out.print(f"get {OWNER} locker   ->  {escape(secret['memory'])}")

    def by_meaning(self) -> None:
        """One step more: what shares no word with the question. It is told where no model compares meanings."""
        if "embedding" not in self._app.operator.stats(OWNER):
            self._out.print("[dim]meanings are not compared here: ENGRAMLOG_EMBEDDER is none[/]")
            return
        self._say(
            "13",
            "Found by meaning",
            "She writes Chinese too, so a model of both languages counts for her; the question shares no word with the answer.",
        )
        done = self._app.embeddings.embed(OWNER)
        self._out.print(
            f"[dim]{done['embedded']} texts embedded by {done['model']} ({done['chosen']}), on this machine[/]"
        )
        self._search(ASKED_BY_MEANING, "normal", day(6.0))

    def _say(self, number: str, title: str, text: str) -> None:
        self._out.print()
        self._out.print(Panel(Text(text), title=f"[bold]{number}. {title}[/]", title_align="left", border_style="cyan"))

    def _append(self, data: Any, when: datetime, *parts: str) -> list[str]:
        now = self._app.log.now()
        event = make_event(
            data,
            owner=OWNER,
            occurred_at=when,
            actor="user",
            now=now,
            event_id=derived_id("demo", *parts),
            by=self._app.writer.by,
        )
        receipts = self._app.log.append([ready(event)])
        return [receipt.position for receipt in receipts if receipt.position]

    def _create(self) -> None:
        positions: list[str] = []
        for memory_id, number, category, kind, text in BEGINNING:
            turn = recorded(f"turn-{memory_id}", "user", text, "Mei")
            positions += self._append(turn, day(number), "turn", memory_id)
            turns = (f"turn-{memory_id}",)
            memory = created(memory_id, text, category=category, kind=kind, speaker="Mei", source_turns=turns)
            positions += self._append(memory, day(number), "memory", memory_id)
        self._app.writer.settle_positions(positions_by_partition(positions))

    def _mention(self, memory_id: str, number: float) -> None:
        positions = self._append(
            MemoryMentioned(memory_id=memory_id, turn_id=f"turn-{number}"), day(number), "mention", str(number)
        )
        self._app.writer.settle_positions(positions_by_partition(positions))

    def _search(self, query: str, mode: str, when: datetime) -> None:
        render_search.results(
            self._app.reader.search(OWNER, query, mode=mode, limit=4, as_of=utc_text(when)), self._out
        )

    def _what_if(self) -> None:
        changes = self._app.reader.history(OWNER, "coffee", kinds=["negate"])["changes"]
        replayed = self._app.replayer.replay(
            OWNER,
            without=[changes[-1]["position"]],
            queries=["morning coffee"],
            mode="normal",
            as_of=utc_text(day(61.0)),
        )
        used(replayed, self._out)

    def _why(self, memory_id: str, when: datetime) -> None:
        told = self._app.reader.why(OWNER, memory_id, as_of=utc_text(when))
        product = " x ".join(f"{value:.4f}" for value in told["factors"].values())
        self._out.print(f"{(when - START).days - 11} days later: W = [bold green]{told['weight']:.4f}[/] = {product}")
        self._out.print("[dim]    (w_time x S x C x I x U x M: the published example of the weighted design)[/]")

    def _changes(self, memory_id: str) -> None:
        render.changes(self._app.reader.history(OWNER, memory_id)["changes"], self._out)

    def _table(self, at: datetime) -> None:
        told = self._app.reader.list(OWNER, mode="debug", as_of=utc_text(at))
        table = Table(title=f"day {(at - START).days}", title_justify="left", title_style="dim")
        for name in ("memory", "text", "category", "weight", "level", "status"):
            table.add_column(name, style="cyan" if name == "memory" else "")
        for memory in told["memories"]:
            text = memory["memory"] if len(memory["memory"]) < 46 else memory["memory"][:45] + "…"
            row = (
                escape(memory["id"][:14]),
                escape(text),
                memory["category"],
                f"{memory['weight']:.3f}",
                memory["level"],
            )
            table.add_row(*row, "" if memory["status"] == "live" else memory["status"])
        self._out.print(table)

    def _course(self) -> None:
        """Weights over the days, each read from the log as of that day."""
        table = Table(
            title="weight by day: coffee is mentioned on day 11 and 25, negated on day 60",
            title_justify="left",
            title_style="dim",
        )
        table.add_column("day", justify="right")
        for memory_id in SHOWN:
            table.add_column(memory_id, justify="right")
        for number in (0, 5, 10, 11, 25, 26, 40, 59, 60, 90, 120, 150):
            with self._app.reader.snapshot(OWNER, as_of=utc_text(day(number))) as snapshot:
                view, instant = snapshot.view, micros(day(number))
                found = [view.get(memory_id) for memory_id in SHOWN]
                weights = [
                    "" if one is None else f"{view.law.read(one, instant, view.parameters).unclipped:.2f}"
                    for one in found
                ]
            table.add_row(str(number), *weights)
        self._out.print(table)


TALKER = "lin"
SAID: Sequence[tuple[float, str, str]] = (
    (-30.0, "user", "My name is Lin and I live in Hangzhou."),
    (-29.9, "assistant", "Nice to meet you, Lin! You must love tea."),
    (-29.8, "user", "我对花生过敏。我喜欢爬山。"),
    (-29.7, "assistant", "记住了。"),
    (-9.0, "user", "Do I like tea? If I lived in Chengdu, I would."),
    (-8.9, "user", "I moved to Shanghai."),
)
"""(days from now, who, what)."""
QUESTION = "周末爬山带花生酱行吗？我对什么过敏？"
REPLY = "不行，你对花生过敏。带香蕉和全麦面包吧。"


class DemoTalk:
    """Tells it on one application, after the story of `ops.commands.demo`."""

    def __init__(self, application: Application, console: Console) -> None:
        self._app = application
        self._out = console
        self._count = 0

    def tell(self) -> None:
        """The whole of it."""
        read = "Turns are kept as they were said. Rules read what people state about themselves, against what is known."
        self._panel("10. Another person talks", read)
        self._import(SAID)
        used({"statements": self._app.extractor.rehearse(TALKER)["statements"]}, self._out)
        self._app.extractor.extract(TALKER)
        told = (
            "questions, suppositions and what the assistant guessed became nothing; the new home replaced the old one"
        )
        self._out.print(Text(told, "dim"))
        self._panel("11. The block for an agent's prompt", f"Somebody asks: {QUESTION}")
        self._import([(-0.01, "user", QUESTION)])
        turn = f"lin-{self._count}"
        block = self._app.contexts.context(TALKER, QUESTION, turn_id=turn, trace=True)
        self._out.print(Text(block["block"]), soft_wrap=True)
        self._import([(0.0, "assistant", REPLY)])
        self._panel("12. Which answers used a memory?", "The log records what was put into a prompt.")
        allergy = next(one for one in block["parts"]["retrieved"] if "过敏" in one["text"])
        used(self._app.answers.uses(TALKER, allergy["id"]), self._out)

    def _panel(self, title: str, text: str) -> None:
        self._out.print()
        self._out.print(Panel(Text(text), title=f"[bold]{title}[/]", title_align="left", border_style="cyan"))

    def _import(self, turns: Sequence[tuple[float, str, str]]) -> None:
        now = from_micros(self._app.log.now())
        lines: list[dict[str, Any]] = []
        for days, who, text in turns:
            self._count += 1
            when = utc_text(now + timedelta(days=days))
            line = {"turn_id": f"lin-{self._count}", "occurred_at": when, "speaker": who, "text": text}
            lines.append(line | {"session": f"{when[:10]}"})
        found = import_turns(self._app.log, map(canonical, lines), ImportOptions(owner=TALKER))
        self._app.writer.settle_positions(positions_by_partition(one for one in found.done.positions if one))
