"""Endpoints that speak as OpenAI's: their addresses, keys, errors and waits, and an embedder behind `POST /embeddings`.

The embedder gives whole vectors only. Of a text its first 8,000 bytes are sent; texts leave this machine unless the endpoint is
on it.

    POST {base}/embeddings  {"model": ..., "input": [texts], "encoding_format": "float"}
    200  {"data": [{"index": 0, "embedding": [numbers]}, ...], ...}

No error text holds what was sent or received: these are memories and, in some endpoints' answers, parts of the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from math import isfinite
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import orjson

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding.endpoint_wire import (
    LATER,
    REFUSES_CONTENT,
    asked_to_wait,
    base_url,
    checked_key,
    trouble_of,
)
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion, Vectors, units

if TYPE_CHECKING:
    import httpx2


MOST_INPUTS = 128
"""Texts of one request; the strictest of the common endpoints take no more."""
MOST_BYTES_AT_ONCE = 100_000
"""Bytes of text of one request, UTF-8."""
MOST_BYTES = 8_000
"""Bytes of a text that are sent, UTF-8. No token is shorter than a byte, so they fit a bound of 8,191 tokens."""
BLANK = "."
"""Sent in place of a text of white space alone, which endpoints refuse."""


def sendable(text: str) -> str:
    """The beginning of a text that is sent, never blank."""
    cut = text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
    return cut if cut.strip() else BLANK


def requests_of(model: str, texts: Sequence[str]) -> Iterator[tuple[int, bytes]]:
    """(how many texts, request body), in the order of the texts, which were made sendable."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == MOST_INPUTS or size + length > MOST_BYTES_AT_ONCE):
            yield len(batch), _body(model, batch)
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield len(batch), _body(model, batch)


def _body(model: str, texts: Sequence[str]) -> bytes:
    return orjson.dumps({"model": model, "input": texts, "encoding_format": "float"})


def vectors_in(answer: bytes, count: int, dimensions: int | None) -> Vectors:
    """The vectors of an answer to `count` texts, of length 1, shape (count, dimensions).

    Raises EmbedderFailed where it is no such answer: not JSON, too few or too many, of other dimensions, not finite, all zero.
    """
    try:
        data = orjson.loads(answer)["data"]
        ordered = sorted(enumerate(data), key=lambda pair: pair[1].get("index", pair[0]))
        places = [item.get("index", at) for at, item in ordered]
        rows = [item["embedding"] for _, item in ordered]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _no_vectors("it is no JSON object with a list of embeddings in data") from None
    if places != list(range(count)):
        raise _no_vectors(f"it holds {len(rows)} vectors for {count} texts, or numbers them wrongly")
    widths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if len(widths) != 1 or 0 in widths or not widths <= {dimensions or max(widths)}:
        expected = f"not {dimensions}" if dimensions else "of which all must be equal and none 0"
        raise _no_vectors(f"its vectors have {', '.join(map(str, sorted(widths)))} dimensions, {expected}")
    if not all(isinstance(value, int | float) and isfinite(value) for row in rows for value in row):
        raise _no_vectors("a component is no finite number")
    return units(np.array(rows, np.float64), "the embeddings endpoint")


def _no_vectors(why: str) -> EmbedderFailed:
    return EmbedderFailed(f"the embeddings endpoint gave an answer that is not usable: {why}", down=False)


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
