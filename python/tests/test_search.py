"""Searches and sweeps: those of the command, the same on any number of threads, processes and workers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

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


def test_arbiters_that_are_swept_are_named_once() -> None:
    names = ["max-min", "fcfs", "{name: pcie-congestion, tau: 0.1}"]
    points = weir.sweep(FOUR, {"arbiter": names, "workload[0].transfer.size": ["100MB"]})
    assert points.columns[:4] == ["scenario", "candidate", "arbiter", "workload[0].transfer.size"]
    ends = [weir.run(FOUR, arbiter=name, set={"workload[0].transfer.size": "100MB"}).makespan_ps for name in (
        "max-min", "fcfs", {"name": "pcie-congestion", "tau": 0.1}
    )]  # fmt: skip
    assert points["makespan_ps"] == ends and points["arbiter"][:2] == names[:2]


def test_text_of_a_grid_is_read_as_in_set() -> None:
    texts = weir.sweep(FOUR, {"arbiter.tau": ["0", "0.2"], "workload[0].transfer.size": ["1e2 MB", "1GB # not more"][:1]})
    numbers = weir.sweep(FOUR, {"arbiter.tau": [0, 0.2], "workload[0].transfer.size": ["100MB"]})
    assert texts["makespan_ps"] == numbers["makespan_ps"]
    with pytest.raises(weir.ScenarioError):
        weir.sweep(FOUR, {"arbiter": ["{name: max-min}, {name: fcfs}"]})
    again = weir.sweep(FOUR, {"arbiter.tau": texts["arbiter.tau"]})
    assert again["arbiter.tau"] == ["0", "0.2"]


def test_a_sweep_is_the_same_on_any_number_of_threads() -> None:
    one = weir.sweep(FOUR, GRID, threads=1).to_dict()
    assert weir.sweep(FOUR, GRID, threads=3).to_dict() == one == weir.sweep(FOUR, GRID).to_dict()


def test_a_sweep_of_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    points = weir.sweep(sample.two_gpus("1GB"), {"workload[0].transfer.size": ["8GB", "16GB"]})
    # With the 1 GB of the other, all over one link of 16 GB/s.
    assert points["makespan_ps"] == [9 * 10**12 // 16, 17 * 10**12 // 16]
    assert list(tmp_path.iterdir()) == []


def test_too_many_threads() -> None:
    with pytest.raises(weir.ScenarioError, match="threads: 1000000 is too many"):
        weir.sweep(FOUR, GRID, threads=10**6)
    for wrong, says in (({"threads": -1}, "give a whole number from 0, not -1"), ({"threads": 10**30}, "too large")):
        with pytest.raises(weir.ScenarioError, match=f"threads: .*{says}"):
            weir.sweep(FOUR, GRID, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("grid", [{"arbiter.tau": "abc"}, {"arbiter.tau": 3}])
def test_a_grid_of_no_lists(grid: object) -> None:
    with pytest.raises(TypeError, match="give a list"):
        weir.sweep(FOUR, grid)  # type: ignore[arg-type]


@pytest.mark.parametrize("grid", [{}, {"arbiter.tau": []}, {"arbiter.tau": [7]}, {"nowhere": [1]}])
def test_a_grid_that_cannot_be_run(grid: dict[str, list[object]]) -> None:
    with pytest.raises(weir.ScenarioError):
        weir.sweep(FOUR, grid)


def _bytes(table: weir.Table) -> bytes:
    """The table as it goes to other libraries, to the bit."""
    pyarrow = pytest.importorskip("pyarrow")
    read = pyarrow.table(table)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, read.schema) as stream:
        stream.write_table(read)
    return bytes(sink.getvalue())


def test_the_same_dict_gives_the_same_bytes(tmp_path: Path) -> None:
    """Nothing of where or when it was written is in a result."""
    grid = {"workload[0].transfer.size": ["8GB", "16GB"]}
    scenario = sample.two_gpus("1GB").to_dict()
    del scenario["name"]
    found = [
        weir.optimize(scenario, vary="parameters", timing=False, folder=folder,
                      set={"optimize": {"vary": "parameters", "parameters": grid}})
        for folder in (tmp_path, SCENARIOS, tmp_path)
    ]
    assert len({each.to_json() for each in found}) == 1 and '"file":"<dict>"' in found[0].to_json()
    tables = [_bytes(weir.sweep(scenario, grid, folder=folder)) for folder in (tmp_path, SCENARIOS)]
    assert tables[0] == tables[1]
    assert len({weir.whatif(scenario).to_json() for _ in range(2)}) == 1


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    """Searches read what is no file from memory."""
    points = weir.sweep(sample.two_gpus("1GB"), {"workload[0].transfer.size": ["8GB"]}, folder=tmp_path / "missing")
    assert points["makespan_ps"] == [9 * 10**12 // 16]


@pytest.mark.filterwarnings("ignore")
def test_ray() -> None:
    ray = pytest.importorskip("ray")
    one, grid = weir.sweep(FOUR, GRID), {"workload[0].transfer.size": ["1GB", "2GB", "3GB"]}
    tests = str(Path(__file__).parent)
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": tests}}, log_to_driver=False)
    try:
        assert _bytes(weir.sweep(FOUR, GRID, client=ray)) == _bytes(one)
        built = sample.two_gpus("1GB")
        assert _bytes(weir.sweep(built, grid, client=ray)) == _bytes(weir.sweep(built, grid))
        with pytest.raises(weir.ScenarioError, match="nowhere"):
            weir.sweep(FOUR, {"nowhere": [1]}, client=ray)
    finally:
        ray.shutdown()


def test_dask() -> None:
    distributed = pytest.importorskip("distributed")
    one = weir.sweep(FOUR, GRID)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        assert _bytes(weir.sweep(FOUR, GRID, client=client)) == _bytes(one)
        built = sample.two_gpus("1GB")
        grid = {"workload[0].transfer.size": ["1GB", "2GB", "3GB"]}
        assert _bytes(weir.sweep(built, grid, client=client)) == _bytes(weir.sweep(built, grid))
        # More parts than points.
        assert _bytes(weir.sweep(FOUR, {"arbiter.tau": [0.2]}, client=client)) == _bytes(
            weir.sweep(FOUR, {"arbiter.tau": [0.2]})
        )
        with pytest.raises(weir.ScenarioError):
            weir.sweep(FOUR, {"nowhere": [1]}, client=client)
        # What workers warn of is told here, once.
        small = {f"workload[{at}].transfer.size": "100kB" for at in range(4)}
        with pytest.warns(weir.ScenarioWarning, match="the arbiter") as warned:
            weir.sweep(FOUR, {"workload[0].transfer.size": ["100kB", "200kB"]}, fidelity="packet", arbiter="max-min", set=small, client=client)
        assert len({str(each.message) for each in warned}) == len(warned)
        # Options are looked at before any worker is asked.
        wrong: Any = {"colour": "red"}
        with pytest.raises(TypeError, match="no option 'colour'"):
            weir.sweep(FOUR, GRID, client=client, **wrong)
    for no_client in (3, object(), pytest):
        with pytest.raises(TypeError, match=r"dask.distributed.Client nor the module ray"):
            weir.sweep(FOUR, GRID, client=no_client)
