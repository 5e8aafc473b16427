"""A LangGraph node that remembers: it reads and writes the graph's store, which is an Engramlog service.

builder = StateGraph(State)
builder.add_node("talk", partial(talk, model=model, model_name="..."))
builder.add_edge(START, "talk")
graph = builder.compile(store=EngramlogStore(Memory(), asynchronous=AsyncMemory()))
await graph.ainvoke({"user": "alice", "messages": [{"role": "user", "content": "..."}]})
"""

from __future__ import annotations

from typing import Any, TypedDict

import httpx2
from langgraph.store.base import BaseStore


class State(TypedDict):
    """Who speaks, and what was said so far."""

    user: str
    messages: list[dict[str, Any]]


async def talk(state: State, *, store: BaseStore, model: httpx2.AsyncClient, model_name: str) -> State:
    """Answer the last message with what is stored of the user in view; what begins with "Remember" is stored."""
    namespace = (state["user"], "notes")
    last = str(state["messages"][-1]["content"])
    if last.lower().startswith(("remember", "记住")):
        await store.aput(namespace, f"note-{len(state['messages'])}", {"text": last})
    known = await store.asearch(namespace, query=last, limit=5)
    hint = "Facts about the user:\n" + "\n".join(f"- {item.value['text']}" for item in known)
    messages = [{"role": "system", "content": hint}, *state["messages"]]
    answer = await model.post("chat/completions", json={"model": model_name, "messages": messages})
    answer.raise_for_status()
    said = answer.json()["choices"][0]["message"]
    return {"user": state["user"], "messages": [*state["messages"], said]}
