"""Client of the HTTP API of ``quipu serve``: one file without dependencies, for Python 3.9 or newer.

An add, a transaction and a hold have a request id, created before the first attempt and sent with every attempt, so
that each counts exactly once. A write is applied (it returns), not applied (NotAppliedError), or unknown
(OutcomeUnknownError). Results are ``int``, or ``Decimal`` if the counter has a scale; no amount is ever a ``float``.
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
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, TypeVar, Union, cast

_RESPONSE_BYTES_MAX, _DETAIL_MAX = 16 << 20, 500
_BACKOFF_SECONDS, _BACKOFF_SECONDS_MAX, _IDLE_SECONDS_MAX = 0.05, 2.0, 30.0
# These hold for an earlier attempt that is still under way, too: a hold that has ended never changes again.
_DEFINITE = ("request-canceled", "request-id-reused", "hold-closed", "hold-exceeded")
_T = TypeVar("_T")
_Json = Dict[str, Any]
# Of 64 bits, with at most as many digits after the point as the scale of the counter; a str is such as "-1.50".
Amount = Union[int, Decimal, str]
Number = Union[int, Decimal]

class Add(NamedTuple):
    """An add of a batch, of a transaction or of a hold.

    ``id`` is the request id in a batch, 1 to 255 bytes of UTF-8, random by default.
    """
    name: str
    delta: Amount
    floor: Optional[Amount] = None
    ceiling: Optional[Amount] = None
    id: Optional[str] = None

# An applied add; ``value`` is the value right after it, None if the server does not know it.
Added = NamedTuple("Added", [("name", str), ("id", str), ("added", Number), ("value", Optional[Number]),
                             ("replayed", bool)])
# The value of a counter, with its lower and upper bound.
Reading = NamedTuple("Reading", [("name", str), ("value", Number), ("low", Number), ("high", Number)])
# ``applied``, ``canceled``, or ``not-seen``: the add may still be under way; cancel it to be sure.
Outcome = NamedTuple("Outcome", [("outcome", str), ("added", Optional[Number]), ("value", Optional[Number])])
# What a hold reserved of a counter; ``settled`` is what was kept, None while the hold is open.
HeldAmount = NamedTuple("HeldAmount", [("counter", str), ("delta", Number), ("settled", Optional[Number])])

class Hold(NamedTuple):
    """A hold; ``state`` is ``open``, ``settled``, ``released`` or ``expired``, ``expires`` a UTC time of ISO-8601."""
    id: str
    state: str
    counters: List[HeldAmount]
    expires: str
    late: bool
    replayed: bool

# As Outcome, or ``held``: the id is of this hold.
TransactionOutcome = NamedTuple("TransactionOutcome", [("outcome", str), ("adds", List[Added]),
                                                       ("hold", Optional[Hold])])

class Failure(NamedTuple):
    """Why there is no result; ``code`` is the type of the problem, or "unreachable" or "malformed" without one.

    ``counter`` is the first of several that rejected a call; ``hold`` is one that had ended before.
    """
    code: str
    detail: str
    unknown: bool
    temporary: bool = True
    status: Optional[int] = None
    value: Optional[Number] = None
    retry_after: float = 0.0
    counter: Optional[str] = None
    hold: Optional[Hold] = None

class QuipuError(Exception):
    """A failed call; ``id`` is the request id of an add, or the id of a transaction or a hold."""
    def __init__(self, what: str, call: _Call, failure: Failure) -> None:
        super().__init__(f"{call.name}: {what}: {failure.code}: {failure.detail}")
        self.failure, self.id = failure, call.id

class NotAppliedError(QuipuError):
    """The call changed nothing and never will; a failed read raises it, too."""
    @property
    def rejected(self) -> bool:
        """Whether it was rejected: by a bound, an overflow, if_value, a scale, the end or the amount of a hold, or
        because the id was canceled or is of something else; ``failure.code`` says which."""
        return self.failure.status in (409, 422)

class OutcomeUnknownError(QuipuError):
    """The write may have been applied, or may be later. Repeat the call with the same ``id``, or cancel it."""

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

    def add(self, name: str, delta: Amount, floor: Optional[Amount] = None, ceiling: Optional[Amount] = None,
            id: Optional[str] = None, deadline: Optional[float] = None) -> Added:
        """Adds to a counter, exactly once for each request id."""
        id = uuid.uuid4().hex if id is None else id
        call, body = _Call(name, id), _numbers(delta=delta, floor=floor, ceiling=ceiling)
        return self._one(call, "POST", _path(name) + "/add", lambda body: _added(call, body), deadline, body, _key(id))

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

    def transaction(self, adds: Sequence[Add], id: Optional[str] = None,
                    deadline: Optional[float] = None) -> list[Added]:
        """Adds to 1 to 64 counters, each within its own bounds: to all, or to none, exactly once for each id."""
        call = _Call(_names(adds), uuid.uuid4().hex if id is None else id)
        return self._one(call, "POST", "/v1/transactions",
                         lambda body: _all_added(call.id, body["adds"], body["replayed"] is True), deadline,
                         {"adds": _adds(adds)}, _key(call.id))

    def transaction_outcome(self, id: str, deadline: Optional[float] = None) -> TransactionOutcome:
        """Returns the outcome of a transaction, or of placing a hold."""
        return self._one(_Call(id, id, is_read=True), "GET", f"/v1/requests/{_quoted(id)}",
                         lambda body: _transaction_outcome(id, body), deadline)

    def cancel_transaction(self, id: str, deadline: Optional[float] = None) -> TransactionOutcome:
        """Cancels a transaction or a hold: unless it was applied or placed, it never will be."""
        return self._one(_Call(id, id), "POST", f"/v1/requests/{_quoted(id)}/cancel",
                         lambda body: _transaction_outcome(id, body), deadline)

    def hold(self, name: str, delta: Amount, ttl: float, floor: Optional[Amount] = None,
             ceiling: Optional[Amount] = None, id: Optional[str] = None, late: bool = False, excess: bool = False,
             deadline: Optional[float] = None) -> Hold:
        """Reserves an amount at once: settle it with what was used, or it is returned after ``ttl`` seconds.

        If the result is replayed, its ``state`` may have ended. ``late`` applies a settlement after the expiry, and
        ``excess`` one of more than was reserved, both within the bounds; otherwise these are rejected.
        """
        return self.hold_all([Add(name, delta, floor, ceiling)], ttl, id, late, excess, deadline)

    def hold_all(self, adds: Sequence[Add], ttl: float, id: Optional[str] = None, late: bool = False,
                 excess: bool = False, deadline: Optional[float] = None) -> Hold:
        """Places one hold over 1 to 64 counters, as ``hold`` does: on all, or on none."""
        id = uuid.uuid4().hex if id is None else id
        body = {"adds": _adds(adds), "ttl": _ttl(ttl), "late": "apply" if late else "reject",
                "excess": "allow" if excess else "reject"}
        return self._one(_Call(_names(adds), id), "POST", "/v1/holds", _hold, deadline, body, _key(id))

    def settle(self, id: str, used: Union[Amount, Mapping[str, Amount]], deadline: Optional[float] = None) -> Hold:
        """Ends a hold: keeps what was used, and returns the rest.

        ``used`` has the sign of what was reserved, or is 0; for several counters it may be a dict with one for each.
        """
        body: _Json = {"delta": _text("used", used)} if not isinstance(used, Mapping) else {
            "adds": [{"counter": name, "delta": _text("used", each)} for name, each in used.items()]}
        return self._one(_Call(id, id), "POST", _hold_path(id) + "/settle", _hold, deadline, body)

    def release(self, id: str, deadline: Optional[float] = None) -> Hold:
        """Ends a hold of which nothing was used, and returns all of it."""
        return self._one(_Call(id, id), "POST", _hold_path(id) + "/release", _hold, deadline)

    def extend(self, id: str, ttl: float, deadline: Optional[float] = None) -> Hold:
        """Sets the expiry of an open hold to ``ttl`` seconds from now."""
        return self._one(_Call(id, id), "POST", _hold_path(id) + "/extend", _hold, deadline, {"ttl": _ttl(ttl)})

    def get_hold(self, id: str, deadline: Optional[float] = None) -> Optional[Hold]:
        """Returns a hold; None if it was never placed, or is no longer remembered."""
        try:
            return self._one(_Call(id, id, is_read=True), "GET", _hold_path(id), _hold, deadline)
        except NotAppliedError as e:
            if e.failure.code == "hold-not-found":
                return None
            raise

    def holds(self, name: str, deadline: Optional[float] = None) -> Iterator[Hold]:
        """Yields the open holds on a counter, read in pages, each with the deadline.

        Their ids are 32 hexadecimal digits, which are the same ids for ``settle`` and the other calls.
        """
        def parse(body: _Json) -> tuple[list[Hold], Optional[str]]:
            return [_hold(each) for each in body["holds"]], body.get("cursor")
        cursor: Optional[str] = ""
        while cursor is not None:
            path = f"{_path(name)}/holds?limit=1000" + (cursor and "&cursor=" + _quoted(cursor))
            page, cursor = self._one(_Call(name, is_read=True), "GET", path, parse, deadline)
            yield from page

    def read(self, name: str, deadline: Optional[float] = None) -> Optional[Reading]:
        """Returns a counter; None if it was never written, or was deleted."""
        return self.read_all([name], deadline)[0]

    def read_all(self, names: Sequence[str], deadline: Optional[float] = None) -> list[Optional[Reading]]:
        """Returns at most 1,000 counters, in the order of the names."""
        def parse(body: _Json) -> list[Optional[Reading]]:
            found = [body["counters"][i] for i in range(len(names))]
            return [Reading(name, _number(each["value"]), _number(each["low"]), _number(each["high"]))
                    if "value" in each else None for name, each in zip(names, found)]
        call = _Call(", ".join(names[:3]), is_read=True)
        return self._one(call, "POST", "/v1/counters/read", parse, deadline, {"names": list(names)})

    def set(self, name: str, value: Amount, if_value: Optional[Amount] = None,
            deadline: Optional[float] = None) -> None:
        """Sets the value, regardless of bounds; without a request id, so an unknown outcome is not repeated."""
        body = _numbers(value=value, ifValue=if_value)
        self._one(_Call(name), "PUT", _path(name), lambda body: _number(body["value"]), deadline, body)

    def set_scale(self, name: str, scale: int, deadline: Optional[float] = None) -> None:
        """Sets the number of digits after the point, 0 to 18, of a counter that has no value yet; as ``set``."""
        self._one(_Call(name), "PUT", _path(name), lambda body: _number(body["value"]), deadline, {"scale": scale})

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
    value, hold = _parsed_if(_number, body.get("value")), _parsed_if(_hold, body.get("hold"))
    return Failure(code, str(body.get("detail"))[:_DETAIL_MAX], is_unknown, status == 429 or
                   (is_servers and code != "store-damaged"), status, value,
                   float(retry_after) if retry_after.isdigit() else 0.0, body.get("counter"), hold)

def _parsed_if(parse: Callable[[Any], _T], member: Any) -> Optional[_T]:
    """Without a member, or with one of a later version, a problem is still what its status and its type say."""
    try:
        return None if member is None else parse(member)
    except (ValueError, TypeError, AttributeError, LookupError):
        return None

def _added(call: _Call, body: _Json) -> Added:
    return Added(call.name, call.id, _number(body["added"]), _optional(body.get("value")), body["replayed"] is True)
def _all_added(id: str, adds: list[_Json], replayed: bool) -> list[Added]:
    return [Added(str(each["counter"]), id, _number(each["added"]), _optional(each.get("value")), replayed)
            for each in adds]
def _outcome(body: _Json) -> Outcome:
    return Outcome(str(body["outcome"]), _optional(body.get("added")), _optional(body.get("value")))
def _transaction_outcome(id: str, body: _Json) -> TransactionOutcome:
    hold = _hold(body["hold"]) if "hold" in body else None
    return TransactionOutcome(str(body["outcome"]), _all_added(id, body.get("adds", []), True), hold)
def _hold(body: _Json) -> Hold:
    counters = [HeldAmount(str(each["counter"]), _number(each["delta"]), _optional(each.get("settled")))
                for each in body["counters"]]
    return Hold(str(body["id"]), str(body["state"]), counters, str(body["expires"]), body.get("late") is True,
                body.get("replayed") is True)
def _optional(value: object) -> Optional[Number]:
    return None if value is None else _number(value)
def _number(value: object) -> Number:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}(\.[0-9]{1,18})?", value):
        return Decimal(value) if "." in value else int(value)
    raise ValueError("no 64-bit number")

def _numbers(**values: Optional[Amount]) -> _Json:
    return {key: _text(key, value) for key, value in values.items() if value is not None}
def _text(key: str, value: Amount) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal, str)):
        raise TypeError(f"{key} is a {type(value).__name__}, which is not exact; send an int, a decimal.Decimal, or a "
                        "str such as '-1.50'")
    is_short = not isinstance(value, Decimal) or -40 < value.adjusted() < 40  # written out, others take memory
    text = f"{value:f}" if isinstance(value, Decimal) and is_short else str(value)
    if (re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]{1,18})?", text) and len(text) <= 21
            and -(2**63) <= int(text.replace(".", "")) < 2**63):
        return text
    raise ValueError(f"{key} is {text[:40]!r}; send a 64-bit integer, or a decimal with at most 18 digits after the "
                     "point, such as -1.50")
def _adds(adds: Sequence[Add]) -> list[_Json]:
    if any(id is not None for _, _, _, _, id in adds):
        raise ValueError("an add has an id; a transaction or a hold has one id for all: pass it to the call")
    return [{"counter": name, **_numbers(delta=delta, floor=floor, ceiling=ceiling)}
            for name, delta, floor, ceiling, _ in adds]
def _ttl(seconds: float) -> str:
    return f"PT{seconds:.3f}S"

def _names(adds: Sequence[Add]) -> str:
    return ", ".join(each[0] for each in adds[:3])
def _key(id: str) -> Dict[str, bytes]:
    return {"Idempotency-Key": ('"' + re.sub(r'(["\\])', r"\\\1", id) + '"').encode()}
def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")
def _path(name: str) -> str:
    return "/v1/counters/" + _quoted(name)
def _hold_path(id: str) -> str:
    return "/v1/holds/" + _quoted(id)
def _request(name: str, id: str, what: str) -> str:
    return f"/v1/requests/{_quoted(id)}{what}?counter={_quoted(name)}"
