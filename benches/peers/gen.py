#!/usr/bin/env python3
"""Workload generator of the peer benchmark: a tree of links and the transfers over it, as plain text.

One text is read by simgrid_flows.cpp and turned into a weir scenario by to_weir.py, so that both simulate the same
load. Not part of weir itself; see README.md in this folder.

Usage: gen.py OUT FANOUTS OVERSUB MODE NFLOWS SEED [RHO [LOCAL]]
  FANOUTS  comma list from the root down, e.g. 4,4,8,8 -> 1024 hosts
  OVERSUB  uplink capacity of a switch = sum(child capacities)/OVERSUB
  MODE     t0 | poisson (RHO = utilisation of the busiest link under uniform traffic)
  LOCAL    fraction of flows whose destination is under the same leaf switch (default 0 = uniform)
Output: "nnodes nflows", then for node 1..nnodes-1 "parent up_Bps down_Bps",
then per flow "src dst bytes start_s" (integer bytes; start is printed with repr()).
"""
import random
import sys


def tree(fanouts, oversub, host_cap=1.25e9):
    parent, level = [-1], [0]
    frontier = [0]
    for d, k in enumerate(fanouts):
        nxt = []
        for p in frontier:
            for _ in range(k):
                parent.append(p)
                level.append(d + 1)
                nxt.append(len(parent) - 1)
        frontier = nxt
    depth = len(fanouts)
    cap_at = {depth: host_cap}
    for d in range(depth - 1, 0, -1):
        cap_at[d] = cap_at[d + 1] * fanouts[d] / oversub
    cap = [0.0] + [cap_at[level[i]] for i in range(1, len(parent))]
    return parent, cap, frontier


def max_util_per_Bps(parent, cap, hosts):
    """Busiest directed link's utilisation per (byte/s of uniform all-to-all traffic)"""
    n = len(hosts)
    below = [0] * len(parent)
    for h in hosts:
        v = h
        while v > 0:
            below[v] += 1
            v = parent[v]
    return max(below[v] * (n - below[v]) / (n * (n - 1)) / cap[v] for v in range(1, len(parent)))


def main():
    out, fan, os_, mode, n, seed = sys.argv[1:7]
    n, os_ = int(n), float(os_)
    rng = random.Random(int(seed))
    parent, cap, hosts = tree([int(x) for x in fan.split(",")], os_)
    mean = 10e6
    lam = float(sys.argv[7]) / max_util_per_Bps(parent, cap, hosts) / mean if mode == "poisson" else 0
    local = float(sys.argv[8]) if len(sys.argv) > 8 else 0.0
    k = int(fan.split(",")[-1])
    t = 0.0
    with open(out, "w") as f:
        f.write(f"{len(parent)} {n}\n")
        for i in range(1, len(parent)):
            f.write(f"{parent[i]} {cap[i]!r} {cap[i]!r}\n")
        for _ in range(n):
            s, d = rng.sample(hosts, 2)
            if local and rng.random() < local:
                i = (s - hosts[0]) // k * k  # hosts are numbered without gaps
                d = rng.choice([h for h in hosts[i : i + k] if h != s])
            size = int(rng.expovariate(1 / mean)) + 1000
            if mode == "poisson":
                t += rng.expovariate(lam)
            f.write(f"{s} {d} {size} {t!r}\n")


main()
