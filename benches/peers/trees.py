#!/usr/bin/env python3
"""Compares the end times of weir and SimGrid on random trees with random bandwidths, sizes and start times.

Usage: trees.py [--weir PATH] [--count N] [--seed S] [--work DIR]

Every link has another bandwidth in each direction; some transfers start together, some later, some repeat a pair. The
end times of every transfer must agree to 1e-9 of the end or to 20 ps + 1 ps per event so far; the first load that does
not is kept in the folder and named, and the script ends with status 1.
"""
import argparse
import pathlib
import random
import subprocess
import sys

import run
import to_weir

# By default SimGrid takes ends within 1 ns of each other for one, and solves to 1e-5: too coarse for this comparison.
PRECISE = ("--cfg=surf/precision:1e-12", "--cfg=maxmin/precision:1e-12")


def write(path, rng):
    """One random load in the text format of gen.py."""
    parent = [-1]
    for i in range(1, rng.randint(4, 60)):
        # Some trees are deep, some flat.
        parent.append(rng.randrange(max(0, i - rng.choice([2, 5, 60])), i))
    hosts = sorted(set(range(1, len(parent))) - set(parent))
    if len(hosts) < 2:
        return False
    links = [(rng.uniform(1e8, 2e10), rng.choice([1e9, 2.5e9, rng.uniform(1e8, 2e10)])) for _ in parent]
    flows = []
    for _ in range(rng.randint(1, 300)):
        src, dst = rng.sample(hosts, 2)
        start = rng.choice([0.0, 0.0, rng.uniform(0, 0.5), rng.randint(0, 20) / 100])
        flows.append((src, dst, rng.choice([10**6, rng.randint(1, 10**8)]), start))
    with open(path, "w") as f:
        f.write(f"{len(parent)} {len(flows)}\n")
        f.writelines(f"{parent[i]} {links[i][0]!r} {links[i][1]!r}\n" for i in range(1, len(parent)))
        f.writelines(f"{s} {d} {size} {start!r}\n" for s, d, size, start in flows)
    return True


def main():
    """Compares `count` loads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", type=pathlib.Path, default=run.HERE.parent.parent / "target/release/weir")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("target/peers"))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    simgrid = run.build(args.work)
    compared, worst = 0, 0.0
    for seed in range(args.seed, args.seed + args.count):
        stem = str(args.work / "tree")
        if not write(stem, random.Random(seed)):
            continue
        scenario = to_weir.convert(stem, stem)
        run.weir(args.weir, ["run", scenario, "--json"], stem + ".json", 60)
        run.simgrid(simgrid, stem, "Full", stem + ".Full", 60, PRECISE)
        bad, difference = run.disagreements(stem + ".json", stem + ".Full")
        if bad:
            sys.exit(f"seed {seed}: {bad} transfers end at another time, by up to {difference:.0f} ps; see {stem}.yaml")
        compared, worst = compared + 1, max(worst, difference)
    print(f"{compared} random trees: all end times agree, the largest difference is {worst:.0f} ps")
    sys.exit(int(compared == 0))


if __name__ == "__main__":
    main()
