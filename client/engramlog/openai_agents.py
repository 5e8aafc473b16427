"""Memory for the OpenAI Agents SDK, as a session and a filter of its runs.

    session = EngramlogSession(Memory().of("alice"), "chat-1")
    await Runner.run(agent, "Plan my dinner", session=session, run_config=RunConfig(call_model_input_filter=session.filter))

The SDK's own session keeps the items of the conversation. This one also records the messages of the user and the assistant as
turns, and `filter` puts the context block into each call of the model. A broken memory never stops a run.
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, Any

from agents import SQLiteSession

from engramlog.client import Memory
from engramlog.openai import Conversation, text_of, with_block

if TYPE_CHECKING:
    from agents.memory import Session
    from agents.run_config import CallModelData, ModelInputData


class EngramlogSession:
    """A session of the SDK with memory. `history` keeps the items; by default it is in memory and ends with the process."""

    def __init__(
        self, memory: Memory, session_id: str, *, history: Session | None = None, budget: int | None = None
    ) -> None:
        self.session_id = session_id
        self.history = history or SQLiteSession(session_id)
        self.session_settings = self.history.session_settings
        self._conversation = Conversation(memory, session_id, budget)

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """The input of a call with the context block for the user's last message."""
        items: list[Any] = [*data.model_data.input]
        block = await asyncio.to_thread(self._conversation.block, items)
        added: list[Any] = with_block(items, block)
        return dataclasses.replace(data.model_data, input=added)

    async def add_items(self, items: list[Any]) -> None:
        """Keep new items, and record the assistant's messages with the user's messages before them."""
        await self.history.add_items(items)
        known = await self.history.get_items()
        for at, item in enumerate(known):
            if item in items and item.get("role") == "assistant":
                before: list[Any] = known[:at]
                await asyncio.to_thread(self._conversation.record, before, text_of(item))

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items of the conversation, oldest first."""
        return await self.history.get_items(limit)

    async def pop_item(self) -> Any:
        """Take the newest item back; what was recorded of it stays."""
        return await self.history.pop_item()

    async def clear_session(self) -> None:
        """Forget the items of the conversation; what was recorded of it stays."""
        await self.history.clear_session()
