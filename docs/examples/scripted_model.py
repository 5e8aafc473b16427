"""A stand-in for a language model behind the usual endpoint: `python scripted_model.py PORT`, then POST /v1/chat/completions.

It knows nothing. It answers with the memory before it that shares most words with the question, and names its id as asked; to
anything that is no question, and where no memory fits, it says so. So whatever it knows, memory told it.
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LINE = re.compile(r"^- \[(\S+)\] (?!assistant: )(.+)$", re.MULTILINE)
WORDS = re.compile(r"[a-z]{4,}|[一-鿿]")
COMMON = {"what", "which", "does", "should", "this", "that", "when", "user", "said"}


def words(text: str) -> set[str]:
    """What a text is about, roughly."""
    return set(WORDS.findall(text.lower())) - COMMON


def answer(block: str, question: str) -> str:
    """What the stand-in says."""
    if not question.rstrip().endswith(("?", "？")):
        return "Noted."
    best, key, line = max(
        ((len(words(question) & words(line)), key, line) for key, line in LINE.findall(block)), default=(0, "", "")
    )
    return f"As I remember it: {line}\n[used: {key}]" if best else "I do not know."


class Handler(BaseHTTPRequestHandler):
    """One chat completion a request."""

    def do_POST(self) -> None:
        """Answer."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        known = "\n".join(one["content"] for one in asked[:-1])
        said = {"role": "assistant", "content": answer(known, asked[-1]["content"])}
        body = json.dumps({"choices": [{"index": 0, "message": said}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
