"""Calls of quipu.py for tests: ``python3 calls.py URL TOKEN DEADLINE_MILLIS MODE …``; TOKEN may be ``-``."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Callable, List, Optional

from quipu import Add, Added, Hold, NotAppliedError, OutcomeUnknownError, Quipu

url, token, deadline, mode, name = sys.argv[1:6]
more = sys.argv[6:]
client = Quipu(url, None if token == "-" else token, deadline=int(deadline) / 1_000)


def line(error: Exception) -> str:
    """The outcome in one line."""
    if isinstance(error, OutcomeUnknownError):
        return f"unknown {error.failure.code} {error.id} | {error}"
    assert isinstance(error, NotAppliedError), error
    failure = error.failure
    value = "-" if failure.value is None else failure.value
    why = f" {failure.counter}" if failure.counter else ""
    ended = f" {failure.hold.state}" if failure.hold else ""
    return f"{'rejected' if error.rejected else 'not-applied'} {failure.code} {value}{why}{ended} | {error}"


def text(added: Added) -> str:
    value = "-" if added.value is None else added.value
    return f"applied {added.added} {value} {str(added.replayed).lower()}"


def texts(adds: List[Added]) -> str:
    return ", ".join(f"{each.name} {text(each)}" for each in adds)


def state(hold: Optional[Hold]) -> str:
    if hold is None:
        return "none"
    parts = [f"{each.delta} {'-' if each.settled is None else each.settled}" for each in hold.counters]
    return f"{hold.state} {', '.join(parts)} {str(hold.replayed).lower()}"


def shown(call: Callable[[], object], done: str = "") -> None:
    try:
        result = call()
        print(done or result)
    except (ValueError, TypeError):
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


def decimals() -> None:
    """Calls on a counter of scale 2."""
    cents, integers = name, name + "i"
    shown(lambda: client.set_scale(cents, 2), "set")
    shown(lambda: text(client.add(cents, "20.5", id="a")))
    shown(lambda: text(client.add(cents, Decimal("20.50"), id="a")))
    shown(lambda: text(client.add(cents, "20.51", id="a")))
    shown(lambda: client.set_scale(cents, 3), "set")
    shown(lambda: text(client.add(cents, Decimal("-0.25"))))
    shown(lambda: text(client.add(cents, 1)))
    shown(lambda: text(client.add(cents, "-22", floor=0)))
    shown(lambda: text(client.add(cents, "0.001")))
    for each in client.add_all([Add(cents, "0.75"), Add(integers, 3), Add(cents, -100, floor="0.5")]):
        print(text(each) if isinstance(each, Added) else line(each).split(" |")[0])
    readings = client.read_all([cents, integers])
    values = [each.value for each in readings if each]
    assert [type(value) for value in values] == [Decimal, int], values
    print(", ".join(f"{each.low} {each.value} {each.high}" for each in readings if each))
    shown(lambda: client.set(cents, "5.5", if_value=Decimal(22)), "set")
    shown(lambda: client.set(cents, 1, if_value="9.00"), "set")
    shown(lambda: f"{client.outcome(cents, 'a').outcome} {client.outcome(cents, 'a').added}")
    for inexact in (0.5, "1,5", "1e3", "9.2233720368547758080", Decimal("NaN")):
        shown(lambda: text(client.add(cents, inexact)))  # type: ignore[arg-type]
    try:
        client.add(cents, 0.5)  # type: ignore[arg-type]
    except TypeError as e:
        assert "decimal.Decimal" in str(e), e


def holds() -> None:
    """Each call on holds and transactions; one counter has the scale 2."""
    other = name + "i"
    shown(lambda: client.set_scale(name, 2), "set")
    shown(lambda: client.set(name, 10), "set")
    shown(lambda: client.set(other, 5), "set")
    shown(lambda: state(client.hold(name, "-3.5", 600, floor=0, id='h 1/"é')))
    shown(lambda: state(client.hold(name, "-3.5", 600, floor=0, id='h 1/"é')))
    shown(lambda: state(client.hold(name, -4, 600, floor=0, id='h 1/"é')))
    shown(lambda: state(client.hold(name, -7, 600, floor=0)))
    shown(lambda: state(client.extend('h 1/"é', 1_200)))
    shown(lambda: state(client.get_hold('h 1/"é')))
    shown(lambda: state(client.get_hold("none")))
    shown(lambda: "; ".join(state(each) for each in client.holds(name)))
    shown(lambda: state(client.settle('h 1/"é', "-3.51")))
    shown(lambda: state(client.settle('h 1/"é', "-1.25")))
    shown(lambda: state(client.settle('h 1/"é', "-1.25")))
    shown(lambda: state(client.settle('h 1/"é', -1)))
    shown(lambda: state(client.release('h 1/"é')))
    shown(lambda: state(client.release("none")))
    shown(lambda: state(client.hold_all([Add(name, -1), Add(other, -2, floor=0)], 600, id="h2", excess=True)))
    shown(lambda: state(client.settle("h2", {name: 0, other: -3})))
    shown(lambda: state(client.hold(name, -1, 600, id="h3", late=True)))
    shown(lambda: state(client.release("h3")))
    shown(lambda: state(client.release("h3")))
    shown(lambda: texts(client.transaction([Add(name, "-0.75", floor=0), Add(other, 3)], id="t1")))
    shown(lambda: texts(client.transaction([Add(name, "-0.75", floor=0), Add(other, 3)], id="t1")))
    shown(lambda: texts(client.transaction([Add(other, 1), Add(name, -9, floor=0)])))
    shown(lambda: f"{client.transaction_outcome('t1').outcome} {texts(client.transaction_outcome('t1').adds)}")
    shown(lambda: f"{client.transaction_outcome('h2').outcome} {state(client.transaction_outcome('h2').hold)}")
    shown(lambda: client.transaction_outcome("t2").outcome)
    shown(lambda: client.cancel_transaction("t2").outcome)
    shown(lambda: texts(client.transaction([Add(name, 1)], id="t2")))
    shown(lambda: state(client.hold(name, -1, 0.5)))
    shown(lambda: state(client.hold(name, 0.5, 600)))  # type: ignore[arg-type]
    shown(lambda: texts(client.transaction([Add(name, 1, id="t3")])))


def cycles(calls: int, concurrent: int) -> str:
    """Concurrent transactions, and holds of 0.02, of which half keep 0.01."""

    def cycle(number: int) -> None:
        if number % 3 == 2:
            client.transaction([Add(name, "-0.01"), Add(name + "i", 1)])
            return
        hold = client.hold(name, "-0.02", 600)
        client.extend(hold.id, 300)
        client.settle(hold.id, Decimal("-0.01")) if number % 3 == 0 else client.release(hold.id)

    with ThreadPoolExecutor(concurrent) as executor:
        return f"done {len(list(executor.map(cycle, range(calls))))}"


if mode == "many":
    print(many(int(more[0]), int(more[1])))
elif mode == "add":
    shown(lambda: text(client.add(name, int(more[0]), floor=0, id=more[1])))
elif mode == "set":
    shown(lambda: client.set(name, int(more[0])), "set")
elif mode == "read":
    shown(lambda: getattr(client.read(name), "value", "undefined"))
elif mode == "decimals":
    decimals()
elif mode == "holds":
    holds()
elif mode == "cycles":
    client.set_scale(name, 2)
    print(cycles(int(more[0]), int(more[1])))
elif mode == "openings":
    with ThreadPoolExecutor(int(more[1])) as pool:
        list(pool.map(lambda _: client.hold(name, 1, 600), range(int(more[0]))))
    print(len({each.id for each in client.holds(name)}))
elif mode == "open":
    print(len(list(client.holds(name))))
elif mode == "hold":
    shown(lambda: state(client.hold(name, more[0], 600, floor=0, id=more[1])))
elif mode == "settle":
    shown(lambda: state(client.settle(name, more[0])))
else:
    tour()
