#!/usr/bin/env python3
"""Draws docs/scaling.svg from the CSV of `cargo bench -p weir-sim-core --bench peers -- --large`. Needs matplotlib.

Usage: plot.py [target/peers/peers.csv [docs/scaling.svg]]
Left: time per transfer against the number of transfers that start at once. Right: against the number of hosts, 10^4
transfers arriving over time. Both axes of both are logarithmic; SimGrid's better mode and the phase-by-phase way beside.
"""
import csv
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

matplotlib.rcParams["svg.hashsalt"] = "weir"
WAYS = [("simgrid_s", "SimGrid", "s", "--"), ("phase_by_phase_s", "phase by phase", "^", ":"), ("weir_s", "weir", "o", "-")]
COLOURS = {"t0 8": "#0072b2", "t0 1024": "#d55e00", "po": "#0072b2", "lo": "#d55e00"}


def points(rows, key, way):
    """(x, microseconds per transfer) of the rows that have the figure, by x."""
    return sorted((int(r[key]), float(r[way]) / int(r["transfers"]) * 1e6) for r in rows if r[way])


def draw(axes, rows, key, groups):
    """One line per group and way."""
    for name in groups:
        chosen = [r for r in rows if r["load"].startswith(name + " ")]
        for way, label, marker, line in WAYS:
            if found := points(chosen, key, way):
                x, y = zip(*found)
                axes.plot(x, y, marker=marker, linestyle=line, color=COLOURS[name], label=f"{name}, {label}", markersize=4)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylabel("CPU time per transfer, µs")
    axes.grid(True, which="major", linewidth=0.4)
    axes.legend(fontsize=7)


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else "target/peers/peers.csv"
    target = sys.argv[2] if len(sys.argv) > 2 else "docs/scaling.svg"
    with open(source) as f:
        rows = list(csv.DictReader(f))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    draw(left, rows, "transfers", ["t0 8", "t0 1024"])
    left.set(title="all at once, on 8 and on 1,024 hosts", xlabel="transfers")
    draw(right, rows, "hosts", ["po", "lo"])
    right.set(title="10,000 transfers arriving over time", xlabel="hosts")
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main()
