"""What Python adds, measured in one run beside what it adds to: `python python/benches/overhead.py`, with a release build.

The Rust call is a point of a sweep on one thread: it reads and runs the scenario, too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import weir

FOUR = Path(__file__).resolve().parents[2] / "scenarios" / "pcie" / "four-transfers.yaml"


def seconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def median(call: Callable[[], Any], times: int) -> float:
    return statistics.median(seconds(call) for _ in range(times))


def small_runs() -> None:
    """Rounds in turns, so that a busy machine touches both alike."""
    sizes = {"workload[0].transfer.size": [f"{300 + at}MB" for at in range(200)]}
    own, rust = [], []
    for _ in range(10):
        own.append(median(lambda: weir.run(FOUR), 50))
        rust.append(seconds(lambda: weir.sweep(FOUR, sizes, threads=1)) / 200)
    added = statistics.median(a - b for a, b in zip(own, rust))
    print(f"weir.run of four transfers: {1e6 * min(own):.0f} us, of that beyond the Rust call {1e6 * added:.0f} us")


def large_table(count: int = 1_000_000) -> None:
    import pandas

    topology = {
        "link_types": {"l": {"bandwidth": "16GB/s"}},
        "tree": {"s": {"kind": "switch", "children": {"g[0-99]": {"kind": "gpu", "link": "l"}}}},
    }
    pattern = {"kind": "random", "id": "load", "count": count, "seed": 1, "size": "1MB", "within": "1s"}
    scenario = {"weir": 1, "topology": topology, "arbiter": "max-min", "workload": [{"pattern": pattern}]}
    begin = time.perf_counter()
    result = weir.run(scenario)
    ran = time.perf_counter() - begin
    table = result.transfers
    made = time.perf_counter() - begin - ran
    took = median(lambda: pandas.DataFrame.from_arrow(table), 5)
    print(f"{len(table)} transfers: run {ran:.2f} s, table {made:.2f} s, pandas {1e3 * took:.1f} ms")


def policies() -> None:
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    import sample

    calls = 0

    class Flat:
        def allocate(self, phase: weir.Phase) -> list[float]:
            nonlocal calls
            calls += 1
            return [1e6] * len(phase)

    class Columns(Flat):
        def allocate(self, phase: weir.Phase) -> list[float]:
            phase.id, phase.limit, phase.weight, phase.links, phase.offsets, phase.bandwidth
            return super().allocate(phase)

    items = [weir.transfer("gpu0", "gpu2", f"{1 + at}MB") for at in range(1000)]
    scenario = weir.Scenario(
        weir.Topology(
            [weir.switch("s", *(weir.gpu(f"gpu{i}", link="l") for i in range(4)))],
            [weir.link_type("l", bandwidth="16GB/s")],
        ),
        items,
    )
    base = median(lambda: weir.run(scenario, arbiter="equal-share"), 5)
    for policy in (Flat, Columns, sample.EqualShare):
        calls = 0
        took = median(lambda: weir.run(scenario, arbiter=policy), 5) - base
        print(f"{policy.__name__}: {1e6 * took / 1000:.1f} us for each of 1000 calls with one transfer")


def sweeps() -> None:
    values = [f"{300 + at}MB" for at in range(100)]
    sizes = {f"workload[{item}].transfer.size": values for item in range(2)}
    one, two = [], []
    for _ in range(3):
        one.append(seconds(lambda: weir.sweep(FOUR, sizes, threads=1)))
        two.append(seconds(lambda: weir.sweep(FOUR, sizes, threads=2)))
    print(f"10,000 points: one thread {min(one):.2f} s, two {min(two):.2f} s: {min(one) / min(two):.2f} times as fast")


if __name__ == "__main__":
    small_runs()
    policies()
    sweeps()
    large_table()
