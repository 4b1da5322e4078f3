"""Calls of quipu.py for ClientsIT: ``python3 calls.py URL TOKEN DEADLINE_MILLIS MODE …``; TOKEN may be ``-``."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, List

from quipu import Add, Added, NotAppliedError, OutcomeUnknownError, Quipu

url, token, deadline, mode, name = sys.argv[1:6]
more = sys.argv[6:]
client = Quipu(url, None if token == "-" else token, deadline=int(deadline) / 1_000)


def line(error: Exception) -> str:
    """The outcome in one line."""
    if isinstance(error, OutcomeUnknownError):
        return f"unknown {error.failure.code} {error.id} | {error}"
    assert isinstance(error, NotAppliedError), error
    value = "-" if error.failure.value is None else error.failure.value
    return f"{'rejected' if error.rejected else 'not-applied'} {error.failure.code} {value} | {error}"


def text(added: Added) -> str:
    value = "-" if added.value is None else added.value
    return f"applied {added.added} {value} {str(added.replayed).lower()}"


def shown(call: Callable[[], object], done: str = "") -> None:
    try:
        result = call()
        print(done or result)
    except ValueError:
        print("invalid")
    except (NotAppliedError, OutcomeUnknownError) as e:
        print(line(e))


def many(calls: int, concurrent: int) -> str:
    """Many concurrent adds of 1, of which every tenth call is a batch of ten."""

    def add(number: int) -> List[Added]:
        if number % 10 > 0:
            return [client.add(name, 1)]
        results = client.add_all([Add(name, 1)] * 10)
        return [each for each in results if isinstance(each, Added)]

    with ThreadPoolExecutor(concurrent) as executor:
        applied = [each for results in executor.map(add, range(calls)) for each in results]
    return f"applied {len(applied)}, replayed {str(any(each.replayed for each in applied)).lower()}"


def tour() -> None:
    """Each call, with the largest numbers, and names and ids of all kinds."""
    largest = 2**63 - 1
    id = 'order "ñ\\€" 🙂/1'
    shown(lambda: str(client.read(name)).replace("None", "undefined"))
    shown(lambda: text(client.add(name, largest, id=id)))
    shown(lambda: text(client.add(name, largest, id=id)))
    shown(lambda: text(client.add(name, 5, id=id)))
    shown(lambda: text(client.add(name, 1)))
    shown(lambda: text(client.add(name, -2, floor=largest - 1)))
    shown(lambda: client.outcome(name, id).outcome + f" {client.outcome(name, id).added}")
    shown(lambda: client.outcome(name, "other").outcome)
    shown(lambda: client.cancel(name, "other").outcome)
    shown(lambda: text(client.add(name, -1, id="other")))
    shown(lambda: client.set(name, -(2**63)), "set")
    shown(lambda: client.set(name, 7, if_value=6), "set")
    readings = client.read_all(["none", name])
    print(", ".join(f"{each.low} {each.value} {each.high}" if each else "none" for each in readings))
    shown(lambda: client.delete(name), "deleted")
    shown(lambda: str(client.read(name)).replace("None", "undefined"))
    adds = [Add(name, 2, ceiling=3, id="b1"), Add(name, 2, ceiling=3), Add(name, 0), Add(name, 2, ceiling=3, id="b1")]
    for each in client.add_all(adds):
        print(text(each) if isinstance(each, Added) else line(each).split(" |")[0])
    shown(lambda: client.add(name, 2**53 + 0.0))  # type: ignore[arg-type]
    shown(lambda: client.add(name, 2**63))
    shown(lambda: client.add(name, 1, id="a\nb"))
    shown(lambda: client.add("\ud800", 1))


if mode == "many":
    print(many(int(more[0]), int(more[1])))
elif mode == "add":
    shown(lambda: text(client.add(name, int(more[0]), floor=0, id=more[1])))
elif mode == "set":
    shown(lambda: client.set(name, int(more[0])), "set")
elif mode == "read":
    shown(lambda: getattr(client.read(name), "value", "undefined"))
else:
    tour()
