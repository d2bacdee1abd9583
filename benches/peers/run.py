#!/usr/bin/env python3
"""Runs the same loads on weir and on SimGrid, compares the end times and prints one table of CPU times.

Usage: run.py [--weir PATH] [--runs N] [--only NAME,NAME] [--large] [--require] [--work DIR] [--memory]

The time of weir is that of `weir run`, report included, less that of `weir check` (user + system, from the operating
system's account of the child), since SimGrid's program reads a bare text and reports the time of its event loop alone.
All programs take turns, N times; the medians are compared. The end times of every transfer, from one more run with
`--json`, must agree to 1e-9 of the end or to 20 ps + 1 ps per event so far; else the script ends with status 1.
"""
import argparse
import bisect
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import to_weir

HERE = pathlib.Path(__file__).resolve().parent
GIB = 2**30

# name: (arguments of gen.py, how many times faster than SimGrid's better mode weir has to be)
LOADS = {
    "po 8": ("2,2,2 2 poisson 10000 7 0.98", 1.5),
    "po 64": ("4,4,4 2 poisson 10000 7 0.95", 1.5),
    "po 1024": ("4,4,8,8 2 poisson 10000 7 0.9", 1.0),
    "po 4096": ("8,8,8,8 2 poisson 10000 7 0.8", 1.0),
    "lo 1024": ("4,4,8,8 2 poisson 10000 7 1.5 1.0", 15.0),
    "lo 4096": ("8,8,8,8 2 poisson 10000 7 0.5 1.0", 15.0),
    "t0 8 x 1k": ("2,2,2 2 t0 1000 7", 1.0),
    "t0 8 x 3k": ("2,2,2 2 t0 3000 7", 5.0),
    "t0 64 x 1k": ("4,4,4 2 t0 1000 7", 1.0),
    "t0 1024 x 1k": ("4,4,8,8 2 t0 1000 7", 1.0),
    "t0 1024 x 3k": ("4,4,8,8 2 t0 3000 7", 1.0),
    "t0 4096 x 1k": ("8,8,8,8 2 t0 1000 7", 1.0),
    "po 64 x 1k": ("4,4,4 2 poisson 1000 7 0.95", 1.0),
    "po 1024 x 1k": ("4,4,8,8 2 poisson 1000 7 0.9", 1.0),
    "po 4096 x 1k": ("8,8,8,8 2 poisson 1000 7 0.8", 1.0),
}
# Minutes of SimGrid each.
LARGE = {
    "t0 8 x 10k": ("2,2,2 2 t0 10000 7", 1.0),
    "t0 1024 x 10k": ("4,4,8,8 2 t0 10000 7", 1.0),
    "po 64 x 100k": ("4,4,4 2 poisson 100000 7 0.95", 1.0),
    "po 1024 x 100k": ("4,4,8,8 2 poisson 100000 7 0.9", 1.0),
    "po 4096 x 100k": ("8,8,8,8 2 poisson 100000 7 0.8", 1.0),
    "lo 4096 x 100k": ("8,8,8,8 2 poisson 100000 7 0.5 1.0", 1.0),
}
# All stay below their leaf switch, so that the test measures memory and not the time to re-solve.
MEMORY = ("16,16,16,16 2 poisson 1000000 7 0.5 1.0", 4 * GIB)


def child(command, stdout, limit_s):
    """CPU seconds and peak memory of one command. Ends the script if it fails; (None, 0) past `limit_s` of CPU time."""
    limit = ["prlimit", f"--cpu={limit_s}"]
    process = subprocess.Popen(limit + [str(c) for c in command], stdout=stdout)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode < 0:
        return None, 0
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def build(work):
    """Compiles SimGrid's program into the folder; returns its path."""
    program = (work / "simgrid_flows").resolve()
    command = ["g++", "-O2", "-std=c++17", HERE / "simgrid_flows.cpp", "-lsimgrid", "-o", program]
    if subprocess.run(command).returncode != 0:
        sys.exit("simgrid_flows.cpp cannot be compiled: install g++ and SimGrid (Debian: libsimgrid-dev)")
    return program


def simgrid(program, load, mode, ends, limit_s, flags=()):
    """CPU seconds of SimGrid's event loop, as its program reports them; None past the limit."""
    with open(ends + ".out", "w+") as out:
        cpu, _ = child([program, load, f"--cfg=network/optim:{mode}", *flags, "-o", ends], out, limit_s)
        out.seek(0)
        return None if cpu is None else float(re.search(r" cpu=([0-9.]+)", out.read())[1])


def weir(program, arguments, out_path, limit_s):
    """CPU seconds of one command of weir; its output goes to a file."""
    with open(out_path, "w") as out:
        cpu, _ = child([program, *arguments], out, limit_s)
    if cpu is None:
        sys.exit(f"weir {' '.join(arguments)}: more than {limit_s} s of CPU time")
    return cpu


def disagreements(result_path, ends_path):
    """How many transfers end at another time, and the largest difference in picoseconds."""
    with open(result_path) as f:
        transfers = json.loads(f.readline())["transfers"]
    ours = {t["id"]: t["end_ps"] for t in transfers}
    with open(ends_path) as f:
        theirs = [float(line) * 1e12 for line in f]
    if len(ours) != len(theirs):
        sys.exit(f"{result_path}: {len(ours)} transfers, SimGrid has {len(theirs)}")
    instants = sorted([t["start_s"] * 1e12 for t in transfers] + list(ours.values()))
    bad, worst = 0, 0.0
    for k, end in enumerate(theirs):
        mine = ours[f"t{k}"]
        difference = abs(mine - end)
        worst = max(worst, difference)
        events = bisect.bisect_right(instants, mine)
        bad += difference > max(1e-9 * end, 20 + events)
    return bad, worst


def measure(args, name, recipe, target):
    """One load: generates it, runs everything in turns, compares, returns the row of the table."""
    stem = str(args.work / name.replace(" ", "_"))
    subprocess.run([sys.executable, HERE / "gen.py", stem, *recipe.split()], check=True)
    scenario = to_weir.convert(stem, stem)
    times = {"check": [], "run": [], "Lazy": [], "Full": []}
    for _ in range(args.runs):
        for mode in ("Lazy", "Full"):
            if None not in times[mode]:
                times[mode].append(simgrid(args.simgrid, stem, mode, f"{stem}.{mode}", args.limit))
        for verb in ("check", "run"):
            times[verb].append(weir(args.weir, [verb, scenario], f"{stem}.{verb}", args.limit))
    weir(args.weir, ["run", scenario, "--json"], f"{stem}.json", args.limit)
    finished = [m for m in ("Lazy", "Full") if None not in times[m]]
    bad, worst = disagreements(f"{stem}.json", f"{stem}.{finished[-1]}") if finished else (0, float("nan"))
    median = {k: None if None in v else statistics.median(v) for k, v in times.items()}
    own = median["run"] - median["check"]
    best = min((median[m] for m in finished), default=args.limit)
    return {"name": name, "own": own, **median, "ratio": best / max(own, 1e-4), "target": target, "bad": bad, "worst": worst}


def print_row(args, row):
    """One line of the table."""

    def seconds(x):
        return f"> {args.limit}" if x is None else f"{x:.3f}"

    met = "yes" if row["ratio"] >= row["target"] else "**no**"
    print(
        f"| {row['name']} | {seconds(row['Lazy'])} | {seconds(row['Full'])} | {seconds(row['check'])} | {seconds(row['own'])} "
        f"| {row['ratio']:.1f} | {row['target']:g} | {met} | {row['worst']:.0f} ps{', %d DIFFER' % row['bad'] if row['bad'] else ''} |",
        flush=True,
    )


def memory(args):
    """Peak memory of a million transfers between 65,536 hosts; status 1 above the limit."""
    recipe, limit = MEMORY
    stem = str(args.work / "memory")
    subprocess.run([sys.executable, HERE / "gen.py", stem, *recipe.split()], check=True)
    scenario = to_weir.convert(stem, stem)
    with open(os.devnull, "w") as out:
        cpu, peak = child([args.weir, "run", scenario, "--json"], out, 3600)
    print(f"10^6 transfers, 65,536 hosts: {peak / GIB:.2f} GiB (limit {limit / GIB:g}), {cpu or 3600:.1f} s of CPU time")
    return int(cpu is None or peak > limit)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", type=pathlib.Path, default=HERE.parent.parent / "target/release/weir")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="comma-separated names of loads")
    parser.add_argument("--large", action="store_true", help="also the loads that take SimGrid minutes")
    parser.add_argument("--require", action="store_true", help="status 1 when a target is missed")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("target/peers"), help="folder for workloads and results")
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds after which a program is given up")
    parser.add_argument("--memory", action="store_true", help="only the memory test: no SimGrid")
    return parser.parse_args()


def main():
    """Builds the peer, measures every load, prints the table."""
    args = arguments()
    args.work.mkdir(parents=True, exist_ok=True)
    if not args.weir.exists():
        sys.exit(f"{args.weir}: build it with `cargo build --release --bin weir`, or name it with --weir")
    if args.memory:
        sys.exit(memory(args))
    args.simgrid = build(args.work)
    loads = LOADS | (LARGE if args.large else {})
    chosen = args.only.split(",") if args.only else list(loads)
    if unknown := [c for c in chosen if c not in loads]:
        sys.exit(f"no load named {unknown[0]!r}; there are: {', '.join(loads)}")
    print("| load | SimGrid Lazy, s | SimGrid Full, s | weir check, s | weir run − check, s | times faster | target | met | largest difference |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    failed = False
    for name in chosen:
        row = measure(args, name, *loads[name])
        print_row(args, row)
        failed |= row["bad"] > 0 or (args.require and row["ratio"] < row["target"])
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
