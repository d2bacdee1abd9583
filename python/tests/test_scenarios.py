"""Python and the command give the same makespans, for every scenario of the library."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import FOUR, FOUR_PS, ROOT, SCENARIOS

import weir


def _is_scenario(file: Path) -> bool:
    lines = file.read_text().splitlines()
    return any(line.startswith("workload:") for line in lines)


FILES = sorted(file for file in SCENARIOS.rglob("*.yaml") if _is_scenario(file))


def test_the_library_is_found() -> None:
    """Every file that is no topology is a scenario, and is run below."""
    assert FILES == sorted(file for file in SCENARIOS.rglob("*.yaml") if "topologies" not in file.parts)
    assert len(FILES) > 100


def _accepted(file: Path) -> list[tuple[str, int]]:
    """Fingerprints and makespans of the results that lie beside a scenario, which the tests in Rust compare with theirs."""
    lines = (file.parent / "snapshots" / f"{file.name}.txt").read_text().splitlines()
    words = [line.split() for line in lines]
    prints = [line[1] for line in words if line[:1] == ["fingerprint"]]
    makespans = [int(line[1]) for line in words if line[:1] == ["makespan"]]
    assert len(prints) == len(makespans) > 0, file
    return list(zip(prints, makespans))


@pytest.mark.filterwarnings("ignore::weir.ScenarioWarning")
def test_every_makespan_is_that_of_the_command_and_of_rust(command: str) -> None:
    """By one call of the command: starting it a hundred times takes longer than the runs."""
    names = [str(file.relative_to(ROOT)) for file in FILES]
    said = subprocess.run(
        [command, "run", "--no-plugins", "--json", *names],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    expected = [
        (line["scenario"], line["arbiter"]["name"], line["fingerprint"], line["makespan_ps"]) for line in lines
    ]
    by_file = {file: weir.run_all(file) for file in FILES}
    results = [result for results in by_file.values() for result in results]
    assert [(r.scenario, r.arbiter, f"{r.fingerprint:016x}", r.makespan_ps) for r in results] == expected
    for file, results in by_file.items():
        assert [(f"{r.fingerprint:016x}", r.makespan_ps) for r in results] == _accepted(file), file


def test_json_is_that_of_the_command(command: str) -> None:
    said = subprocess.run([command, "run", "--json", str(FOUR)], check=True, capture_output=True, text=True)
    assert weir.run(FOUR).to_json() == said.stdout
    phases = subprocess.run(
        [command, "run", "--json", "--phases", str(FOUR)], check=True, capture_output=True, text=True
    )
    assert weir.run(FOUR, phases=True).to_json() == phases.stdout


def test_text_and_explanation_are_those_of_the_command(command: str) -> None:
    for name, own in (("run", weir.run(FOUR).to_text()), ("explain", weir.explain(FOUR))):
        said = subprocess.run([command, name, str(FOUR)], check=True, capture_output=True, text=True)
        # Tables fit the width of a terminal, and so may differ in spaces and rules.
        assert own.split() == said.stdout.split() or own.splitlines()[0] == said.stdout.splitlines()[0]


def test_the_command_by_python_m(command: str) -> None:
    import sys

    said = subprocess.run([sys.executable, "-m", "weir", "--version"], capture_output=True, text=True)
    assert said.stdout == f"weir {weir.__version__}\n"
    wrong = subprocess.run([command, "run", "missing.yaml"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "missing.yaml" in wrong.stderr


def test_what_is_set_and_chosen() -> None:
    assert weir.run(FOUR).makespan_ps == FOUR_PS
    assert weir.run(str(FOUR)).makespan == FOUR_PS / 10**12
    alone = weir.run(FOUR, arbiter={"name": "pcie-congestion", "tau": 0.0}, until="10ms")
    assert not alone.complete
    fast = weir.run(FOUR, set={"workload": [{"transfer": {"from": "gpu0", "to": "gpu2", "size": "11600B"}}]})
    # 11,600 B at 11.6 GB/s.
    assert fast.makespan_ps == 10**6
    packets = weir.run(FOUR, fidelity="packet")
    assert packets.makespan_ps > FOUR_PS // 2 and packets.makespan_ps != FOUR_PS


@pytest.mark.parametrize("table", ["transfers", "links", "operations", "phases"])
def test_tables_are_those_of_the_command(table: str, command: str, tmp_path: Path) -> None:
    import csv

    file = SCENARIOS / "collectives" / "all-reduce-8-gpus.yaml"
    arguments = [command, "run", "--export-csv", str(tmp_path), str(file)]
    subprocess.run(arguments, check=True, capture_output=True)
    with (tmp_path / f"{table}.csv").open() as text:
        rows = list(csv.reader(text))
    own: weir.Table = getattr(weir.run(file, phases=True), table)
    assert own.columns == rows[0] and len(own) == len(rows) - 1 > 0
    for at in (0, len(own) // 2, len(own) - 1):
        for value, text_value in zip(own[at].values(), rows[at + 1]):
            if value is None:
                assert text_value == ""
            elif isinstance(value, str):
                assert text_value == value
            else:
                assert float(text_value) == float(value)
