"""A chat with memory over any OpenAI-compatible endpoint, in plain HTTP: `python openai_loop.py http://127.0.0.1:8000/v1 MODEL`.

Before each reply the service tells what to put before the model, with ids: first what stays the same from turn to turn, which a
provider's cache holds, then what was said so far and what may matter. Afterwards what was said is recorded, and the memories that
the model says it used are reinforced. When the chat ends, what the user stated becomes typed memories. The service has to run:
`engramlog up`; a third argument is its address where that is not the usual one.
"""

from __future__ import annotations

import re
import sys
from typing import Any
from uuid import uuid4

import httpx2

from engramlog import URL, Memory

HINT = "Name the ids of the memories that your reply rests on at its end, as [used: id, id]. Say nothing of the others."
USED = re.compile(r"\s*\[used:([^\]]*)\]\s*\Z")


def reply(memory: Memory, model: httpx2.Client, model_name: str, text: str, session: str | None = None) -> str:
    """What the model answers, with what is remembered in view; then remember what both said."""
    turn = str(uuid4())
    known = memory.context(text, turn_id=turn, session=session, trace=True)
    stable = {"role": "system", "content": f"{HINT}\n{known.stable}"}
    messages = [stable, {"role": "system", "content": known.turn}, {"role": "user", "content": text}]
    answer = model.post("chat/completions", json={"model": model_name, "messages": messages})
    answer.raise_for_status()
    said: dict[str, Any] = answer.json()["choices"][0]["message"]
    spoken = USED.sub("", said["content"])
    said_now = [{"role": "user", "content": text, "id": turn}, {"role": "assistant", "content": spoken}]
    # What only asks is recorded and not kept; what it states all the same is kept when the chat ends.
    memory.add(said_now, session=session, remember=() if text.endswith(("?", "？")) else ("user",))
    named = USED.search(said["content"])
    for one in {one.strip() for one in named[1].split(",")} if named else ():
        if f"[{one}]" in known.block:
            memory.reinforce(one, outcome="used")
    return spoken


def main(url: str, model_name: str, service: str = URL) -> None:
    """A chat on the terminal, a session of its own, until the end of the input."""
    session = str(uuid4())
    with Memory(service).of("me") as memory, httpx2.Client(base_url=url.rstrip("/") + "/", timeout=120) as model:
        for line in sys.stdin:
            if line.strip():
                sys.stdout.write(reply(memory, model, model_name, line.strip(), session) + "\n")
        memory.extract()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:4])
