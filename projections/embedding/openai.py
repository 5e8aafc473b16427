"""An embedder at the other end of a wire: any endpoint that answers as OpenAI's `POST /embeddings` does.

It gives whole vectors only. Of a text its first 8,000 bytes are sent; texts leave this machine unless the endpoint is on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding.endpoint_wire import (
    LATER,
    REFUSES_CONTENT,
    asked_to_wait,
    base_url,
    checked_key,
    trouble_of,
)
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion, Vectors
from engramlog_server.projections.embedding.openai_wire import requests_of, sendable, vectors_in

if TYPE_CHECKING:
    import httpx2

MOST_ANSWER = 1 << 26
"""Bytes of an answer that are read."""


class EndpointPatience(NamedTuple):
    """How long an answer is worth."""

    tries: int
    timeout: float
    """Seconds for connecting, and for the whole of an answer."""
    longest_wait: float
    """Seconds between two tries at most; an endpoint that asks for a longer wait is not asked again."""


FOR_TEXTS = EndpointPatience(tries=4, timeout=30.0, longest_wait=20.0)
FOR_QUESTIONS = EndpointPatience(tries=2, timeout=2.0, longest_wait=1.0)
"""Somebody waits, and words alone find as well."""


class _Answer(NamedTuple):
    body: bytes
    trouble: str
    """Empty where it is an answer with vectors."""
    later: bool = False
    """Whether the same request may fare better."""
    wait: float | None = None
    """Seconds that the endpoint asks for."""
    down: bool = True


class OpenAI:
    """An Embedder behind HTTP. Safe for threads; connects at first use."""

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        key: str | None = None,
        for_texts: EndpointPatience = FOR_TEXTS,
        for_questions: EndpointPatience = FOR_QUESTIONS,
        pause: Callable[[float], None] = sleep,
    ) -> None:
        """`url` is what comes before /embeddings; with a key alone, OpenAI's own.

        Raises BadSetting where they cannot be used, neither is given, or httpx2 is missing.
        """
        if find_spec("httpx2") is None:
            raise BadSetting(
                'the embedder openai needs httpx2, not installed here; install it with: pip install "engramlog[openai]"'
            )
        self._name = model
        self._key = checked_key(key, "embeddings")
        base = base_url(url, self._key, "embeddings", "/embeddings", "ENGRAMLOG_EMBEDDER")
        self._url = f"{base}/embeddings"
        self._host = urlsplit(self._url).netloc
        self._for_texts, self._for_questions, self._pause = for_texts, for_questions, pause
        self._lock = Lock()
        self._client: httpx2.Client | None = None
        self._dimensions: int | None = None

    @property
    def model(self) -> str:
        """The endpoint's name of the model; not the endpoint, which may move."""
        return f"openai:{self._name}"

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Whole vectors of texts. Raises EmbedderFailed, whose `down` tells whether the endpoint failed or a text."""
        return self._embedded(texts, self._for_texts)

    def at_once(self, texts: Sequence[str]) -> list[Embedded]:
        """The same for a few texts that somebody waits for: with the patience of a question."""
        return self._embedded(texts, self._for_questions)

    def _embedded(self, texts: Sequence[str], patience: EndpointPatience) -> list[Embedded]:
        wholes = self._wholes([sendable(text) for text in texts], patience)
        return [Embedded(whole, _no_pieces(whole)) for whole in wholes]

    def question(self, text: str) -> EmbeddedQuestion:
        """The whole vector of a question."""
        [whole] = self._wholes([sendable(text)], self._for_questions)
        return EmbeddedQuestion(whole, _no_pieces(whole), ())

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _wholes(self, texts: Sequence[str], patience: EndpointPatience) -> list[Vectors]:
        wholes: list[Vectors] = []
        for count, body in requests_of(self._name, texts):
            found = vectors_in(self._answer(body, patience), count, self._dimensions)
            self._dimensions = found.shape[1]
            wholes.extend(found)
        return wholes

    def _answer(self, body: bytes, patience: EndpointPatience) -> bytes:
        """The answer to a request, sent again where that may help: after 0.5, 1, 2 ... seconds, or when the endpoint says."""
        for attempt in range(1, patience.tries + 1):
            answer = self._send(body, patience.timeout)
            if not answer.trouble:
                return answer.body
            wait = 2.0 ** (attempt - 2) if answer.wait is None else answer.wait
            if not answer.later or attempt == patience.tries or wait > patience.longest_wait:
                break
            self._pause(wait)
        asked = f"; it asks to wait {answer.wait:g} s" if answer.wait is not None else ""
        times = f" ({attempt} times asked)" if attempt > 1 else ""
        raise EmbedderFailed(
            f"the embeddings endpoint {self._host} {answer.trouble}{times}{asked}",
            endpoint=self._host,
            down=answer.down,
        )

    def _send(self, body: bytes, timeout: float) -> _Answer:
        import httpx2  # noqa: PLC0415 - an extra, and only this embedder needs it

        until = monotonic() + timeout
        try:
            with self._connected().stream("POST", self._url, content=body, timeout=timeout) as response:
                received = bytearray()
                for chunk in response.iter_bytes():
                    received += chunk
                    if len(received) > MOST_ANSWER:
                        return _Answer(b"", f"answers with more than {MOST_ANSWER:,} bytes", down=False)
                    if monotonic() > until:  # the client's own timeout begins anew with every byte
                        return _Answer(b"", f"gave no whole answer within {timeout:g} s", later=True)
                return self._judged(response, bytes(received))
        except httpx2.TimeoutException:
            return _Answer(b"", f"gave no answer within {timeout:g} s", later=True)
        except httpx2.TransportError as error:
            return _Answer(b"", f"cannot be reached or broke off ({type(error).__name__})", later=True)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return _Answer(b"", f"gave an answer that cannot be read ({type(error).__name__})", down=False)

    def _judged(self, response: httpx2.Response, body: bytes) -> _Answer:
        status = response.status_code
        if status == 200:
            return _Answer(body, "")
        later = status in LATER or status >= 500
        wait = asked_to_wait(response.headers) if later else None
        return _Answer(b"", trouble_of(status, body, self._key), later, wait, down=status not in REFUSES_CONTENT)

    def _connected(self) -> httpx2.Client:
        import httpx2  # noqa: PLC0415

        with self._lock:
            if self._client is None:
                headers = {"content-type": "application/json"}
                if self._key is not None:
                    headers["authorization"] = f"Bearer {self._key}"
                self._client = httpx2.Client(headers=headers)
            return self._client


def _no_pieces(whole: Vectors) -> Vectors:
    return np.zeros((0, whole.size), np.float32)
