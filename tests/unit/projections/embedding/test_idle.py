"""Whether a message stands above idle ones, with made-up vectors."""

from __future__ import annotations

import numpy as np

from engramlog_server.projections.embedding.meaning import NEAR, fixed_messages, messages, nearness, usual


def test_a_message_as_near_to_the_memories_as_another_needs_memory_if_it_is_like_personal_messages() -> None:
    rng = np.random.default_rng(44)
    kinds = np.eye(64, dtype=np.float32)
    fixed = 0.3 * rng.standard_normal((len(fixed_messages()), 64)).astype(np.float32)
    fixed[: len(messages("idle"))] += kinds[0]
    fixed[len(messages("idle")) :] += kinds[1]
    fixed /= np.linalg.norm(fixed, axis=1, keepdims=True)
    memories = kinds[2:10]
    idle = usual(memories, fixed)

    def near(kind: int) -> float:
        message = (kinds[kind] + kinds[2]) / np.sqrt(2, dtype=np.float32)
        return nearness(memories, fixed, idle, message)

    assert near(1) > near(0)
    assert near(1) >= NEAR, "like the personal messages, and near to a memory"
    assert nearness(memories, fixed, idle, kinds[0]) < NEAR, "like the idle messages, and far from every memory"
