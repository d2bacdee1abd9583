"""Small communication graphs: every set of a few copies between devices, up to the names of the devices.

A graph is a set of arrows between numbered devices without loops and without two arrows from one device to the same other.
Two graphs are the same if other numbers make one of the other. There are 1, 5, 17, 80 and 365 with 1 to 5 arrows
(as Burnside's lemma counts them).
"""

import itertools
import random


def canonical(arrows):
    """The same arrows with the numbers that make them come first, so that equal graphs become equal tuples."""
    nodes = sorted({node for arrow in arrows for node in arrow})
    colours = dict.fromkeys(nodes, 0)
    # Devices differ by the colours of those they send to and receive from, again and again.
    for _ in nodes:
        seen = {
            node: (
                colours[node],
                tuple(sorted(colours[b] for a, b in arrows if a == node)),
                tuple(sorted(colours[a] for a, b in arrows if b == node)),
            )
            for node in nodes
        }
        ranks = {colour: rank for rank, colour in enumerate(sorted(set(seen.values())))}
        colours = {node: ranks[seen[node]] for node in nodes}
    classes = [[n for n in nodes if colours[n] == colour] for colour in sorted(set(colours.values()))]
    best = None
    for orders in itertools.product(*(itertools.permutations(members) for members in classes)):
        number = {node: at for at, node in enumerate(itertools.chain(*orders))}
        renamed = tuple(sorted((number[a], number[b]) for a, b in arrows))
        if best is None or renamed < best:
            best = renamed
    return best


def graphs(arrows, devices):
    """All graphs with so many arrows on at most so many devices, in a fixed order."""
    level = {((0, 1),)} if devices >= 2 else set()
    for _ in range(arrows - 1):
        larger = set()
        for graph in level:
            used = 1 + max(node for arrow in graph for node in arrow)
            # At most two devices are new with an arrow.
            for a, b in itertools.permutations(range(min(used + 2, devices)), 2):
                if (a, b) not in graph:
                    larger.add(canonical(graph + ((a, b),)))
        level = larger
    return sorted(level)


def placed(graph, gpus, chooser):
    """A graph on devices that are drawn for its numbers."""
    count = 1 + max(node for arrow in graph for node in arrow)
    drawn = chooser.sample(gpus, count)
    return [(drawn[a], drawn[b]) for a, b in graph]


def sets(gpus, arrows, placements, most, seed):
    """Sets of copies to run at once: graphs with 2 to `arrows` arrows, each on `placements` drawings of GPUs."""
    chooser = random.Random(seed)
    every = [graph for count in range(2, arrows + 1) for graph in graphs(count, len(gpus))]
    found = []
    for graph in every:
        for _ in range(placements):
            flows = sorted(placed(graph, gpus, chooser))
            if flows not in found:
                found.append(flows)
    return found if most is None or most >= len(found) else sorted(chooser.sample(found, most))
