"""What `mypy --strict` accepts of a program that uses the package; a test runs it, too."""

from pathlib import Path

import weir


class EqualShare:
    """Every transfer gets an equal part of each of its links, and the least of these."""

    pure = True

    def allocate(self, phase: weir.Phase) -> list[float]:
        users: dict[int, int] = {}
        for link in phase.links:
            users[link] = users.get(link, 0) + 1
        shares = [min(phase.bandwidth[k] / users[k] for k in phase.route(at)) for at in range(len(phase))]
        return [min(share, limit) for share, limit in zip(shares, phase.limit)]


def two_gpus(size: str) -> weir.Scenario:
    """Two GPUs below one switch, which send to the processor."""
    x16 = weir.link_type("x16", bandwidth="16GB/s")
    below = [weir.gpu(name, link="x16") for name in ("gpu0", "gpu1")]
    root = weir.root_complex(
        "rc", weir.cpu("cpu0", link="x16"), weir.switch("plx", *below, link="x16")
    )
    return weir.Scenario(
        topology=weir.Topology(tree=[root], link_types=[x16]),
        workload=[weir.transfer(gpu.name, "cpu0", size, id=gpu.name) for gpu in below],
        name="two GPUs",
        arbiter="max-min",
    )


def main(folder: Path) -> float:
    """Runs, tabulates, sweeps and saves."""
    scenario = two_gpus("16GB")
    result: weir.Result = weir.run(scenario, set={"workload[0].transfer.size": "8GB"}, arbiter=EqualShare)
    ends: list[float] = result.transfers["end_s"]
    points: weir.Table = weir.sweep(scenario, {"workload[0].transfer.size": (f"{size}GB" for size in (8, 16))})
    assert [row["makespan_ps"] for row in points] == points["makespan_ps"]
    weir.report(scenario).save(folder / "page.html")
    try:
        weir.check({"weir": 1})
    except weir.ScenarioError as error:
        line: int | None = error.line
        assert line == 1
    assert len(points) == 2 and max(ends) == result.makespan
    return result.makespan
