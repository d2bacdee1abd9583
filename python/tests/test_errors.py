"""What is wrong is an exception that says so, and never a crash."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import pytest
import sample
from conftest import FOUR, SCENARIOS

import weir


def test_an_error_names_its_place(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("weir: 1\ntopology:\n  tree:\n    a: { kind: gpuu }\nworkload: []\n")
    with pytest.raises(weir.ScenarioError) as caught:
        weir.run(file)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(file), 4, 16)
    assert error.hint is not None and "gpuu" in str(error) and "4 |" in str(error)
    assert isinstance(error, ValueError) and isinstance(error, weir.WeirError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.findings) == (str(error), error.findings)


def test_every_finding_is_kept() -> None:
    with pytest.raises(weir.ScenarioError) as caught:
        weir.run({"weir": 1})
    assert len(caught.value.findings) == 2
    assert caught.value.file == "<dict>"


def test_a_file_that_is_missing() -> None:
    with pytest.raises(weir.ScenarioError, match=r"missing\.yaml"):
        weir.run("missing.yaml")


@pytest.mark.parametrize("source", [None, 3, 1.5, b"a.yaml", ["a.yaml"], object()])
def test_no_scenario(source: Any) -> None:
    with pytest.raises(TypeError, match="a scenario is a file, a dict or a weir.Scenario"):
        weir.run(source)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_number(value: float) -> None:
    scenario = sample.two_gpus("1GB")
    scenario.workload = [weir.transfer("gpu0", "cpu0", "1GB", weight=value)]
    with pytest.raises(weir.ScenarioError, match=r"workload\[0\].transfer.weight: .* is not a number"):
        weir.run(scenario)
    with pytest.raises(weir.ScenarioError, match="arbiter.tau"):
        weir.run(FOUR, set={"arbiter.tau": value})


@pytest.mark.parametrize("value", [b"1GB", {1, 2}, object(), 1j])
def test_no_data(value: Any) -> None:
    with pytest.raises(TypeError, match="is not data of a scenario"):
        weir.run(sample.two_gpus("1GB"), set={"workload[0].transfer.size": value})
    with pytest.raises(TypeError, match=r"workload\[0\].transfer.size"):
        weir.run(sample.two_gpus(value))


def test_keys_are_text() -> None:
    with pytest.raises(TypeError, match="keys are text"):
        weir.run({1: 2})  # type: ignore[dict-item]


def test_a_bare_number_is_no_size() -> None:
    with pytest.raises(weir.ScenarioError, match="unit"):
        weir.run(FOUR, set={"workload[0].transfer.size": 5})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"until": "10"}, "until"),
        ({"until": "soon"}, "until"),
        ({"arbiter": "max-mim"}, "max-min"),
        ({"arbiter": {"name": "max-min", "tau": 1}}, "tau"),
        ({"set": {"nowhere[0]": "1"}}, "nowhere"),
        ({"fidelity": "solid"}, "fidelity"),
        ({"jitter": "0s"}, "jitter"),
        ({"jitter": "1us", "seeds": 0}, "seeds"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], says: str) -> None:
    with pytest.raises(weir.ScenarioError, match=says):
        weir.run(FOUR, **options)


@pytest.mark.parametrize("options", [{"until": 3}, {"phases": "yes"}, {"jitter": "1us", "seeds": "x"}])
def test_options_of_another_type(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        weir.run(FOUR, **options)


def test_two_nodes_of_one_name() -> None:
    with pytest.raises(ValueError, match="two nodes are called 'g'"):
        weir.Topology([weir.switch("s", weir.gpu("g"), weir.gpu("g"))]).to_yaml()


def test_warnings_are_pythons() -> None:
    with pytest.warns(weir.ScenarioWarning, match="ignores the transfers' weight") as caught:
        weir.run(FOUR, set={"workload[0].transfer.weight": 2})
    assert caught[0].filename == __file__


def test_a_deadlock_is_a_run_error() -> None:
    scenario = sample.two_gpus("1GB")
    scenario.fidelity = {"packet": {}}
    with pytest.raises(weir.WeirError):
        weir.run(scenario, set={"workload": [{"transfer": {"from": "gpu0", "to": "nobody", "size": "1B"}}]})


def test_machines_and_measurements(tmp_path: Path) -> None:
    dumps = SCENARIOS / "topologies" / "dumps"
    imported = weir.import_topology(dumps / "nccl-aws-p4d-24xl-8xA100.xml", add="nvswitch")
    assert "8 GPUs" in imported.summary
    server = tmp_path / "server.yaml"
    imported.save(server)
    assert weir.check(server) == []
    fitted = weir.calibrate(server, SCENARIOS / "measured" / "p4d-example.csv")
    fitted.save(tmp_path / "calibrated.yaml")
    scenario = SCENARIOS / "imported" / "nccl-aws-p4d-24xl-8xA100-host-to-device.yaml"
    result = weir.run(scenario, set={"topology": str(tmp_path / "calibrated.yaml")}, library=tmp_path)
    # As the README has it.
    assert result.makespan_ps == 155_039_992_799
    measured = SCENARIOS / "measured" / "h2d-eight-gpus.csv"
    found = weir.validate(SCENARIOS / "measured" / "h2d-eight-gpus.yaml", measured)
    assert "100.0 % within ±15 %" in found.to_text() and found.csv.count("\n") == 9
    for wrong in (
        lambda: weir.import_topology(FOUR),
        lambda: weir.import_topology("missing.xml"),
        lambda: weir.calibrate(server, FOUR),
        lambda: weir.calibrate("missing.yaml", measured),
        lambda: weir.validate(FOUR, measured),
        lambda: weir.validate(FOUR, measured, since="never"),  # type: ignore[arg-type]
    ):
        with pytest.raises(weir.ScenarioError):
            wrong()


def test_a_page(tmp_path: Path) -> None:
    page = weir.report(FOUR, weir.run(FOUR, phases=True))
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == page.html
    assert "iframe" in page._repr_html_()
    with pytest.raises(OSError):
        page.save(tmp_path / "missing" / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(TypeError, match="at least one"):
        weir.report()
