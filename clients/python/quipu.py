"""Client of the HTTP API of ``quipu serve``: one file without dependencies, for Python 3.9 or newer.

An add has a request id, created before its first attempt and sent with every attempt, so that it counts exactly
once. A write is applied (it returns), not applied (NotAppliedError), or unknown (OutcomeUnknownError).
"""

from __future__ import annotations

import http.client
import json
import random
import re
import ssl
import threading
import time
import urllib.parse
import uuid
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, TypeVar, Union, cast

_RESPONSE_BYTES_MAX, _DETAIL_MAX = 16 << 20, 500
_BACKOFF_SECONDS, _BACKOFF_SECONDS_MAX, _IDLE_SECONDS_MAX = 0.05, 2.0, 30.0
_DEFINITE = ("request-canceled", "request-id-reused")  # also for an earlier attempt that is still under way
_T = TypeVar("_T")
_Json = Dict[str, Any]

class Add(NamedTuple):
    """An add of a batch; ``id`` is the request id, 1 to 255 bytes of UTF-8, random by default."""
    name: str
    delta: int
    floor: Optional[int] = None
    ceiling: Optional[int] = None
    id: Optional[str] = None

# An applied add; ``value`` is the value right after it, None if the server does not know it.
Added = NamedTuple("Added", [("name", str), ("id", str), ("added", int), ("value", Optional[int]), ("replayed", bool)])
# The value of a counter, with its lower and upper bound.
Reading = NamedTuple("Reading", [("name", str), ("value", int), ("low", int), ("high", int)])
# ``applied``, ``canceled``, or ``not-seen``: the add may still be under way; cancel it to be sure.
Outcome = NamedTuple("Outcome", [("outcome", str), ("added", Optional[int]), ("value", Optional[int])])

class Failure(NamedTuple):
    """Why there is no result; ``code`` is the type of the problem, or "unreachable" or "malformed" without one."""
    code: str
    detail: str
    unknown: bool
    temporary: bool = True
    status: Optional[int] = None
    value: Optional[int] = None
    retry_after: float = 0.0

class QuipuError(Exception):
    """A failed call; ``id`` is the request id of an add."""
    def __init__(self, what: str, call: _Call, failure: Failure) -> None:
        super().__init__(f"{call.name}: {what}: {failure.code}: {failure.detail}")
        self.failure, self.id = failure, call.id

class NotAppliedError(QuipuError):
    """The call changed nothing and never will; a failed read raises it, too."""
    @property
    def rejected(self) -> bool:
        """Whether the counter rejected it: a bound, an overflow, if_value, an id that was canceled or reused."""
        return self.failure.status in (409, 422)

class OutcomeUnknownError(QuipuError):
    """The write may have been applied, or may be later. Repeat the add with the same ``id``, or cancel it."""

class _Call:
    def __init__(self, name: str, id: str = "", line: str = "", is_read: bool = False) -> None:
        self.name, self.id, self.line, self.is_read = name, id, line, is_read
        self.result: Any = None
        self.lost: Optional[Failure] = None

class Quipu:
    """A client, which threads may share. A call has ``deadline`` seconds for all attempts, and ``attempt`` for one."""
    def __init__(self, url: str, token: Optional[str] = None, deadline: float = 30.0, attempt: float = 16.0,
                 context: Optional[ssl.SSLContext] = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
            raise ValueError("the URL must be http(s)://host[:port][/path]; pass a token as an argument")
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
            raise ValueError("the token must be visible ASCII characters, without blanks")
        host, port, https = parts.hostname, parts.port, parts.scheme == "https"
        tls = context or (ssl.create_default_context() if https else None)
        self._open: Callable[[float], http.client.HTTPConnection] = lambda seconds: (
            http.client.HTTPSConnection(host, port, timeout=seconds, context=tls) if https
            else http.client.HTTPConnection(host, port, timeout=seconds))
        self._base = parts.path.rstrip("/")
        self._headers = {} if token is None else {"Authorization": "Bearer " + token}
        self._deadline, self._attempt, self._local = deadline, attempt, threading.local()

    def add(self, name: str, delta: int, floor: Optional[int] = None, ceiling: Optional[int] = None,
            id: Optional[str] = None, deadline: Optional[float] = None) -> Added:
        """Adds to a counter, exactly once for each request id."""
        id = uuid.uuid4().hex if id is None else id
        key = '"' + re.sub(r'(["\\])', r"\\\1", id) + '"'
        call, body = _Call(name, id), _numbers(delta=delta, floor=floor, ceiling=ceiling)
        return self._one(call, "POST", _path(name) + "/add", lambda body: _added(call, body), deadline, body,
                         {"Idempotency-Key": key.encode()})

    def add_all(self, adds: Sequence[Add], deadline: Optional[float] = None) -> list[Union[Added, QuipuError]]:
        """Adds to several counters, at most 10,000; each add has its own result, in the same order."""
        calls: list[_Call] = []
        for name, delta, floor, ceiling, id in adds:
            id = uuid.uuid4().hex if id is None else id
            line = {"name": name, "id": id, **_numbers(delta=delta, floor=floor, ceiling=ceiling)}
            calls.append(_Call(name, id, json.dumps(line) + "\n"))

        def send(pending: list[_Call], seconds: float) -> Sequence[Any]:
            body = "".join(call.line for call in pending).encode()
            reply = self._send("POST", "/v1/counters/bulk", body, {"Content-Type": "application/x-ndjson"}, seconds)
            if isinstance(reply, Failure):
                return [reply] * len(pending)
            lines = reply.split(b"\n") + [b""] * len(pending)
            return [_parsed(line, lambda body: _added(call, body) if body["status"] == 200
                            else _problem(body["status"], body)) for call, line in zip(pending, lines)]
        return self._settle(calls, True, deadline, send)

    def read(self, name: str, deadline: Optional[float] = None) -> Optional[Reading]:
        """Returns a counter; None if it was never written, or was deleted."""
        return self.read_all([name], deadline)[0]

    def read_all(self, names: Sequence[str], deadline: Optional[float] = None) -> list[Optional[Reading]]:
        """Returns at most 1,000 counters, in the order of the names."""
        def parse(body: _Json) -> list[Optional[Reading]]:
            found = [body["counters"][i] for i in range(len(names))]
            return [Reading(name, _integer(each["value"]), _integer(each["low"]), _integer(each["high"]))
                    if "value" in each else None for name, each in zip(names, found)]
        call = _Call(", ".join(names[:3]), is_read=True)
        return self._one(call, "POST", "/v1/counters/read", parse, deadline, {"names": list(names)})

    def set(self, name: str, value: int, if_value: Optional[int] = None, deadline: Optional[float] = None) -> None:
        """Sets the value, regardless of bounds; without a request id, so an unknown outcome is not repeated."""
        body = _numbers(value=value, ifValue=if_value)
        self._one(_Call(name), "PUT", _path(name), lambda body: _integer(body["value"]), deadline, body)

    def delete(self, name: str, deadline: Optional[float] = None) -> None:
        """Deletes a counter, if it exists; as with ``set``, an unknown outcome is not repeated."""
        self._one(_Call(name), "DELETE", _path(name), lambda body: None, deadline)

    def outcome(self, name: str, id: str, deadline: Optional[float] = None) -> Outcome:
        """Returns the outcome of an add."""
        return self._one(_Call(name, id, is_read=True), "GET", _request(name, id, ""), _outcome, deadline)

    def cancel(self, name: str, id: str, deadline: Optional[float] = None) -> Outcome:
        """Cancels an add: unless it was applied, it never will be."""
        return self._one(_Call(name, id), "POST", _request(name, id, "/cancel"), _outcome, deadline)

    def _one(self, call: _Call, method: str, path: str, parse: Callable[[_Json], _T], deadline: Optional[float],
             body: Optional[_Json] = None, headers: Dict[str, bytes] = {}) -> _T:
        def send(_: list[_Call], seconds: float) -> Sequence[Any]:
            content = None if body is None else json.dumps(body).encode()
            reply = self._send(method, path, content, {"Content-Type": "application/json", **headers}, seconds)
            return [reply] if isinstance(reply, Failure) else [_parsed(reply or b"{}", parse)]
        self._settle([call], method in ("GET", "POST"), deadline, send)
        if isinstance(call.result, QuipuError):
            raise call.result
        return cast(_T, call.result)

    def _settle(self, calls: list[_Call], repeatable: bool, deadline: Optional[float],
                send: Callable[[list[_Call], float], Sequence[Any]]) -> list[Any]:
        """Sends the pending calls until each has a definite result, or the time is over."""
        end = time.monotonic() + (self._deadline if deadline is None else deadline)
        backoff, pending = _BACKOFF_SECONDS, calls
        while pending:
            seconds = max(0.001, min(self._attempt, end - time.monotonic()))
            wait, again = backoff * random.uniform(0.5, 1), []
            for call, result in zip(pending, send(pending, seconds)):
                call.result = result
                if isinstance(result, Failure):
                    call.lost = result if result.unknown and not call.is_read else call.lost
                    wait = max(wait, result.retry_after * random.uniform(1, 1.25))
                    if result.temporary and (repeatable or not call.lost):
                        again.append(call)
            if not again or time.monotonic() + wait >= end:
                break
            time.sleep(wait)
            pending, backoff = again, min(_BACKOFF_SECONDS_MAX, 2 * backoff)
        for call in calls:
            if isinstance(call.result, Failure):
                unknown = None if call.result.code in _DEFINITE else call.lost
                call.result = (OutcomeUnknownError("outcome unknown", call, unknown) if unknown
                               else NotAppliedError("not applied", call, call.result))
        return [call.result for call in calls]

    def _send(self, method: str, path: str, body: Optional[bytes], headers: _Json,
              seconds: float) -> Union[bytes, Failure]:
        """Returns the body of a 2xx, or why there is none. Each thread has a connection."""
        end, is_sent = time.monotonic() + seconds, False
        connection, idle_until = self._local.__dict__.pop("idle", (None, 0.0))
        try:
            if not (connection and connection.sock and method in ("GET", "POST") and end - seconds < idle_until):
                connection = self._open(seconds)
                connection.connect()
            connection.sock.settimeout(seconds)
            is_sent = True
            connection.request(method, self._base + path, body, {**self._headers, **headers})
            socket, response, content = connection.sock, connection.getresponse(), bytearray()
            while part := response.read1(65_536):
                content += part
                socket.settimeout(max(0.001, end - time.monotonic()))
                if len(content) > _RESPONSE_BYTES_MAX:
                    raise http.client.HTTPException(f"response is longer than {_RESPONSE_BYTES_MAX} bytes")
            response.close()  # the connection may be used again
        except (OSError, http.client.HTTPException) as e:
            if connection:
                connection.close()
            return Failure("unreachable", f"{type(e).__name__}: {e}"[:_DETAIL_MAX], is_sent)
        self._local.idle = connection, time.monotonic() + _IDLE_SECONDS_MAX
        if 200 <= response.status < 300:
            return bytes(content)
        after = response.headers.get("Retry-After", "")
        problem: Failure = _parsed(bytes(content), lambda body: _problem(response.status, body, after))
        return _problem(response.status, {}, after) if problem.code == "malformed" else problem

def _parsed(text: bytes, parse: Callable[[_Json], Any]) -> Any:
    try:
        return parse(json.loads(text))
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as e:
        return Failure("malformed", f"{type(e).__name__}: {e}"[:_DETAIL_MAX], True)

def _problem(status: int, body: _Json, retry_after: str = "") -> Failure:
    """A server error that states no outcome, as of a proxy, is unknown."""
    code, outcome = str(body.get("type", f"http-{status}")).replace("/problems/", ""), body.get("outcome")
    is_servers = status == 408 or (status >= 500 and status != 501)
    is_unknown = outcome == "unknown" or (is_servers and outcome != "not-applied")
    return Failure(code, str(body.get("detail"))[:_DETAIL_MAX], is_unknown, status == 429 or
                   (is_servers and code != "store-damaged"), status, _optional(body.get("value")),
                   float(retry_after) if retry_after.isdigit() else 0.0)

def _added(call: _Call, body: _Json) -> Added:
    return Added(call.name, call.id, _integer(body["added"]), _optional(body.get("value")), body["replayed"] is True)
def _outcome(body: _Json) -> Outcome:
    return Outcome(str(body["outcome"]), _optional(body.get("added")), _optional(body.get("value")))
def _optional(value: object) -> Optional[int]:
    return None if value is None else _integer(value)
def _integer(value: object) -> int:
    if isinstance(value, str) and re.fullmatch("-?[0-9]{1,19}", value):
        return int(value)
    raise ValueError("no 64-bit integer")

def _numbers(**values: Optional[int]) -> _Json:
    for key, value in values.items():
        if value is not None and not (type(value) is int and -(2**63) <= value < 2**63):
            raise ValueError(f"{key} is not a 64-bit integer")
    return {key: str(value) for key, value in values.items() if value is not None}

def _path(name: str) -> str:
    return "/v1/counters/" + urllib.parse.quote(name, safe="")
def _request(name: str, id: str, what: str) -> str:
    return f"/v1/requests/{urllib.parse.quote(id, safe='')}{what}?counter={urllib.parse.quote(name, safe='')}"
