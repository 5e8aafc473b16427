"""What each call of a service needs, and of which owner. What stands in no line of this table nobody with a key may call.

A test finds every service and method that a face calls without a line here, and every line that nothing calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from events.catalogue.access import Looked, Verb

Told = Mapping[str, Any]
"""What a call is told, by the names of its parameters."""
About = Literal["owner", "store", "anybody", "events"]
"""Of whom: an owner; the store as a whole; whoever holds any key; or of each event's owner, which the service asks for itself."""


class Need(NamedTuple):
    """What a call needs."""

    verb: Verb
    about: About = "owner"
    mode: str | None = None
    """A mode that it reads by, whatever it is told."""
    speaks: bool = False
    """Whether it says something, as an actor."""
    owner: str = "owner"
    """Where the owner is told: a parameter, or a parameter and its attribute (`options.owner`)."""
    also: Callable[[Told], tuple[Verb, ...]] = lambda _told: ()
    """What else it needs, by what it is told."""
    instead: tuple[Verb, ...] = ()
    """Verbs of which any lets do it too."""
    recorded: Looked | None = None
    """As what it is recorded that somebody looked."""


READ = Need("read")
SAYS = Need("produce", speaks=True)
CORRECTS = Need("correct", speaks=True)
DELETES = Need("delete", speaks=True)
ANSWERS = Need("review", speaks=True)
REPLAYS = Need("replay")
AUDITS = Need("audit")
OPERATES = Need("operate", "store")
AUDITS_ALL = Need("audit", "store")
ADMINISTERS = Need("admin", "store")


def _reveals(told: Told) -> tuple[Verb, ...]:
    return ("reveal",) if told.get("reveal") or getattr(told.get("options"), "reveal", False) else ()


def _foretells(told: Told) -> tuple[Verb, ...]:
    """What would be made is told with the words that it would be made of."""
    return ("read",) if told.get("dry_run") else ()


def _exports(told: Told) -> tuple[Verb, ...]:
    """An export of everything, or of what is hidden, is an auditor's."""
    options = told["options"]
    return (*_reveals(told), *(("audit",) if options.everything or options.include else ()))


def _of_the_store(told: Told) -> tuple[Verb, ...]:
    return () if told.get("owner") is not None else ("operate",)


NEEDS: Mapping[str, Need] = {
    "reader.search": READ,
    "reader.list": READ,
    "reader.get": READ._replace(also=_reveals),
    "reader.why": READ,
    "reader.history": READ,
    "reader.provenance": READ,
    "counter.counts": READ,
    "outranking.above": READ,
    "knower.assess": READ,
    "knower.associations": READ,
    "knower.map": READ,
    "facts.facts": READ,
    "synonyms.synonyms": READ,
    "time_lines.times": READ,
    "contexts.context": READ,
    "living.profile": READ,
    "living.health": READ,
    "living.fading": READ,
    "living.review": READ,
    "embeddings.coverage": READ,
    "owner_heads.heads": READ,
    "operator.stats": READ._replace(about="anybody", also=_of_the_store),
    "owners.owners": READ._replace(about="anybody"),
    "records.export": READ._replace(also=_exports, recorded="export"),
    "revealer.get": Need("reveal", speaks=True),
    "revealer.export": READ._replace(also=_exports, speaks=True, recorded="export"),
    "inbox.page": Need("review"),
    "inbox.accept": ANSWERS,
    "inbox.edit": ANSWERS,
    "inbox.reject": ANSWERS,
    "living.grade": ANSWERS,
    "writer.append": Need("produce", "events"),
    "rememberer.append_judged": Need("produce", "events"),
    "rememberer.add": SAYS,
    "rememberer.add_turns": SAYS,
    "writer.mention": SAYS,
    "living.reinforce": SAYS,
    "grounds.report": SAYS,
    "records.take_in_whole": SAYS._replace(owner="options.owner"),
    "chats.take_in_whole": SAYS,
    "extractor.extract": Need("produce"),
    "extractor.rehearse": Need("produce", also=lambda _told: ("read",)),
    "episodes.make": Need("produce", also=_foretells),
    "rememberer.edit": CORRECTS,
    "writer.negate": CORRECTS,
    "writer.confirm": CORRECTS,
    "writer.set_sensitivity": CORRECTS,
    "writer.merge": CORRECTS,
    "writer.unmerge": CORRECTS,
    "living.choose": CORRECTS,
    "synonyms.define": CORRECTS,
    "sources.set_aside": CORRECTS,
    "sources.bring_back": CORRECTS,
    "retracter.retract": CORRECTS._replace(also=lambda _told: ("audit",)),
    "deleter.delete_many": DELETES,
    "restorer.restore": DELETES,
    "many_restorer.restore_many": DELETES,
    "cleaner.clean": Need("delete", also=_foretells),
    "replayer.replay": REPLAYS,
    "comparer.compare": REPLAYS,
    "comparer.curves": REPLAYS,
    "differ.diff": REPLAYS,
    "instants.instants": REPLAYS,
    "events.events": AUDITS,
    "events.partition_events": AUDITS_ALL,
    "answers.answers": AUDITS,
    "answers.answer": AUDITS,
    "uses.uses": AUDITS,
    "named_sources.sources": AUDITS,
    "sources.asides": AUDITS,
    "heads.heads": AUDITS_ALL,
    "heads.check": AUDITS_ALL,
    "operator.dead_show": Need("debug", recorded="debug"),
    "operator.dead_retry": Need("operate"),
    "operator.dead_discard": Need("operate", speaks=True),
    "operator.dead": OPERATES,
    "operator.status": OPERATES,
    "operator.alarms": OPERATES,
    "operator.clear_alarm": OPERATES,
    "job_queue.jobs": OPERATES,
    "capacities.capacity": OPERATES,
    "model_uses.models": OPERATES,
    "keys.me": READ._replace(about="anybody"),
    "keys.access": AUDITS_ALL._replace(instead=("admin",)),
    "keys.issue": ADMINISTERS,
    "keys.revoke": ADMINISTERS,
    "keys.grant": ADMINISTERS,
    "reads.reads": AUDITS_ALL._replace(instead=("admin",)),
}
