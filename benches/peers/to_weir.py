#!/usr/bin/env python3
"""Turns a workload of gen.py into a weir scenario: OUT.yaml (tree and arbiter) and OUT.csv (the transfers).

Usage: to_weir.py WORKLOAD OUT
Node i of the workload becomes `n<i>`: a `host` where it has no children (hosts send without limit), else a `network`
switch. Both directions of a link keep their own bandwidth. Transfer k has the id `t<k>`.
"""
import sys


def read(path):
    """Parents, (up, down) bandwidths as text, and the rows of transfers as text."""
    with open(path) as f:
        nodes, flows = map(int, f.readline().split())
        parent, links = [-1], [None]
        for _ in range(nodes - 1):
            p, up, down = f.readline().split()
            parent.append(int(p))
            links.append((up, down))
        rows = [f.readline().split() for _ in range(flows)]
    return parent, links, rows


def tree_lines(parent, links):
    """The tree as nested YAML, depth first, in the order of the node numbers."""
    children = [[] for _ in parent]
    for i, p in enumerate(parent):
        if p >= 0:
            children[p].append(i)
    stack = [(0, 1)]
    while stack:
        i, depth = stack.pop()
        pad = " " * (2 * depth)
        kind = "network" if children[i] else "host"
        link = f", link: {{ up: {links[i][0]}B/s, down: {links[i][1]}B/s }}" if links[i] else ""
        if not children[i]:
            yield f"{pad}n{i}: {{ kind: {kind}{link} }}"
            continue
        yield f"{pad}n{i}:"
        yield f"{pad}  kind: {kind}"
        if link:
            yield f"{pad}  {link[2:]}"
        yield f"{pad}  children:"
        stack.extend((c, depth + 2) for c in reversed(children[i]))


def convert(workload, out):
    """Writes OUT.yaml and OUT.csv; returns the scenario's path."""
    parent, links, rows = read(workload)
    name = out.rsplit("/", 1)[-1]
    with open(out + ".csv", "w") as f:
        f.write("id,from,to,bytes,start_s\n")
        for k, (src, dst, size, start) in enumerate(rows):
            f.write(f"t{k},n{src},n{dst},{size},{start}\n")
    with open(out + ".yaml", "w") as f:
        f.write(f"# How fast is this load simulated? Written by to_weir.py from {name}.\n")
        f.write(f"weir: 1\nname: {name}\narbiter: max-min\ntopology:\n  tree:\n")
        f.writelines("  " + line + "\n" for line in tree_lines(parent, links))
        f.write(f"workload:\n  - trace: {{ file: {name}.csv }}\n")
    return out + ".yaml"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(convert(sys.argv[1], sys.argv[2]))
