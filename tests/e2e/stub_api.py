"""A loopback Messages API with scripted replies, for driving the real CLI without a model.

A test scripts who answers what: ``api.executor(...)`` for the main loop, ``api.advisor(...)`` for the
subagents it dispatches, or ``api.script(function)`` for anything else. Several replies are played in
order; ``forever(reply)`` never runs out. A request nobody scripted is answered 400 and kept in
``api.unscripted``.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Role = Literal["executor", "advisor"]
ADVISOR_TYPE = "hydraflow-review-advisor"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came over the wire."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> str:
        """The resolved model that was asked."""
        return str(self.body.get("model", ""))

    @property
    def role(self) -> Role:
        """Main loop or subagent, by the CLI's own billing block."""
        return "advisor" if "cc_is_subagent=true" in self.system else "executor"

    @property
    def system(self) -> str:
        """The whole system prompt."""
        return "\n".join(_texts(self.body.get("system", [])))

    @property
    def prompt(self) -> str:
        """Everything the first user turn says."""
        return "\n".join(_texts(self.body["messages"][0]["content"]))

    @property
    def tools(self) -> list[str]:
        """The tools on offer."""
        return [tool["name"] for tool in self.body.get("tools", [])]

    @property
    def tool_results(self) -> list[str]:
        """The texts of the tool results in the newest turn that has any."""
        for message in reversed(self.body["messages"]):
            if isinstance(message["content"], list):
                results = [block for block in message["content"] if block.get("type") == "tool_result"]
                if results:
                    return ["\n".join(_texts(block.get("content", ""))) for block in results]
        return []


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block.get("type") == "text"]


Send = Callable[[BaseHTTPRequestHandler, Request], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the stub does with one request."""

    send: Send
    forever: bool = False


def forever(reply: Reply) -> Reply:
    """The same reply to every request from here on."""
    return Reply(reply.send, forever=True)


# --- messages -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Ids:
    taken: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, prefix: str) -> str:
        with self.lock:
            self.taken += 1
            return f"{prefix}_{self.taken:06d}"


_ids = _Ids()


def tool_use(name: str, **tool_input: Any) -> dict[str, Any]:
    """A block for ``several``: one use of a tool."""
    return {"type": "tool_use", "name": name, "input": tool_input}


def several(*blocks: dict[str, Any]) -> Reply:
    """One message with all these blocks."""
    stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    return _message(list(blocks), stop)


def text(words: str) -> Reply:
    """A plain text answer."""
    return several({"type": "text", "text": words})


def structured(value: dict[str, Any]) -> Reply:
    """The answer the CLI's --json-schema asks for."""
    return several(tool_use("StructuredOutput", **value))


def consult_block(question: str, **tool_input: Any) -> dict[str, Any]:
    """A block for ``several``: a question to the advisor; ``tool_input`` overrides its arguments."""
    asked = {"description": "consult", "prompt": question, "subagent_type": ADVISOR_TYPE, **tool_input}
    return tool_use("Agent", **asked)


def consult(question: str, **tool_input: Any) -> Reply:
    """The executor asks its advisor."""
    return several(consult_block(question, **tool_input))


def read(path: str) -> Reply:
    """A use of the Read tool."""
    return several(tool_use("Read", file_path=path))


def empty() -> Reply:
    """A complete message that says nothing."""
    return _message([], "end_turn")


def refusal() -> Reply:
    """The model declines."""
    return _message([], "refusal")


def output_limit(words: str = "and so on") -> Reply:
    """A message cut off by max_tokens."""
    return _message([{"type": "text", "text": words}], "max_tokens")


def drip(words: str, seconds_between: float) -> Reply:
    """A text answer that comes one character at a time."""
    return _message([{"type": "text", "text": words}], "end_turn", pace=seconds_between)


def truncate(words: str = "I was about to") -> Reply:
    """A stream that ends in the middle, connection closed."""
    return _message([{"type": "text", "text": words}], "end_turn", cut="close")


def stall(seconds: float = 60.0) -> Reply:
    """A stream that begins and then says nothing more."""
    return _message([{"type": "text", "text": "wait"}], "end_turn", cut="stall", pause=seconds)


def hang(seconds: float = 60.0) -> Reply:
    """No byte of an answer at all."""

    def send(handler: BaseHTTPRequestHandler, request: Request) -> None:
        _sleep(handler, seconds)
        handler.close_connection = True

    return Reply(send)


def after(seconds: float, reply: Reply) -> Reply:
    """``reply``, but only after a while."""

    def send(handler: BaseHTTPRequestHandler, request: Request) -> None:
        _sleep(handler, seconds)
        reply.send(handler, request)

    return Reply(send, reply.forever)


def error(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An API error; header names are written with underscores."""

    def send(handler: BaseHTTPRequestHandler, request: Request) -> None:
        body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_stub"}
        _send_json(handler, status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return Reply(send)


def error_in_stream(kind: str, message: str) -> Reply:
    """A stream of status 200 that begins a message and ends it with an API error; without streaming, that error."""

    def send(handler: BaseHTTPRequestHandler, request: Request) -> None:
        if not request.body.get("stream"):
            error(429, kind, message).send(handler, request)
            return
        head = {"id": _ids.next("msg"), "type": "message", "role": "assistant", "model": request.model}
        begun = next(_events(head, [], "end_turn"))
        _send_stream(handler, [begun, {"type": "error", "error": {"type": kind, "message": message}}], 0.0, "", 0.0)

    return Reply(send)


def credit_gone() -> Reply:
    """The account is empty, in the API's own words."""
    message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
    return error(400, "invalid_request_error", message)


# --- the wire -----------------------------------------------------------------------------------

_USAGE = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}


def _message(blocks: list[dict[str, Any]], stop: str, *, pace: float = 0.0, cut: str = "", pause: float = 0.0) -> Reply:
    def send(handler: BaseHTTPRequestHandler, request: Request) -> None:
        named = [{**b, "id": _ids.next("toolu")} if b["type"] == "tool_use" else b for b in blocks]
        head = {"id": _ids.next("msg"), "type": "message", "role": "assistant", "model": request.model}
        if not request.body.get("stream"):
            if cut == "stall":
                _sleep(handler, pause)
            if cut:
                handler.close_connection = True
                return
            body = {**head, "content": named, "stop_reason": stop, "stop_sequence": None, "usage": _USAGE}
            _send_json(handler, 200, body, {})
            return
        _send_stream(handler, list(_events(head, named, stop)), pace, cut, pause)

    return Reply(send)


def _events(head: dict[str, Any], blocks: list[dict[str, Any]], stop: str) -> Iterator[dict[str, Any]]:
    start = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**_USAGE, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(blocks):
        if block["type"] == "tool_use":
            yield {"type": "content_block_start", "index": index, "content_block": {**block, "input": {}}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        else:
            yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
            deltas = [{"type": "text_delta", "text": letter} for letter in block["text"]]
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta_usage = {"output_tokens": 20}
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": delta_usage}
    yield {"type": "message_stop"}


def _send_stream(
    handler: BaseHTTPRequestHandler, events: list[dict[str, Any]], pace: float, cut: str, pause: float
) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    for event in events[:3] if cut else events:
        handler.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        handler.wfile.flush()
        if pace and event["type"] == "content_block_delta":
            time.sleep(pace)
    if cut == "stall":
        _sleep(handler, pause)


def _send_json(handler: BaseHTTPRequestHandler, status: int, body: Any, headers: dict[str, str]) -> None:
    payload = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(payload)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(payload)


def _sleep(handler: BaseHTTPRequestHandler, seconds: float) -> None:
    server = handler.server
    assert isinstance(server, _Server)
    server.closing.wait(seconds)


# --- the server ---------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    closing: threading.Event

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no news."""


class StubApi:
    """The stub as a test sees it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Request] = []
        self.unscripted: list[Request] = []
        self.strays: list[str] = []
        self._queues: dict[str, deque[Reply]] = {"executor": deque(), "advisor": deque()}
        self._function: Callable[[Request], Reply | None] | None = None
        self._lock = threading.Lock()

    def executor(self, *replies: Reply) -> None:
        """The main loop's next replies."""
        self._queues["executor"].extend(replies)

    def advisor(self, *replies: Reply) -> None:
        """The consulted subagents' next replies."""
        self._queues["advisor"].extend(replies)

    def script(self, function: Callable[[Request], Reply | None]) -> None:
        """Ask ``function`` first; None from it falls back to the queues."""
        self._function = function

    def of(self, role: Role) -> list[Request]:
        """The requests of one role so far."""
        return [request for request in list(self.requests) if request.role == role]

    def reply_to(self, request: Request) -> Reply:
        """The scripted reply; takes it off its queue."""
        with self._lock:
            self.requests.append(request)
            if self._function is not None and (reply := self._function(request)) is not None:
                return reply
            queue = self._queues[request.role]
            if not queue:
                self.unscripted.append(request)
                return error(400, "invalid_request_error", "this test has no reply for this request")
            return queue[0] if queue[0].forever else queue.popleft()


def _handler_for(api: StubApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                self.stray()
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.path, headers, json.loads(raw))
            with suppress(BrokenPipeError, ConnectionResetError):
                api.reply_to(request).send(self, request)

        def stray(self) -> None:
            api.strays.append(f"{self.command} {self.path}")
            _send_json(self, 404, {"type": "error", "error": {"type": "not_found_error", "message": "no"}}, {})

        do_GET = do_HEAD = stray

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler


@contextmanager
def stub_api() -> Iterator[StubApi]:
    """A stub on a free loopback port, closed afterwards; hanging replies are let go."""
    api = StubApi("")
    server = _Server(("127.0.0.1", 0), _handler_for(api))
    server.closing = threading.Event()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
