"""`engramlog hook`: what a client's event makes the memory answer or record. A broken memory never holds up a prompt.

It runs at every prompt, so it imports the standard library alone and asks the service through the socket of the data folder. It
ends with 0 within a second, whatever happens; what went wrong is a line of `hook.log`, without any words of a conversation.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Final

from engramlog_server.ops.clients.table import ADAPTERS, EVENTS, Adapter, Event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import NoReturn

Json = dict[str, Any]
FOLDER: Final = "clients"
"""The part of the data folder where everything about clients is."""
LOG: Final = "hook.log"
MOST_LOG: Final = 64 * 1024
"""Bytes of the log; beyond them its older half goes."""
SECONDS: Final = 0.8
"""How long a hook takes at most, without the start of Python."""
RECORD_SECONDS: Final = 15.0
"""How long turns are tried to be recorded in the background, the start of a service included."""
PAUSE_SECONDS: Final = 0.2
IDLE_SECONDS: Final = 3600
"""How long a service that a hook started stays without requests."""
MOST_INPUT: Final = 4 * 1024 * 1024
MOST_TRANSCRIPT: Final = 8 * 1024 * 1024
"""Bytes of a transcript that are read at once: its end."""
MOST_LINE: Final = 256 * 1024
MOST_TEXT: Final = 10_000
"""Characters of a message that a context block is asked for."""
MOST_SESSIONS: Final = 200
"""Sessions of a client that are remembered: how far a transcript was read, and whether the stable part is still owed."""
MOST_PATH: Final = 8_192
"""Characters of the file that leads from a worktree to its repository."""
MOST_ANSWER: Final = 4 * 1024 * 1024
_HOOK_CONTEXT = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""How Gemini CLI puts what hooks added before the prompt that it shows to hooks."""


class Unreachable(Exception):
    """Nobody listens at the socket of the data folder."""


class Refused(Exception):
    """The service, or this hook, refuses: the reason, without words of the conversation."""


def is_call(arguments: Sequence[str]) -> bool:
    """Whether these are the arguments of a hook as clients call it."""
    return len(arguments) >= 2 and arguments[0] == "hook" and arguments[1] in EVENTS and "--help" not in arguments


def main(arguments: Sequence[str]) -> int:
    """Answer one event of a client; always 0. `arguments`: EVENT --client NAME [--data DIR]."""
    event = next(one for one in EVENTS if one == arguments[0])
    given = dict(zip(arguments[1::2], arguments[2::2], strict=False))
    folder = Path(given.get("--data") or _default_folder())
    client = given.get("--client", "")

    def late(_number: int, _frame: FrameType | None) -> None:
        note(folder, client, event, f"no answer within {SECONDS} s")
        os._exit(0)

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        answer = Hook(folder, _adapter(client)).answer(event, _read_input())
        signal.setitimer(signal.ITIMER_REAL, 0)
        if answer:
            sys.stdout.write(json.dumps(answer, ensure_ascii=True) + "\n")
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - the prompt goes on, whatever is wrong
        signal.setitimer(signal.ITIMER_REAL, 0)
        note(folder, client, event, str(error) if isinstance(error, Unreachable | Refused) else _kind(error))
    with suppress(OSError):
        os.close(sys.stdout.fileno())  # nothing may be written, or complained of, at the end
    os._exit(0)


def _adapter(client: str) -> Adapter:
    if client not in ADAPTERS:
        raise Refused(f"client: got {client[:40]!r}; allowed: {', '.join(ADAPTERS)}")
    return ADAPTERS[client]


def _kind(error: Exception) -> str:
    """The kind of an error; its words could be those of a conversation, except the system's own."""
    return f"{type(error).__name__}: {error.strerror}" if isinstance(error, OSError) else type(error).__name__


def _default_folder() -> Path:
    from engramlog_server.ops.environment import data_folder  # noqa: PLC0415 - clients name the folder

    return data_folder(os.environ).expanduser()


def _read_input() -> Json:
    """The client's event from standard input. Raises Refused."""
    raw = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(raw) > MOST_INPUT:
        raise Refused(f"standard input: got more than {MOST_INPUT:,} bytes")
    try:
        payload = json.loads(raw)
    except (ValueError, RecursionError):
        raise Refused("standard input: got something that is not JSON") from None
    if not isinstance(payload, dict):
        raise Refused("standard input: got JSON that is not an object")
    return payload


def note(folder: Path, client: str, event: str, problem: str) -> None:
    """Write a line to the log, if the disk takes one. The log stays under MOST_LOG."""
    line = json.dumps({"at": int(time.time()), "client": client[:40], "event": event, "problem": problem[:300]})
    with suppress(OSError):
        path = folder / FOLDER / LOG
        if path.exists() and path.stat().st_size > MOST_LOG:
            path.write_bytes(path.read_bytes()[-MOST_LOG // 2 :].partition(b"\n")[2])
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600), "w") as log:
            log.write(line + "\n")


def problems(folder: Path) -> list[Json]:
    """The log of a data folder, oldest line first, without lines that a full disk cut off. Raises OSError."""
    found: list[Json] = []
    with suppress(FileNotFoundError):
        for line in (folder / FOLDER / LOG).read_text("utf-8", "replace").splitlines():
            with suppress(ValueError, TypeError, KeyError):
                told = json.loads(line)
                found.append(
                    {"at": int(told["at"]), **{name: str(told[name]) for name in ("client", "event", "problem")}}
                )
    return found


class Hook:
    """One client's hooks in a data folder."""

    def __init__(self, folder: Path, adapter: Adapter) -> None:
        self._folder = folder
        self._adapter = adapter
        self._own = folder / FOLDER / adapter.name

    def answer(self, event: Event, payload: Json) -> Json | None:
        """The output for the client; None if nothing is printed."""
        session = _text(payload, self._adapter.session)
        state = _State(self._own / "sessions", session)
        if event in ("stop", "compact"):
            self._record_apart(payload, state)
            return None
        if event == "prompt" and self._adapter.records == "payload" and "prompt" not in self._adapter.answers:
            self._record_apart(payload, state)
            return None
        prompt = self._prompt(payload)
        if event == "prompt" and not prompt.strip():
            return None
        if event == "session-start":
            state.save(owed=True)  # if no answer comes in time, the first prompt gets the stable part
        try:
            block = self._block(prompt, session, payload) if event == "prompt" else self._stable()
        except Unreachable:
            self._start()
            raise
        return self._spelled(event, block, state)

    def _spelled(self, event: Event, block: Json, state: _State) -> Json | None:
        """The parts that this event adds, as the client takes them."""
        parts = block["parts"]
        turn = [line for name in ("earlier", "retrieved", "tools", "unconfirmed") for line in parts[name]]
        stable = [line for name in ("instructions", "core", "profile") for line in parts[name]]
        owed = state.told.get("owed")
        lines = (stable if owed else []) + (turn if event == "prompt" else [])
        text = "\n".join([block["stable"]] * bool(owed and stable) + [block["turn"]] * bool(event == "prompt" and turn))
        if owed:
            state.save(owed=False)
        if not text:
            return None
        if self._adapter.answers[event] == "context":
            return {"context": text}
        return {
            "hookSpecificOutput": {
                "hookEventName": self._adapter.events[event].split()[0],
                "additionalContext": text,
            },
            "systemMessage": f"Engramlog added {len(lines)} line{'s'[: len(lines) != 1]} of memory",
        }

    def _stable(self) -> Json:
        return self._ask("context", {"text": "Session start", "related": "never", "messages": 0})

    def _block(self, prompt: str, session: str, payload: Json) -> Json:
        half = MOST_TEXT // 2
        text = prompt if len(prompt) <= MOST_TEXT else prompt[: half - 1] + "\n" + prompt[-half:]
        project = project_of(payload)
        named = {"project": project} if project else {}
        return self._ask("context", {"text": text, "session": session, "messages": 0, **named})

    def _prompt(self, payload: Json) -> str:
        prompt = payload.get("prompt")
        return _HOOK_CONTEXT.sub("", prompt) if isinstance(prompt, str) else ""

    # --- turns --------------------------------------------------------------------------------------------------

    def _record_apart(self, payload: Json, state: _State) -> None:
        """Record turns in a process of its own, and wait for it as long as a hook may take."""
        child = os.fork()
        if child == 0:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            signal.signal(signal.SIGALRM, self._late)
            signal.setitimer(signal.ITIMER_REAL, RECORD_SECONDS)
            try:
                self._record(payload, state)
            except Exception as error:  # noqa: BLE001 - as `main`
                problem = str(error) if isinstance(error, Unreachable | Refused) else _kind(error)
                note(self._folder, self._adapter.name, "record", problem)
            os._exit(0)
        until = time.monotonic() + SECONDS * 0.75
        while time.monotonic() < until and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.005)

    def _late(self, _number: int, _frame: FrameType | None) -> NoReturn:
        note(self._folder, self._adapter.name, "record", f"no answer within {RECORD_SECONDS:g} s: turns may be missing")
        os._exit(0)

    def _record(self, payload: Json, state: _State) -> None:
        if self._adapter.records == "transcript":
            lines, offset = self._transcript(payload, state)
            body = b"\n".join(lines)
        else:
            messages, offset = self._messages(payload), None
            document = {"id": _text(payload, self._adapter.session), "messages": messages}
            body = json.dumps(document).encode() if messages else b""
        if body:
            project = project_of(payload)
            query = {"shape": self._adapter.shape, "live": "true"} | ({"project": project} if project else {})
            until = time.monotonic() + RECORD_SECONDS - 1
            while True:
                try:
                    self._ask("chats", body, query, seconds=RECORD_SECONDS)
                    break
                except Unreachable:
                    if time.monotonic() > until:
                        raise
                    self._start()
                    time.sleep(PAUSE_SECONDS)
        if offset is not None:
            state.save(offset=offset)

    def _transcript(self, payload: Json, state: _State) -> tuple[list[bytes], int]:
        """Lines of the transcript that were not sent before, and where they end."""
        path = _text(payload, "transcript_path")
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not S_ISREG(found.st_mode):
                raise Refused("transcript_path: got something that is not a file")
            size = found.st_size
            start = state.told.get("offset", 0)
            start = start if isinstance(start, int) and 0 <= start <= size else 0
            skipped = size - start > MOST_TRANSCRIPT
            file.seek(size - MOST_TRANSCRIPT if skipped else start)
            whole, _, rest = file.read(MOST_TRANSCRIPT).rpartition(b"\n")
            size = file.tell()  # it may have grown since
        if skipped:
            whole = whole.partition(b"\n")[2]
        lines = [line for line in whole.split(b"\n") if len(line) <= MOST_LINE and self._is_message(line)]
        if lines and self._adapter.shape == "codex":
            named = {"type": "session_meta", "payload": {"id": _text(payload, self._adapter.session)}}
            lines.insert(0, json.dumps(named).encode())
        return lines, size - len(rest)

    def _is_message(self, line: bytes) -> bool:
        """Whether a line of a transcript is a message; what a tool was given or said is not sent at all."""
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(read, dict):
            return False
        if self._adapter.shape == "codex":
            payload = read.get("payload")
            return isinstance(payload, dict) and payload.get("role") in ("user", "assistant")
        return read.get("type") in ("user", "assistant") and "toolUseResult" not in read

    def _messages(self, payload: Json) -> list[Json]:
        """Turns of an event: those it lists, or the prompt and the reply that it holds."""
        if self._adapter.records == "messages":
            said = payload.get("messages")
            rows = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
            return [
                {
                    "id": one.get("id"),
                    "role": one.get("role"),
                    "content": one.get("text"),
                    "created_at": one.get("time"),
                }
                for one in rows
            ]
        turn, now = _text(payload, self._adapter.turn), int(time.time())
        prompt, reply = self._prompt(payload), payload.get(self._adapter.reply)
        found = [{"id": f"{turn}-user", "role": "user", "content": prompt, "created_at": now}] if prompt else []
        if isinstance(reply, str) and reply:
            found.append({"id": f"{turn}-assistant", "role": "assistant", "content": reply, "created_at": now})
        return found

    # --- the service --------------------------------------------------------------------------------------------

    def _ask(
        self, what: str, body: Json | bytes, query: Mapping[str, str] | None = None, *, seconds: float = SECONDS
    ) -> Json:
        """What the service answers. Raises Unreachable and Refused."""
        from http.client import HTTPConnection, HTTPException  # noqa: PLC0415 - a refused event needs none
        from urllib.parse import quote, urlencode  # noqa: PLC0415

        told = self._installed()
        path = f"/v1/owners/{quote(told['owner'], safe='')}/{what}" + (f"?{urlencode(query)}" if query else "")
        connection = HTTPConnection("localhost", timeout=seconds)
        connection.sock = self._line(seconds)
        headers = {"authorization": f"Bearer {told['key']}", "content-type": "application/json"}
        try:
            connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body), headers)
            response = connection.getresponse()
            raw = response.read(MOST_ANSWER)
            answer = json.loads(raw)
        except (OSError, HTTPException, ValueError) as error:
            raise Refused(f"the service gave no answer ({type(error).__name__})") from None
        if response.status != 200 or not isinstance(answer, dict):
            kind = answer.get("error") if isinstance(answer, dict) else None
            raise Refused(f"the service answered {response.status} {kind or ''}".strip())
        return answer

    def _line(self, seconds: float) -> Any:
        import socket  # noqa: PLC0415 - as above

        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(seconds)
        try:
            os.chdir(self._folder)  # the path of a socket may be longer than the kernel takes
            line.connect("api.sock")
        except OSError as error:
            line.close()
            raise Unreachable(f"no service: {error.strerror}") from None
        return line

    def _installed(self) -> dict[str, str]:
        """Owner and key that the installation wrote. Raises Refused unless only this user could write and read them."""
        for path, others in ((self._folder, 0o022), (self._own / "hook.json", 0o077)):
            try:
                found = path.stat()
            except FileNotFoundError:
                raise Refused(f"not installed: run `engramlog install {self._adapter.name}`") from None
            if found.st_uid != os.geteuid() or found.st_mode & others:
                raise Refused(f"{path.name} is another user's, or open to others")
        told = json.loads((self._own / "hook.json").read_bytes())
        return {"owner": str(told["owner"]), "key": str(told["key"])}

    def _start(self) -> None:
        """Start the service in the background, unless a start of a hook is under way."""
        import fcntl  # noqa: PLC0415 - only without a service
        import subprocess  # noqa: PLC0415

        lock = os.open(self._folder / FOLDER / "start.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return
        log = os.open(self._folder / FOLDER / "service.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        subprocess.Popen(
            [sys.executable, "-P", "-m", "engramlog_server.ops.main", "up", "--idle", str(IDLE_SECONDS), "--json"],
            env={**os.environ, "ENGRAMLOG_DATA": str(self._folder)},
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
            pass_fds=(lock,),  # locked as long as the service lives
        )
        os.close(lock)
        os.close(log)


class _State:
    """The progress of a client's session: how far its transcript was read, and whether the stable part is owed."""

    def __init__(self, folder: Path, session: str) -> None:
        from hashlib import sha256  # noqa: PLC0415 - as above

        self._path = folder / sha256(session.encode()).hexdigest()[:32]
        self.told: Json = {}
        with suppress(OSError, ValueError):
            told = json.loads(self._path.read_bytes())
            self.told = told if isinstance(told, dict) else {}

    def save(self, **told: Any) -> None:
        """Remember; of too many sessions the oldest are forgotten."""
        self.told |= told
        folder = self._path.parent
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            if not self._path.exists():
                others = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
                for path in others[MOST_SESSIONS - 1 :]:
                    path.unlink(missing_ok=True)
            fresh = self._path.with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps(self.told))
            fresh.replace(self._path)


def _text(payload: Mapping[str, Any], name: str) -> str:
    """A field of the client's event. Raises Refused."""
    value = payload.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(f"{name}: got nothing; allowed: a text, as the client documents it")
    return value


def project_of(payload: Mapping[str, Any]) -> str | None:
    """The name of the git repository in which the client works; None outside of one. Worktrees belong to their repository."""
    roots = payload.get("workspace_roots")
    named = payload.get("cwd") or (roots[0] if isinstance(roots, list) and roots else None)
    if not isinstance(named, str) or not named.startswith("/"):
        return None
    for place in (Path(named), *Path(named).parents):
        mark = place / ".git"
        with suppress(OSError, UnicodeDecodeError):
            if mark.is_file():  # gitdir: /repository/.git/worktrees/name
                with mark.open() as file:
                    pointed = file.read(MOST_PATH).removeprefix("gitdir:").strip()
                if "/.git/worktrees/" in pointed:
                    return Path(pointed.partition("/.git/worktrees/")[0]).name or None
            if mark.exists():
                return place.name or None
    return None
