#!/usr/bin/env python3
"""Placements by Scotch and by weir, side by side.

Random patterns of mean degree 2 to 8 and tori of 64 to 256 ranks on trees of three and four levels. Scotch maps with `gmap -b0` (without it two ranks may get
one device) on a `tleaf` target, whose distances are proportional to level + 1, once for each of several seeds (the variable
random seed `-Cr`, and renumbered ranks, since many builds fix the seed); weir runs the example `place`. Both objectives are
recomputed here from the maps: the sum of weight x (level + 1) over the edges. Every map must be one to one.

    apt-get install scotch
    cargo build --release -p weir-optimize --example place
    python3 optimize/benches/placement/scotch.py target/release/examples/place

Times are medians: of the mapping alone as each program reports it (processor time for Scotch, wall time for weir), processor
time and wall time of the whole process. weir's number of threads is that of RAYON_NUM_THREADS.
"""

import argparse
import math
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# (children per level from the root down, edges per rank): 64, 128 and 256 devices.
CASES = [
    ([4, 4, 4], 1),
    ([4, 8, 4], 1),
    ([8, 8, 4], 1),
    ([4, 2, 2, 4], 2),
    ([4, 2, 2, 4], 3),
    ([2, 2, 4, 4], 4),
    ([4, 4, 4, 4], 2),
    ([4, 4, 4, 4], 3),
    ([4, 4, 4, 4], 4),
]

# (children per level, columns of the torus)
TORI = [
    ([4, 4, 9], 12),
    ([9, 4, 4], 12),
    ([2, 2, 9, 4], 12),
    ([4, 4, 4, 4], 16),
]


def pattern(ranks, edges, most, seed):
    """Random distinct edges {u, v} with weights 1 to most."""
    rng = random.Random(seed)
    weights = {}
    while len(weights) < edges:
        u, v = rng.randrange(ranks), rng.randrange(ranks)
        if u != v:
            weights.setdefault((min(u, v), max(u, v)), rng.randint(1, most))
    return weights


def torus(ranks, columns):
    """Edges of weight 1 to the right and down, with wraparound."""
    weights = {}
    for rank in range(ranks):
        row, column = divmod(rank, columns)
        for other in (row * columns + (column + 1) % columns, (rank + columns) % ranks):
            weights[min(rank, other), max(rank, other)] = 1
    return weights


def graph_text(ranks, weights):
    """Scotch's graph format with edge weights."""
    rows = [[] for _ in range(ranks)]
    for (u, v), weight in weights.items():
        rows[u].append(f"{weight} {v}")
        rows[v].append(f"{weight} {u}")
    lines = [f"{len(row)} {' '.join(row)}" for row in rows]
    return f"0\n{ranks} {2 * len(weights)}\n0 010\n" + "\n".join(lines) + "\n"


def objective(weights, placement, sizes):
    def levels(a, b):
        count = 0
        for size in reversed(sizes):
            count += 1
            a, b = a // size, b // size
            if a == b:
                return count
        return count

    return sum(weight * levels(placement[u], placement[v]) for (u, v), weight in weights.items())


def read_map(path, ranks, header):
    lines = Path(path).read_text().splitlines()[header:]
    placement = dict(map(int, line.split()) for line in lines)
    if sorted(placement) != list(range(ranks)) or len(set(placement.values())) != ranks:
        sys.exit(f"{path}: not one device for each rank")
    return placement


def run(command):
    """Output, processor seconds, wall seconds."""
    def processor():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    used, begin = processor(), time.perf_counter()
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return output, processor() - used, time.perf_counter() - begin


def scotch(gmap, folder, ranks, weights, sizes, seeds, rng):
    """Objectives, mapping seconds, processor seconds, wall seconds over the seeds."""
    results = []
    target = folder / "target"
    target.write_text(f"tleaf {len(sizes)} " + " ".join(f"{size} 1" for size in sizes) + "\n")
    for seed in range(seeds):
        names = list(range(ranks))
        if seed > 0:
            rng.shuffle(names)
        renamed = {(min(names[u], names[v]), max(names[u], names[v])): w for (u, v), w in weights.items()}
        graph, found = folder / "scotch.grf", folder / "scotch.map"
        graph.write_text(graph_text(ranks, renamed))
        output, used, wall = run([gmap, graph, target, found, "-b0", "-Cr", "-vt"])
        mapping = float(output.split("Mapping")[1].split()[0])
        results.append((objective(renamed, read_map(found, ranks, 1), sizes), mapping, used, wall))
    return results


def weir(place, folder, ranks, weights, sizes, effort, repeats):
    graph, found = folder / "weir.grf", folder / "weir.map"
    graph.write_text(graph_text(ranks, weights))
    results = []
    for _ in range(repeats):
        output, used, wall = run([place, graph, "x".join(map(str, sizes)), *effort, found])
        value, _, search = map(float, output.split())
        results.append((objective(weights, read_map(found, ranks, 0), sizes), search, used, wall))
        if results[-1][0] != value or results[-1][0] != results[0][0]:
            sys.exit("weir's objective differs from that of its map, or from run to run")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("place", help="the example `place`, built with --release")
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=11, help="of gmap, per instance")
    parser.add_argument("--effort", nargs=3, default=[], metavar=("STARTS", "ATTEMPTS", "KICKS"))
    arguments = parser.parse_args()
    gmap = shutil.which("scotch_gmap") or shutil.which("gmap")
    if gmap is None:
        sys.exit("gmap is missing: apt-get install scotch")
    print("tree      edges  ours/median (worst)  ours/best  worse than median  "
          "ms gmap, ours: mapping  processor  wall")
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = [(sizes, [pattern(math.prod(sizes), math.prod(sizes) * per_rank, 10, seed)
                          for seed in range(arguments.instances)]) for sizes, per_rank in CASES]
        cases += [(sizes, [torus(math.prod(sizes), columns)]) for sizes, columns in TORI]
        for sizes, patterns in cases:
            ranks = math.prod(sizes)
            to_median, to_best, times = [], [], []
            for weights in patterns:
                theirs = scotch(gmap, folder, ranks, weights, sizes, arguments.seeds, rng)
                ours = weir(arguments.place, folder, ranks, weights, sizes, arguments.effort, 5)
                to_median.append(ours[0][0] / statistics.median(r[0] for r in theirs))
                to_best.append(ours[0][0] / min(r[0] for r in theirs))
                times.append([statistics.median(r[i] for r in all_) for i in (1, 2, 3) for all_ in (theirs, ours)])
            ms = [1e3 * statistics.median(t[i] for t in times) for i in range(6)]
            print(f"{'x'.join(map(str, sizes)):9} {len(patterns[0]):5}  {statistics.mean(to_median):.4f} "
                  f"({max(to_median):.4f})      {statistics.mean(to_best):.4f}     "
                  f"{sum(r > 1 for r in to_median):3} of {len(patterns):3}         "
                  f"{ms[0]:6.2f} {ms[1]:6.2f}  {ms[2]:6.2f} {ms[3]:6.2f}  {ms[4]:6.2f} {ms[5]:6.2f}", flush=True)


if __name__ == "__main__":
    main()
