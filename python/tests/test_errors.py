"""What is wrong is an exception that says so, and never a crash."""

from __future__ import annotations

import datetime
import json
import math
import os
import pickle
import subprocess
import threading
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import sample
from conftest import FOUR, FOUR_PS, SCENARIOS

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


def test_numbers_that_are_too_large() -> None:
    for value in (10**5000, -(10**5000), 2**200):
        with pytest.raises(weir.ScenarioError, match=r"workload\[0\].transfer.weight: a number of \d+ bits"):
            weir.run(FOUR, set={"workload[0].transfer.weight": value})
        with pytest.raises(weir.ScenarioError, match="bits"):
            weir.run(sample.two_gpus("1GB").to_dict() | {"name": value})
    # What the reader of scenarios itself finds too large.
    with pytest.raises(weir.ScenarioError):
        weir.run(FOUR, set={"workload[0].transfer.priority": 2**100})


def test_data_that_contain_themselves() -> None:
    inside: dict[str, Any] = {"weir": 1}
    inside["topology"] = inside
    listed: list[Any] = []
    listed.append(listed)
    for source, options in ((inside, {}), (FOUR, {"set": {"workload": listed}}), (FOUR, {"arbiter": inside})):
        with pytest.raises(weir.ScenarioError, match="contains itself"):
            weir.run(source, **options)  # type: ignore[arg-type]
    deep: Any = "1MB"
    for _ in range(300):
        deep = [deep]
    with pytest.raises(weir.ScenarioError):
        weir.run(FOUR, set={"workload[0].transfer.size": deep})
    assert weir.run(FOUR).complete


class Raising:
    """Whatever is asked of it raises."""

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(name)


def test_objects_that_raise() -> None:
    for call in (
        lambda: weir.run(FOUR, arbiter=Raising()),
        lambda: weir.run(FOUR, set={"workload[0].transfer.size": Raising()}),
        lambda: weir.sweep(FOUR, {"arbiter.tau": [0.1]}, client=Raising()),
    ):
        with pytest.raises(ZeroDivisionError):
            call()
    for wrong in (lambda: weir.run(Raising()), lambda: weir.run(FOUR, fidelity=object())):  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            wrong()


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    for tau in (numpy.float64(0.2), numpy.float32(0.25), numpy.array(0.2)):
        own = weir.run(FOUR, arbiter={"name": "pcie-congestion", "tau": tau})
        assert own.makespan_ps == weir.run(FOUR, arbiter={"name": "pcie-congestion", "tau": float(tau)}).makespan_ps
    weights = weir.run(FOUR, set={"workload[0].transfer.weight": numpy.int64(1)}, arbiter="max-min")
    assert weights.makespan_ps == weir.run(FOUR, arbiter="max-min").makespan_ps
    with pytest.raises(weir.ScenarioError, match="is not a number"):
        weir.run(FOUR, set={"arbiter.tau": numpy.float64("nan")})
    with pytest.raises(weir.ScenarioError, match="is not a number"):
        weir.sweep(FOUR, {"arbiter.tau": numpy.array([0.1, numpy.inf])})
    assert len(weir.sweep(FOUR, {"arbiter.tau": numpy.linspace(0, 0.2, 3)})) == 3
    for value in (numpy.array([b"x"]), numpy.datetime64("2020-01-01T00:00"), numpy.timedelta64(3, "s"), numpy.complex128(1j)):
        with pytest.raises(TypeError, match="arbiter.tau.* is not data"):
            weir.run(FOUR, set={"arbiter.tau": value})


def test_paths_are_text() -> None:
    scenario = sample.two_gpus("1GB").to_dict()
    scenario["topology"] = SCENARIOS / "topologies" / "cs-storm-t2.yaml"
    scenario["workload"] = [{"transfer": {"from": "gpu0", "to": "gpu2", "size": "11600B"}}]
    assert weir.run(scenario, library=SCENARIOS).makespan_ps == 10**6
    assert weir.run(FOUR, set={"topology": SCENARIOS / "topologies" / "cs-storm-t2.yaml"}).complete


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "\u202e", "\r\n"])
def test_text_that_is_hardly_text(text: str) -> None:
    scenario = sample.two_gpus("1GB")
    scenario.name = text
    try:
        weir.run(scenario)
    except (weir.ScenarioError, UnicodeEncodeError) as error:
        assert str(error)
    with pytest.raises((weir.ScenarioError, ValueError)):
        weir.run(f"missing-{text}.yaml")


@pytest.mark.parametrize(
    "options", [{"arbitre": "max-min"}, {"set": [1]}, {"set": "a"}, {"set": {1: 2}}, {"folder": 3}, {"library": b"x", "plugin": 4}]
)
def test_options_that_there_are_not(options: dict[str, Any]) -> None:
    for call in (weir.run, weir.check, weir.explain, weir.optimize, weir.whatif, weir.report, weir.compare):
        with pytest.raises(TypeError):
            call(FOUR, **options)  # type: ignore[operator]


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(TypeError, match="no option 'arbitre': there are set, arbiter, fidelity"):
        weir.run(FOUR, arbitre="max-min")  # type: ignore[call-arg]


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


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"until": 3}, "until: give text"),
        ({"phases": "yes"}, "phases: give True or False"),
        ({"jitter": 1}, "jitter: give text"),
        ({"jitter": "1us", "seeds": "x"}, "seeds: give a whole number, not str"),
        ({"jitter": "1us", "seeds": 1.5}, "seeds: give a whole number, not float"),
        ({"jitter": "1us", "seeds": True}, "seeds: give a whole number, not bool"),
        ({"set": {1: "2"}}, "set: keys are text, not int"),
        ({"library": 3}, "library: give a path, not int"),
        ({"folder": 3}, "folder: give a path, not int"),
        ({"plugin": [4]}, "plugin: give a path, not int"),
        ({"set": {"workload[0].transfer.start": datetime.timedelta(1)}}, "workload.*start: timedelta is not data"),
    ],
)
def test_options_of_another_type(options: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        weir.run(FOUR, **options)
    with pytest.raises(weir.ScenarioError, match="seeds: give a whole number from 1, not -1"):
        weir.run(FOUR, jitter="1us", seeds=-1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"budget": 3}, "budget: give text"),
        ({"candidates": 1.5}, "candidates: give a whole number"),
        ({"seed": "x"}, "seed: give a whole number"),
        ({"exact": 1}, "exact: give True or False"),
        ({"method": b"local"}, "method: give text"),
        ({"threads": True}, "threads: give a whole number"),
    ],
)
def test_options_of_searches_of_another_type(options: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        weir.optimize(FOUR, vary="order", **options)


def test_two_nodes_of_one_name() -> None:
    with pytest.raises(ValueError, match="two nodes are called 'g'"):
        weir.Topology([weir.switch("s", weir.gpu("g"), weir.gpu("g"))]).to_yaml()


def test_two_link_types_of_one_name() -> None:
    twice = [weir.link_type("x", bandwidth="1GB/s"), weir.link_type("x", bandwidth="2GB/s")]
    with pytest.raises(ValueError, match="two link types are called 'x'"):
        weir.Topology([weir.switch("s")], twice).to_yaml()


def test_parts_of_another_type() -> None:
    nodes: Any = [weir.gpu("g")]
    with pytest.raises(TypeError, match="each child is made by a function such as `weir.gpu`"):
        weir.Topology([weir.switch("s", nodes)]).to_yaml()
    items: Any = (weir.transfer("a", "b", "1GB") for _ in range(2))
    with pytest.raises(TypeError, match="workload: give a list of items, not generator"):
        weir.Scenario(weir.Topology([weir.switch("s")]), items).to_yaml()


def test_options_of_another_function() -> None:
    wrong: Any = {"phases": True}
    for call in (weir.explain, weir.report, weir.compare):
        with pytest.raises(TypeError, match="no option 'phases': there are set, arbiter, fidelity, plugin, library, folder$"):
            call(FOUR, **wrong)
    with pytest.raises(TypeError, match="no option 'explanations': .*, until, phases, peaks, jitter, seeds, progress$"):
        weir.run(FOUR, **{"explanations": True})  # type: ignore[misc]
    with pytest.raises(weir.ScenarioError, match="arbiter: the list is empty"):
        weir.run(FOUR, arbiter=[])


def test_warnings_are_pythons() -> None:
    with pytest.warns(weir.ScenarioWarning, match="ignores the transfers' weight") as caught:
        weir.run(FOUR, set={"workload[0].transfer.weight": 2})
    assert caught[0].filename == __file__
    with pytest.warns(weir.ScenarioWarning) as caught:
        weir.compare(FOUR, set={"workload[0].transfer.weight": 2}, arbiter="pcie-congestion")
        weir.optimize(FOUR, vary="order", set={"workload[0].transfer.weight": 2})
    assert {each.filename for each in caught} == {__file__}


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


def test_saved_results_are_shown_and_compared(command: str, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    said = subprocess.run([command, "run", "--full", "--json", str(FOUR)], check=True, capture_output=True, text=True)
    saved.write_text(said.stdout)
    page = weir.report(saved, FOUR, pictures=True)
    data = json.loads(page.html.decode().split('id="weir-data">')[1].split("</script")[0])
    assert [run["makespan_ps"] for run in data["runs"]] == [FOUR_PS] * 2
    assert data["runs"][0]["origin"] == str(saved)
    # In the order in which they are named.
    again = weir.report(FOUR, str(saved))
    data = json.loads(again.html.decode().split('id="weir-data">')[1].split("</script")[0])
    assert [run.get("origin") for run in data["runs"]] == [None, str(saved)]
    assert weir.compare(saved, FOUR, weir.run(FOUR, arbiter="max-min")).makespans_ps == [FOUR_PS, FOUR_PS, 51_724_137_932]
    saved.write_text(said.stdout[:500])
    for call in (weir.report, weir.compare):
        with pytest.raises(weir.ScenarioError, match=r"saved\.json:1: .*incomplete"):
            call(saved)
    with pytest.raises(weir.ScenarioError, match="saved"):
        weir.run(saved)


def test_pictures_need_no_browser(tmp_path: Path) -> None:
    page = weir.report(FOUR, pictures=True)
    stem = "1-four-transfers-on-t2-pcie-congestion"
    assert sorted(page.pictures) == [f"{stem}-{kind}.svg" for kind in ("links", "timeline", "topology")]
    for svg in page.pictures.values():
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg" and "four transfers on T2" in "".join(root.itertext())
    with pytest.raises(ValueError, match="make it with `pictures=True`"):
        weir.report(FOUR).save_pictures(tmp_path / "none")
    page.save_pictures(tmp_path / "new" / "folder")
    written = {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "new" / "folder").iterdir()}
    assert written == page.pictures and weir.report(FOUR).pictures == {}


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


def test_arguments_of_another_type_are_named() -> None:
    anything: Any = 3
    for call, name in (
        (lambda: weir.whatif(FOUR, costs=anything), "costs"),
        (lambda: weir.whatif(FOUR, costs={"pcie": "cheap"}), r"costs\['pcie'\]"),  # type: ignore[dict-item]
        (lambda: weir.whatif(FOUR, links=anything), "links"),
        (lambda: weir.sweep(FOUR, anything), "grid"),
        (lambda: weir.sweep(FOUR, {anything: [1]}), "grid"),
        (lambda: weir.report(FOUR, until=anything), "until"),
        (lambda: weir.report(FOUR, pictures=anything), "pictures"),
        (lambda: weir.import_topology(anything), "dump"),
        (lambda: weir.calibrate(FOUR, anything), "logs"),
        (lambda: weir.calibrate(FOUR, FOUR, per_link=anything), "per_link"),
        (lambda: weir.calibrate(FOUR, FOUR, hold_out="a"), "hold_out"),  # type: ignore[arg-type]
        (lambda: weir.validate(FOUR, anything), "measured"),
        (lambda: weir.validate(FOUR, FOUR, histogram=anything), "histogram"),
    ):
        with pytest.raises(TypeError, match=f"^{name}: "):
            call()


def test_options_that_would_mean_nothing(tmp_path: Path) -> None:
    result, saved = weir.run(FOUR), tmp_path / "saved.json"
    saved.write_text(result.to_json())
    for call, name in (
        (lambda: weir.compare(result, arbiter="max-min"), "arbiter"),
        (lambda: weir.compare(saved, result, set={"arbiter.tau": 0}), "set"),
        (lambda: weir.report(result, arbiter="max-min"), "arbiter"),
        (lambda: weir.report(saved, until="1ms"), "until"),
        (lambda: weir.run(FOUR, seeds=3), "seeds"),
        (lambda: weir.sweep(FOUR, {"arbiter.tau": [0.1]}, client=object(), threads=2), "threads"),
        (lambda: weir.sweep(FOUR, {"arbiter.tau": [0.1]}, client=object(), progress=True), "progress"),
    ):
        with pytest.raises(ValueError, match=f"^{name}: "):
            call()
    # Where a scenario is among them, they are its own.
    assert weir.compare(result, FOUR, arbiter="max-min").makespans_ps == [FOUR_PS, 51_724_137_932]


def test_runs_packet_by_packet_have_no_phases() -> None:
    packets = SCENARIOS / "packets" / "oldest-first.yaml"
    with pytest.raises(ValueError, match="packet by packet has none"):
        weir.run(packets, fidelity="packet", phases=True).phases


def test_a_file_is_saved_as_the_command_saves_it(tmp_path: Path) -> None:
    """Links are followed, permissions kept, and what is no file is written as it is."""
    page = weir.report(FOUR)
    private, link, pipe = tmp_path / "private.html", tmp_path / "link.html", tmp_path / "pipe"
    private.write_text("old")
    private.chmod(0o600)
    link.symlink_to(private)
    page.save(link)
    assert link.is_symlink() and private.read_bytes() == page.html
    assert private.stat().st_mode & 0o777 == 0o600
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    page.save(pipe)
    reader.join()
    assert read == [page.html] and pipe.is_fifo()
    with pytest.raises(FileNotFoundError, match="nowhere/x.html cannot be written: there is no folder"):
        page.save(tmp_path / "nowhere" / "x.html")
    with pytest.raises(OSError, match="is a folder: name a file"):
        page.save(tmp_path)
    with pytest.raises(weir.ScenarioError, match="file: the path is empty"):
        page.save("")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: weir.optimize(FOUR, vary="order", method="x"), "^method: `x` is not one of"),
        (lambda: weir.optimize(FOUR, vary="order", objective="x"), "^objective: `x` is not one of"),
        (lambda: weir.optimize(FOUR, vary=_any(5)), "^vary: give text"),
        (lambda: weir.report(FOUR, until="x"), "^until: "),
        (lambda: weir.import_topology(FOUR, format="x"), "^format: "),
        (lambda: weir.import_topology(FOUR, add="x"), "^add: "),
        (lambda: weir.run(FOUR, plugin=""), "^plugin: the path is empty"),
        (lambda: weir.calibrate(FOUR, _any(b"x")), "^logs: give a path, not bytes"),
        (lambda: weir.run(FOUR, progress=_any("x")), "^progress: give True or False"),
        (lambda: weir.run(FOUR, set={"workload[0].transfer.size": None}), "^set: give `workload"),
        (lambda: weir.sweep(FOUR, {}), "^grid: give lists of values"),
    ],
)
def test_what_is_wrong_begins_with_the_argument(call: Any, says: str) -> None:
    with pytest.raises((TypeError, weir.ScenarioError), match=says):
        call()


def _any(value: Any) -> Any:
    return value


def test_warnings_that_are_errors_hide_no_error() -> None:
    """What a run warns of comes behind what ends it."""

    class Wrong:
        def allocate(self, phase: weir.Phase) -> Any:
            raise ZeroDivisionError("no rates")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(weir.PolicyError, match="no rates"):
            weir.run(FOUR, arbiter=Wrong, until="1s")
