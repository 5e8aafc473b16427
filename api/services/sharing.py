"""Own and shared memory in one answer: what several owners have to one question. Pure.

Each owner is asked by a call of its own, so access, withholding and records are those of that owner, and nothing of one is
in the memories of another. Here their answers are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engramlog_server.api.choices import BUDGET
from engramlog_server.events.errors import refused
from engramlog_server.projections.language.prompt_text import estimated_tokens
from engramlog_server.projections.prompt.block import LEAST_BUDGET, PARTS, STABLE, TITLES

RESULTS = 5
"""Results if no `limit` is given."""
MOST_OTHERS = 7
"""Most owners after the first."""
LABELS = {
    "en": "[Shared memory of {owner}, who wrote it and is the user in it]",
    "zh": "[{owner} 的共享记忆：由其记录，其中的“用户”即其本人]",
}
HALVES = ("stable", "turn")
ONLY_FIRST = ("after", "session")
"""Fields that belong to the first owner alone: a position and a conversation."""
Ask = Callable[[Mapping[str, Any]], Any]
"""Calls the service for one owner."""
Given = Mapping[str, Any]


def found_together(ask: Ask, given: Given, owners: Sequence[str]) -> Any:
    """One page of what a search finds with all owners: the most relevant first, each result with its owner."""
    if given.get("cursor") is not None:
        raise refused("cursor", given["cursor"][:80], "none with `owners`: ask for a larger `limit`")
    others = _others(given, owners)
    first, *answers = (ask(given), *(ask(_for(given, owner)) for owner in others))
    asked = [(given["owner"], first), *zip(others, answers, strict=True)]
    hits = [{**hit, "owner": owner} for owner, answer in asked for hit in answer["results"]]
    parts = [
        {
            **{name: answer[name] for name in ("position", "behind", "total", "withheld") if name in answer},
            "owner": owner,
        }
        for owner, answer in asked
    ]
    return {
        **first,
        "results": sorted(hits, key=lambda hit: (-hit["relevance"], -hit["score"]))[: given.get("limit", RESULTS)],
        "total": sum(answer["total"] for _, answer in asked),
        "withheld": _summed([one for _, answer in asked for one in answer["withheld"]]),
        "next": None,
        "owners": parts,
    }


def block_together(ask: Ask, given: Given, owners: Sequence[str]) -> Any:
    """The block of the first owner, with a part for each other owner under its name, within one budget."""
    others = _others(given, owners)
    budget = BUDGET if given.get("budget") is None else given["budget"]
    share = budget // (len(others) + 1)
    labels = {owner: _label_tokens(owner) for owner in others}
    widest = len(HALVES) * max(labels.values(), default=0)
    if share < LEAST_BUDGET + widest:
        least = (LEAST_BUDGET + widest) * (len(others) + 1)
        raise refused("budget", budget, f"at least {least} tokens for {len(others) + 1} owners")
    stable, most = given.get("stable_budget"), budget - share * len(others) - LEAST_BUDGET
    if stable is not None and stable > most:  # before anything is recorded of the others
        raise refused("stable_budget", stable, f"at most {most} tokens; {len(others)} other owners need the rest")
    answers = [
        ask({**_for(given, owner), "budget": share - len(HALVES) * labels[owner], "messages": 0, "stable_budget": None})
        for owner in others
    ]
    told = [(owner, answer, _halves(answer)) for owner, answer in zip(others, answers, strict=True)]
    sizes = {
        owner: {half: answer["sizes"][half] + labels[owner] if half in said else 0 for half in HALVES}
        for owner, answer, said in told
    }
    used = sum(sum(one.values()) for one in sizes.values())
    own = ask({**given, "budget": budget - used})
    halves = {
        half: "\n".join(
            filter(None, [own[half], *(_labelled(answer[half], owner) for owner, answer, said in told if half in said)])
        )
        for half in HALVES
    }
    return {
        **own,
        **halves,
        "block": "\n".join(filter(None, halves.values())),
        "tokens": own["tokens"] + used,
        "budget": budget,
        "others": [
            {
                **{
                    name: answer[name]
                    for name in ("position", "behind", "tokens", "parts", "injected", "recorded")
                    if name in answer
                },
                "owner": owner,
                "sizes": sizes[owner],
            }
            for owner, answer in zip(others, answers, strict=True)
        ],
    }


def _others(given: Given, owners: Sequence[str]) -> list[str]:
    others = [one for one in dict.fromkeys(owners) if one != given["owner"]]
    if len(others) > MOST_OTHERS:
        raise refused("owners", f"{len(others)} owners", f"at most {MOST_OTHERS} other owners")
    return others


def _for(given: Given, owner: str) -> Given:
    return {name: value for name, value in given.items() if name not in ONLY_FIRST} | {"owner": owner}


def _summed(withheld: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for one in withheld:
        key = tuple(str(value) for name, value in one.items() if name != "count")
        count = found[key]["count"] if key in found else 0
        found[key] = {**one, "count": count + one["count"]}
    return list(found.values())


def _halves(answer: Mapping[str, Any]) -> list[str]:
    """The halves of a block that say more than the time."""
    said = {
        half: [answer["parts"].get(part) for part in PARTS if (part in STABLE) is (half == "stable")] for half in HALVES
    }
    return [half for half, parts in said.items() if any(parts)]


def _label_tokens(owner: str) -> int:
    """Tokens that the label of another owner's half takes at most."""
    return max(estimated_tokens(label.format(owner=owner) + "\n") for label in LABELS.values())


def _labelled(text: str, owner: str) -> str:
    """A part with the name of its owner inside, so that an agent that sends it back sends the name too."""
    for language, titles in TITLES.items():
        if titles["frame"] in text:
            return text.replace(titles["frame"], f"{titles['frame']}\n{LABELS[language].format(owner=owner)}", 1)
    return text
