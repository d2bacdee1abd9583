"""Searches and sweeps: those of the command, the same on any number of threads, processes and workers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import sample
from conftest import FOUR, FOUR_PS, SCENARIOS

import weir

ORDER = SCENARIOS / "optimize" / "order-halo-2d-t2.yaml"
GRID = {"workload[0].transfer.size": ["100MB", "200MB", "300MB"], "arbiter.tau": [0.0, 0.1, 0.2, 0.4]}


def test_an_order(command: str) -> None:
    found = weir.optimize(ORDER, timing=False)
    said = subprocess.run(
        [command, "optimize", "--json", "--no-timing", str(ORDER)], check=True, capture_output=True, text=True
    )
    assert found.to_json() == said.stdout
    assert found.objective == "makespan" and found.best_ps is not None
    assert found.best == found.best_ps / 1e12 and found.baseline > found.best
    assert found.best_ps is not None and found.baseline_ps is not None and found.best_ps < found.baseline_ps
    assert found.proved_optimal and found.complete
    assert len(found.table("solutions")) == sum(len(sent) for sent in found.solution["order"].values())
    with pytest.raises(ValueError, match="no table `points`"):
        found.table("points")


def test_an_objective_that_is_no_time() -> None:
    file = SCENARIOS / "mapping" / "helios-stencil.yaml"
    found = weir.optimize(file, vary="placement", objective="distance", timing=False)
    assert (found.objective, found.best, found.baseline) == ("distance", 52, 56)
    assert found.best_ps is not None and "placement" in found.solution


def test_several_kinds_together() -> None:
    file = SCENARIOS / "optimize" / "stencil-helios.yaml"
    found = weir.optimize(file, vary=["order", "placement"], candidates=20, seed=1, timing=False)
    again = weir.optimize(file, vary=["placement", "order"], candidates=20, seed=1, timing=False)
    assert found.to_json() == again.to_json() and set(found.solution) == {"order", "placement"}
    assert found.best <= found.baseline
    with pytest.raises(weir.ScenarioError, match="twice"):
        weir.optimize(file, vary=["order", "order"])


def test_what_if(command: str) -> None:
    found = weir.whatif(FOUR)
    said = subprocess.run([command, "whatif", "--json", str(FOUR)], check=True, capture_output=True, text=True)
    assert found.makespan_ps == FOUR_PS
    assert [c.makespan_ps for c in found.changes] == [
        c["makespan_ps"] for c in json.loads(said.stdout)["changes"]
    ]


def test_a_sweep_is_its_runs() -> None:
    points = weir.sweep(FOUR, GRID)
    assert len(points) == 12 and points["arbiter.tau"][:2] == ["0.0", "0.1"]
    for row in range(0, 12, 5):
        values = {path: points[path][row] for path in GRID}
        assert points["makespan_ps"][row] == weir.run(FOUR, set=values).makespan_ps


def test_a_sweep_is_the_same_on_any_number_of_threads() -> None:
    one = weir.sweep(FOUR, GRID, threads=1).to_dict()
    assert weir.sweep(FOUR, GRID, threads=3).to_dict() == one == weir.sweep(FOUR, GRID).to_dict()


def test_a_sweep_of_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    points = weir.sweep(sample.two_gpus("1GB"), {"workload[0].transfer.size": ["8GB", "16GB"]})
    # With the 1 GB of the other, all over one link of 16 GB/s.
    assert points["makespan_ps"] == [9 * 10**12 // 16, 17 * 10**12 // 16]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("grid", [{"arbiter.tau": "abc"}, {"arbiter.tau": 3}])
def test_a_grid_of_no_lists(grid: object) -> None:
    with pytest.raises(TypeError, match="give a list"):
        weir.sweep(FOUR, grid)  # type: ignore[arg-type]


@pytest.mark.parametrize("grid", [{}, {"arbiter.tau": []}, {"arbiter.tau": [7]}, {"nowhere": [1]}])
def test_a_grid_that_cannot_be_run(grid: dict[str, list[object]]) -> None:
    with pytest.raises(weir.ScenarioError):
        weir.sweep(FOUR, grid)


def test_dask() -> None:
    distributed = pytest.importorskip("distributed")
    one = weir.sweep(FOUR, GRID).to_dict()
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        assert weir.sweep(FOUR, GRID, client=client).to_dict() == one
        built = sample.two_gpus("1GB")
        grid = {"workload[0].transfer.size": ["1GB", "2GB", "3GB"]}
        assert weir.sweep(built, grid, client=client)["makespan_ps"] == weir.sweep(built, grid)["makespan_ps"]
        with pytest.raises(weir.ScenarioError):
            weir.sweep(FOUR, {"nowhere": [1]}, client=client)
    with pytest.raises(TypeError, match="submit"):
        weir.sweep(FOUR, GRID, client=3)
