"""Any model of the sentence-transformers library, by its name or folder; a name that is not on this machine is downloaded.

Pieces are tokens where a whole vector is the mean of its tokens, which is measured when the model is loaded: then both lie in
one space. Other models (first or last token, a further projection) give whole vectors only. A text longer than the model reads
is cut by it. A model's own prompts for queries and documents are put before texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from events.errors import BadSetting, EmbedderFailed
from projections.embedding.meaning import Embedded, EmbeddedQuestion, Vectors
from projections.language.question_words import words_at

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_PROBE = "The weather is lovely today. 今天天气很好。"
_SAME = 0.999
"""Cosine from which on a whole vector is the mean of its tokens."""
_PROMPTS = {"query": ("query",), "document": ("document", "passage", "corpus")}
"""Names under which models keep them, as the library itself looks them up."""
Task = Literal["query", "document"]


class _Seen(NamedTuple):
    """A text as the model saw it: its vectors, and where its pieces begin in it."""

    whole: Vectors
    pieces: Vectors
    starts: list[int]


class SentenceModel:
    """An Embedder by sentence-transformers. Safe for threads, one at a time; the model is loaded at first use."""

    def __init__(self, name: str) -> None:
        """`name` as on the Hugging Face hub, or a folder. Raises BadSetting where the library is missing."""
        if find_spec("sentence_transformers") is None:
            raise BadSetting(
                "the embedder sentence needs sentence-transformers, not installed here; "
                'install it with: pip install "engramlog[sentence]"'
            )
        self._name = name
        self._lock = Lock()
        self._loaded: tuple[SentenceTransformer, bool] | None = None

    @property
    def model(self) -> str:
        """The name or folder as given; another revision under the same name is not told apart."""
        return f"sentence:{self._name}"

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Vectors of texts. Raises EmbedderFailed where the model cannot be loaded or fails."""
        return [Embedded(seen.whole, seen.pieces) for seen in self._see(texts, "document")]

    def question(self, text: str) -> EmbeddedQuestion:
        """Vectors of a question; its words where it has pieces."""
        [seen] = self._see([text], "query")
        return EmbeddedQuestion(seen.whole, seen.pieces, tuple(words_at(_readable(text), seen.starts)))

    def _see(self, texts: Sequence[str], task: Task) -> list[_Seen]:
        with self._lock:
            try:
                if self._loaded is None:
                    self._loaded = _load(self._name)
                seen = _seen(*self._loaded, [_readable(text) for text in texts], task)
            # What torch and the library raise; only kinds are told: a message may quote a text.
            except (OSError, RuntimeError, ValueError, TypeError, LookupError, ImportError) as error:
                loading = self._loaded is None
                doing = "cannot be loaded" if loading else "failed"
                raise EmbedderFailed(
                    f"the model {self._name} {doing} ({type(error).__name__})", down=loading
                ) from error
        if not all(np.isfinite(one.whole).all() and np.isfinite(one.pieces).all() for one in seen):
            raise EmbedderFailed(f"the model {self._name} gave a vector that is not finite, or zero", down=False)
        return seen


def _load(name: str) -> tuple[SentenceTransformer, bool]:
    """The model, and whether its tokens lie in the space of its wholes."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an extra; importing it takes seconds

    model = SentenceTransformer(name)
    [seen] = _encode(model, [_PROBE], "document", output_value=None, prompt="")
    tokens, whole = _numbers(seen["token_embeddings"]), _numbers(seen["sentence_embedding"])
    if not getattr(model.tokenizer, "is_fast", False) or tokens.shape[1] != whole.size:
        return model, False
    mean = tokens[_numbers(seen["attention_mask"]) > 0].mean(axis=0)
    return model, float(_units(mean) @ _units(whole)) > _SAME


def _seen(model: SentenceTransformer, with_pieces: bool, texts: list[str], task: Task) -> list[_Seen]:
    if not texts:
        return []
    prompt = _prompt(model, task)
    if not with_pieces:
        wholes = _encode(model, texts, task, output_value="sentence_embedding", prompt=prompt)
        return [_whole_only(_units(_numbers(whole))) for whole in wholes]
    found = _encode(model, texts, task, output_value=None, prompt=prompt)
    return [_with_pieces(model, prompt, text, one) for text, one in zip(texts, found, strict=True)]


def _with_pieces(model: SentenceTransformer, prompt: str, text: str, found: dict[str, Any]) -> _Seen:
    whole = _units(_numbers(found["sentence_embedding"]))
    tokens = _numbers(found["token_embeddings"])[_numbers(found["attention_mask"]) > 0]
    read = model.tokenizer(prompt + text, truncation=True, max_length=model.max_seq_length, return_offsets_mapping=True)
    # Marks of begin and end have no characters; of the prompt nothing is to be found.
    own = [at for at, (start, end) in enumerate(read["offset_mapping"]) if start < end and start >= len(prompt)]
    if len(read["offset_mapping"]) != len(tokens) or not own:
        return _whole_only(whole)
    return _Seen(whole, _units(tokens[own]), [read["offset_mapping"][at][0] - len(prompt) for at in own])


def _whole_only(whole: Vectors) -> _Seen:
    return _Seen(whole, np.zeros((0, whole.size), np.float32), [])


def _encode(
    model: SentenceTransformer, texts: list[str], task: Task, *, output_value: Any, prompt: str
) -> Sequence[Any]:
    encode = model.encode_query if task == "query" else model.encode_document
    found: Sequence[Any] = encode(texts, output_value=output_value, prompt=prompt, show_progress_bar=False)
    return found


def _prompt(model: SentenceTransformer, task: Task) -> str:
    for name in (*_PROMPTS[task], model.default_prompt_name):
        if name in model.prompts:
            return str(model.prompts[name])
    return ""


def _readable(text: str) -> str:
    """As the library reads it, stripped, so that offsets fit; a lone surrogate is no text to a tokenizer."""
    return text.strip().encode("utf-8", "replace").decode()


def _numbers(tensor: Any) -> Vectors:
    """A tensor or array as float32 on this side of whatever device it is on."""
    moved = tensor.float().cpu().numpy() if hasattr(tensor, "cpu") else tensor
    numbers: Vectors = np.asarray(moved, np.float32)
    return numbers


def _units(vectors: Vectors) -> Vectors:
    """Of length 1; what is zero becomes not finite, and is refused."""
    with np.errstate(invalid="ignore", divide="ignore"):
        units: Vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return units
