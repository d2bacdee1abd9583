"""What Python adds, measured beside what it adds to: `python python/benches/overhead.py`, with a release build.

The Rust call is the command: of the time for many files, without its start. Each figure is the least of several rounds, which
take turns, so that a busy machine touches both sides alike; processor time is told where several threads run.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import weir

ROOT = Path(__file__).resolve().parents[2]
FOUR = ROOT / "scenarios" / "pcie" / "four-transfers.yaml"
COMMAND = shutil.which("weir", path=sysconfig.get_path("scripts")) or "weir"


class Cost(NamedTuple):
    """Seconds on the clock, and of all processors."""

    wall: float
    cpu: float


def cost(call: Callable[[], Any]) -> Cost:
    def spent() -> float:
        all_usage = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in all_usage)

    before, begin = spent(), time.perf_counter()
    call()
    return Cost(time.perf_counter() - begin, spent() - before)


def least(costs: list[Cost]) -> Cost:
    return Cost(min(each.wall for each in costs), min(each.cpu for each in costs))


def in_turns(rounds: int, *calls: Callable[[], Any]) -> list[Cost]:
    """The least cost of each call, of so many rounds."""
    all_costs: list[list[Cost]] = [[] for _ in calls]
    for _ in range(rounds):
        for costs, call in zip(all_costs, calls):
            costs.append(cost(call))
    return [least(costs) for costs in all_costs]


def command(*arguments: str) -> Callable[[], Any]:
    return lambda: subprocess.run([COMMAND, *arguments], check=True, capture_output=True)


def small_runs(count: int = 500) -> None:
    calls: list[float] = []

    def own() -> None:
        for _ in range(count):
            begin = time.perf_counter()
            weir.run(FOUR)
            calls.append(time.perf_counter() - begin)

    plain = ("run", "--no-plugins", "--json")
    run, many, one = in_turns(7, own, command(*plain, *[str(FOUR)] * (count + 1)), command(*plain, str(FOUR)))
    rust, cpu = (many.wall - one.wall) / count, (many.cpu - one.cpu) / count
    calls.sort()
    print(f"weir.run of four transfers: {1e6 * calls[0]:.0f} us, half of all calls {1e6 * calls[len(calls) // 2]:.0f} us")
    print(f"  in the command, with its JSON, {1e6 * rust:.0f} us; processors {1e6 * run.cpu / count:.0f} and {1e6 * cpu:.0f} us")
    print(f"  beyond it: {1e6 * (run.cpu / count - cpu):.0f} us of processors")


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
    # The columns are made when they are first asked for, and kept.
    made = cost(lambda: result.transfers)
    table = result.transfers
    (frame,) = in_turns(5, lambda: pandas.DataFrame.from_arrow(table))
    print(f"{len(table)} transfers: run {ran:.2f} s; columns {made.wall:.2f} s ({made.cpu:.2f} s of processors)")
    print(f"  from there to pandas {1e3 * frame.wall:.1f} ms")


def policies() -> None:
    sys.path.insert(0, str(ROOT / "python" / "tests"))
    import sample

    class Flat:
        def allocate(self, phase: weir.Phase) -> list[float]:
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
    kinds = ("equal-share", Flat, Columns, sample.EqualShare)
    base, *others = in_turns(7, *(lambda kind=kind: weir.run(scenario, arbiter=kind) for kind in kinds))
    for policy, took in zip(kinds[1:], others):
        print(f"{policy.__name__}: {1e3 * (took.wall - base.wall):.1f} us for each of 1000 calls with one transfer")


def sweeps() -> None:
    values = [f"{300 + at}MB" for at in range(100)]
    sizes = {f"workload[{item}].transfer.size": values for item in range(2)}
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        listed = ", ".join(f'"{path}": [{", ".join(values)}]' for path in sizes)
        edit = f"optimize={{ vary: parameters, parameters: {{ {listed} }} }}"
        own = command("optimize", "--no-plugins", "--json", "-o", f"{folder}/found", "--set", edit, str(FOUR))
        one, all_cores, theirs, start = in_turns(
            5, lambda: weir.sweep(FOUR, sizes, threads=1), lambda: weir.sweep(FOUR, sizes), own, command("--version")
        )
    print(f"10,000 points: one thread {one.wall:.2f} s, {cores} {all_cores.wall:.2f} s: {one.wall / all_cores.wall:.2f} times as fast")
    print(f"  processors: one thread {one.cpu:.2f} s, {cores} {all_cores.cpu:.2f} s")
    rest = Cost(theirs.wall - start.wall, theirs.cpu - start.cpu)
    print(f"  the command {rest.wall:.2f} s ({rest.cpu:.2f} s of processors): {all_cores.wall / rest.wall:.2f} times its time, {all_cores.cpu / rest.cpu:.2f} times its processors")


if __name__ == "__main__":
    small_runs()
    policies()
    sweeps()
    large_table()
