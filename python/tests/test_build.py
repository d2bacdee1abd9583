"""Scenarios built in code are the same as files."""

from __future__ import annotations

import json
import subprocess
import sys
import enum
from pathlib import Path
from typing import Any

import pytest
import sample
from conftest import FOUR, SCENARIOS

import weir


def test_yaml_runs_in_the_command_to_the_picosecond(command: str, tmp_path: Path) -> None:
    scenario = sample.two_gpus("16GB")
    file = tmp_path / "two.yaml"
    file.write_text(scenario.to_yaml())
    said = subprocess.run([command, "run", "--json", str(file)], check=True, capture_output=True, text=True)
    # Both GPUs send 16 GB over one link of 16 GB/s.
    assert weir.run(scenario).makespan_ps == json.loads(said.stdout)["makespan_ps"] == 2 * 10**12
    assert weir.run(scenario.to_dict()).makespan_ps == 2 * 10**12
    assert weir.run(file).fingerprint == weir.run(scenario).fingerprint


def test_the_sample(tmp_path: Path) -> None:
    # 8 GB each at half of 16 GB/s, then the 8 GB that are left at all of it.
    assert sample.main(tmp_path) == 1.5
    assert "<title>weir report</title>" in (tmp_path / "page.html").read_text()


def test_all_kinds_of_nodes_and_operations() -> None:
    topology = weir.Topology(
        [
            weir.node("rc", weir.fpga("f", link="l"), weir.nic("n", link="l"), kind="root-complex"),
            weir.network("net"),
            weir.host("h", repeat=2),
        ],
        [weir.link_type("l", bandwidth="1GB/s")],
        [weir.link("n", "net", "l"), weir.link("h0", "net", "l"), weir.link("h1", "net", {"bandwidth": "2GB/s"})],
    )
    scenario = weir.Scenario(
        topology,
        [
            weir.transfer("f", "h0", "1GB", id="t"),
            weir.compute("f", "1s", id="k", after="t"),
            weir.operation("barrier", id="b", after=["t", "k"]),
            weir.collective("all-gather", "1GB", ["h0", "h1"], id="c", algorithm="ring", after="b"),
        ],
    )
    result = weir.run(scenario)
    operations = result.operations.to_dict()
    assert operations["id"] == ["k", "b", "c"]
    assert operations["kind"] == ["compute", "barrier", "collective"]
    assert operations["end_ps"][:2] == [2 * 10**12, 2 * 10**12]
    assert weir.check(topology) == []


def test_files_are_named_from_the_folder() -> None:
    scenario = weir.Scenario("../topologies/cs-storm-t2.yaml", [weir.transfer("gpu0", "gpu2", "11600B")])
    assert weir.run(scenario, folder=SCENARIOS / "pcie").makespan_ps == 10**6
    with pytest.raises(weir.ScenarioError):
        weir.run(scenario, folder=SCENARIOS)


@pytest.mark.parametrize(
    "text", ["yes", "1e5", "0x10", "12:30", "a: b", "# c", "{x}", "é\n", "", " a", "1_000", "null", "1MB", "~", "-"]
)
def test_text_stays_text(text: str) -> None:
    scenario = sample.two_gpus("1GB")
    scenario.name = text
    read = weir.run(scenario).scenario
    assert read == text or text.strip() == ""


def test_text_of_an_enumeration_is_its_value() -> None:
    class Gpu(str, enum.Enum):
        FIRST = "gpu0"

    operation = weir.transfer("gpu0", "gpu1", "1MB", id=Gpu.FIRST)
    scenario = weir.Scenario(sample.two_gpus("1GB").topology, [operation])
    assert "id: gpu0" in scenario.to_yaml() and weir.run(scenario).transfers["id"] == ["gpu0"]


@pytest.mark.parametrize("character", ["\x7f", "\x85", "\ufffe", "\uffff"])
def test_characters_that_yaml_escapes(character: str) -> None:
    scenario = sample.two_gpus("1GB")
    scenario.name = f"a{character}b"
    assert weir.run(scenario).scenario == scenario.name
    scenario.name = "\ud800"
    with pytest.raises(weir.ScenarioError, match="name: .* lone surrogate"):
        weir.run(scenario)


def test_plain_yaml_has_no_other_reader() -> None:
    """What Python writes is read by any YAML reader as the same data."""
    yaml = pytest.importorskip("yaml")
    scenario = sample.two_gpus("1.5GiB")
    scenario.values["ranks"] = ["gpu0", "gpu1"]
    assert yaml.safe_load(scenario.to_yaml()) == scenario.to_dict()


def test_weir_works_without_other_packages() -> None:
    code = f"import sys; sys.modules['numpy'] = None; import weir; weir.run({str(FOUR)!r}, arbiter=P)"
    policy = "class P:\n  def allocate(self, phase):\n    return [1e9 + 0 * phase.limit.nbytes for _ in range(len(phase))]\n"
    subprocess.run([sys.executable, "-c", policy + code], check=True)


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: weir.Scenario("x", [], values={"workload": [1]}).to_dict(), "workload"),
        (lambda: weir.Scenario("x", [], name="a", values={"name": "b"}).to_dict(), "name"),
        (lambda: weir.node("a", weir.gpu("b"), children={"c": {}}).to_dict(), "children"),
        (lambda: weir.Node("a", "gpu", values={"kind": "cpu"}).to_dict(), "kind"),
        (lambda: weir.gpu("a", link="x", link_="y"), "link"),
        (lambda: weir.Topology([weir.gpu("a")], values={"tree": {}}).to_dict(), "tree"),
        (lambda: weir.Topology([], [weir.link_type("x")], values={"link_types": {}}).to_dict(), "link_types"),
        (lambda: weir.Topology([], [], [weir.link("a", "b", "x")], {"links": []}).to_dict(), "links"),
        (lambda: weir.transfer("a", "b", "1B", to_="c"), "to"),
        (lambda: weir.transfer("a", "b", "1B", **{"from": "c"}), "from"),
    ],
)
def test_a_key_that_is_given_twice(make: Any, key: str) -> None:
    with pytest.raises(ValueError, match=f": `{key}` is given twice"):
        make()


def test_keys_without_a_parameter() -> None:
    topology = weir.Topology([weir.node("a", engines=2)], values={"link_types": {"x": {"bandwidth": "1GB/s"}}})
    assert topology.to_dict() == {"link_types": {"x": {"bandwidth": "1GB/s"}}, "tree": {"a": {"engines": 2}}}
    assert weir.Scenario("x", values={"ranks": ["a"]}).to_dict() == {
        "weir": 1, "topology": "x", "ranks": ["a"], "workload": [],
    }


def test_what_to_dict_gives_is_a_copy() -> None:
    topology = weir.Topology([weir.gpu("a", link="x"), weir.gpu("b", link="x")], [weir.link_type("x", bandwidth="1GB/s")])
    scenario = weir.Scenario(topology, [weir.transfer("a", "b", "1GB", after=["t"])], values={"order": {"a": [["t"]]}})
    before = scenario.to_yaml()
    given = scenario.to_dict()
    given["topology"]["link_types"]["x"]["bandwidth"] = "2GB/s"
    given["workload"][0]["transfer"]["size"] = "2GB"
    given["workload"][0]["transfer"]["after"].append("u")
    given["order"]["a"][0].append("u")
    assert scenario.to_yaml() == before


def _within_itself() -> weir.Node:
    node = weir.switch("s")
    node.children.append(node)
    return node


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: weir.Topology([], links=[("a", "b", "x")]), "links: each link is made by a function such as .*`weir.link`"),
        (lambda: weir.Topology(weir.gpu("g")), "tree: give a list, not Node"),
        (lambda: weir.Topology([], links=weir.link("a", "b", "x")), "links: give a list, not Link"),
        (lambda: weir.Topology([], weir.link_type("x")), "link_types: give a list, not LinkType"),
        (lambda: weir.Scenario("t", values=None), "values: give a dict of further keys, not NoneType"),
        (lambda: weir.Topology([weir.switch("s", children=[weir.gpu("a")])]), r"one by one: switch\('s', gpu\('a'\)"),
        (lambda: weir.Topology([_within_itself()]), "contains itself"),
    ],
)
def test_parts_of_another_shape(make: Any, says: str) -> None:
    with pytest.raises((TypeError, weir.ScenarioError), match=says):
        make().to_yaml()
