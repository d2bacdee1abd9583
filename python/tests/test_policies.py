"""Policies in Python: the same as in Rust, checked as any other, and views that are never wild."""

from __future__ import annotations

import array
import gc
import itertools
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
import sample
from conftest import FOUR, ROOT, SCENARIOS

import weir

numpy = pytest.importorskip("numpy")


class MaxMin:
    """Max-min fairness by progressive filling: Bertsekas and Gallager, Data Networks, 6.5.2.

    All rates grow together in proportion to weight, until a link is full or a limit is reached.
    """

    def allocate(self, phase: weir.Phase) -> Any:
        routes = [phase.route(at).astype(int) for at in range(len(phase))]
        left = phase.bandwidth.copy()
        rates, open_ = numpy.zeros(len(phase)), set(range(len(phase)))
        while open_:
            weight = numpy.zeros(len(left))
            for at in open_:
                weight[routes[at]] += phase.weight[at]
            used = weight > 0
            grow = (left[used] / weight[used]).min()
            grow = min([grow, *((phase.limit[at] - rates[at]) / phase.weight[at] for at in open_)])
            for at in open_:
                rates[at] += grow * phase.weight[at]
                left[routes[at]] -= grow * phase.weight[at]
            full = left <= 1e-9 * phase.bandwidth
            open_ = {at for at in open_ if not full[routes[at]].any() and rates[at] < phase.limit[at] * (1 - 1e-12)}
        return rates


def test_equal_share_is_that_of_rust_to_the_bit() -> None:
    for file in ("pcie/four-transfers.yaml", "pcie/all-to-all-t2.yaml", "network/weighted.yaml"):
        own = weir.run(SCENARIOS / file, arbiter=sample.EqualShare)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", weir.ScenarioWarning)
            rust = weir.run(SCENARIOS / file, arbiter="equal-share")
        assert own.makespan_ps == rust.makespan_ps
        assert own.transfers["end_ps"] == rust.transfers["end_ps"]


def test_max_min_is_that_of_rust() -> None:
    """Sums run in another order, so bits may differ: within a picosecond for each of some 10 phases."""
    for file in ("pcie/four-transfers.yaml", "network/weighted.yaml"):
        own = weir.run(SCENARIOS / file, arbiter=MaxMin).transfers["end_ps"]
        rust = weir.run(SCENARIOS / file, arbiter="max-min").transfers["end_ps"]
        assert all(abs(a - b) <= max(10, b * 1e-9) for a, b in zip(own, rust))


def test_a_class_gets_an_object_for_each_run() -> None:
    made = []

    class Counting(sample.EqualShare):
        pure = False

        def __init__(self) -> None:
            made.append(self)

    result = weir.run(FOUR, arbiter=Counting)
    assert len(made) == 1 and result.arbiter == "python-counting"
    weir.run(FOUR, arbiter=Counting())


def test_beside_built_in_ones() -> None:
    compared = weir.compare(FOUR, arbiter=["equal-share", sample.EqualShare()])
    assert compared.ratios == [1.0, 1.0]
    assert compared.titles[0] != compared.titles[1]


def test_a_name_that_is_taken() -> None:
    class Own(sample.EqualShare):
        name = "max-min"

    with pytest.raises(weir.PolicyError, match="max-min"):
        weir.run(FOUR, arbiter=Own)


class Boom(Exception):
    pass


def _answering(answer: Any) -> Any:
    class Answering:
        def allocate(self, phase: weir.Phase) -> Any:
            return answer(phase)

    return Answering


def _raise(phase: weir.Phase) -> Any:
    raise Boom("no rates today")


class Listing:
    """Rates that cannot be had."""

    def tolist(self) -> Any:
        raise ZeroDivisionError("no list")


class Endless:
    """Says that it has four rates, and gives more and more."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, at: int) -> float:
        return 1.0

    def __iter__(self) -> Any:
        return itertools.repeat(1.0)


class Within:
    """Runs what asks it again."""

    def allocate(self, phase: weir.Phase) -> Any:
        return [weir.run(FOUR, arbiter=Within).makespan] * len(phase)


def _forever(phase: weir.Phase) -> Any:
    return _forever(phase)


@pytest.mark.parametrize(
    ("answer", "cause", "says"),
    [
        (_raise, Boom, "no rates today"),
        (lambda p: [1.0], ValueError, "returned 1 rates for 4 transfers"),
        (lambda p: [], ValueError, "returned 0 rates"),
        (lambda p: [1.0] * 5, ValueError, "returned 5 rates"),
        # No memory is taken for what is far too long, or has no end.
        (lambda p: range(10**15), ValueError, "returned 1000000000000000 rates for 4 transfers"),
        (lambda p: numpy.broadcast_to(1.0, 10**12), ValueError, "returned 1000000000000 rates"),
        (lambda p: Endless(), ValueError, "returned 5 rates"),
        (lambda p: [weir.run(FOUR, arbiter=Within).makespan] * 4, weir.PolicyError, "within one another, 16 deep"),
        (lambda p: None, TypeError, "a rate for each transfer"),
        (lambda p: 3.0, TypeError, "a rate for each transfer"),
        (lambda p: "fast", TypeError, "a rate for each transfer"),
        (lambda p: ["1"] * 4, TypeError, "a rate for each transfer"),
        (lambda p: numpy.ones((4, 4)), TypeError, "a rate for each transfer"),
        (lambda p: numpy.ones(4, dtype=complex), TypeError, "a rate for each transfer"),
        (lambda p: (1e9 for _ in range(4)), TypeError, "a rate for each transfer"),
        (lambda p: {i: 1e9 for i in range(4)}, TypeError, "a rate for each transfer"),
        (lambda p: [10**400] * 4, TypeError, "a rate for each transfer"),
        (lambda p: [None] * 4, TypeError, "a rate for each transfer"),
        (lambda p: b"abcd", TypeError, "not bytes of memory"),
        (lambda p: bytearray(b"abcd"), TypeError, "not bytes of memory"),
        (lambda p: memoryview(b"abcd"), TypeError, "not bytes of memory"),
        (lambda p: [True] * 4, TypeError, "not True and False"),
        (lambda p: [1e9, 1e9, 1e9, numpy.True_], TypeError, "not True and False"),
        (lambda p: numpy.ones(4, dtype=bool), TypeError, "not True and False"),
        (lambda p: sys.exit(3), SystemExit, "3"),
        (lambda p: p.route(10**30), OverflowError, ""),
        (lambda p: p.route(-1), OverflowError, ""),
        (lambda p: Listing(), ZeroDivisionError, "no list"),
        (lambda p: _forever(p), RecursionError, "recursion"),
        (lambda p: [float("nan")] * 4, None, "NaN"),
        (lambda p: [float("inf")] * 4, None, "inf"),
        (lambda p: [-1.0] * 4, None, "-1"),
        (lambda p: [1e15] * 4, None, "above its bandwidth"),
        (lambda p: [0.0] * 4, None, ""),
    ],
)
def test_answers_that_are_wrong(answer: Any, cause: Any, says: str) -> None:
    with pytest.raises(weir.WeirError) as caught:
        weir.run(FOUR, arbiter=_answering(answer))
    if cause is not None:
        assert isinstance(caught.value, weir.PolicyError)
        assert isinstance(caught.value.__cause__, cause)
    assert says in str(caught.value)


def test_numbers_of_any_kind_are_rates() -> None:
    for kind in (float, int, numpy.float32, numpy.float64):
        result = weir.run(FOUR, arbiter=_answering(lambda p: [kind(10**9)] * len(p)))
        # 300 MB at 1 GB/s.
        assert result.makespan_ps == 3 * 10**11
    for kind in ("d", "q"):
        whole = array.array(kind, [10**9] * 4)
        for answer in (whole, memoryview(whole), tuple(whole)):
            assert weir.run(FOUR, arbiter=_answering(lambda p: answer[: len(p)])).makespan_ps == 3 * 10**11


def test_views_that_are_kept_stay_as_they_were() -> None:
    kept: list[Any] = []

    class Keeping(sample.EqualShare):
        pure = False

        def allocate(self, phase: weir.Phase) -> list[float]:
            views = (phase.id, phase.limit, phase.links, phase.offsets, phase.bandwidth, phase.arrival_ps)
            kept.append((phase, views, [view.copy() for view in views]))
            return super().allocate(phase)

    for _ in range(20):
        weir.run(FOUR, arbiter=Keeping)
    gc.collect()
    for phase, views, copies in kept:
        assert all((view == copy).all() for view, copy in zip(views, copies))
        assert (phase.links == copies[2]).all() and len(phase) == len(views[0])
    assert len(kept) == 20


def test_a_view_outlives_its_phase_and_its_thread() -> None:
    kept: list[Any] = []

    class Keeping(sample.EqualShare):
        pure = False

        def allocate(self, phase: weir.Phase) -> list[float]:
            kept.append(phase.bandwidth)
            return super().allocate(phase)

    threads = [threading.Thread(target=lambda: weir.run(FOUR, arbiter=Keeping)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert len(kept) == 4 and all(set(view) == {11.6e9} for view in kept)
    view = memoryview(kept[0])
    del kept[:]
    gc.collect()
    assert view.readonly and view[0] == 11.6e9


def test_what_any_of_several_policies_raises_is_the_cause() -> None:
    results = [weir.run(FOUR, arbiter=sample.EqualShare), weir.run(FOUR, arbiter=Once)]
    with pytest.raises(weir.PolicyError) as caught:
        weir.report(FOUR, arbiter=[sample.EqualShare, _answering(_raise)])
    assert isinstance(caught.value.__cause__, Boom)
    # Times alone are asked for after the run; a comparison of results asks again.
    assert weir.compare(*results).ratios[0] == 1.0


class Once(sample.EqualShare):
    name = "once"


def test_arbiters_of_a_library(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    library = tmp_path / "libequal_split.so"
    source = ROOT / "examples" / "plugins" / "c-equal-split" / "equal-split.c"
    include = ROOT / "plugin-api" / "include"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(library)], check=True)
    own = weir.run(FOUR, plugin=library, arbiter="equal-split")
    command = shutil.which("weir", path=str(Path(sys.executable).parent))
    assert command is not None
    said = subprocess.run(
        [command, "run", "--json", "--plugin", str(library), "--arbiter", "equal-split", str(FOUR)],
        check=True, capture_output=True, text=True,
    )
    assert own.to_json() == said.stdout and own.arbiter == "equal-split"
    both = weir.compare(FOUR, plugin=[str(library)], arbiter=["equal-split", sample.EqualShare])
    assert both.makespans_ps[0] == own.makespan_ps
    with pytest.raises(weir.PolicyError, match="missing.so"):
        weir.run(FOUR, plugin="missing.so")
    with pytest.raises(weir.PolicyError):
        weir.run(FOUR, plugin=FOUR)
    with pytest.raises(weir.ScenarioError, match="equal-split"):
        weir.run(FOUR, arbiter="equal-split")


def test_views_cannot_be_written() -> None:
    def write(phase: weir.Phase) -> Any:
        phase.bandwidth[0] = 0.0

    with pytest.raises(weir.PolicyError) as caught:
        weir.run(FOUR, arbiter=_answering(write))
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_phase_says_what_there_is() -> None:
    seen: list[weir.Phase] = []

    class Looking(sample.EqualShare):
        def allocate(self, phase: weir.Phase) -> list[float]:
            seen.append(phase)
            return super().allocate(phase)

    weir.run(
        FOUR,
        arbiter=Looking,
        set={"workload[0].transfer.limit": "1GB/s", "workload[1].transfer.weight": 3, "workload[1].transfer.priority": -2},
    )
    first = seen[0]
    assert first.now_ps == 0 and list(first.id) == [0, 1, 2, 3] and list(first.arrival_ps) == [0] * 4
    assert list(first.limit) == [1e9, numpy.inf, numpy.inf, numpy.inf]
    assert list(first.weight) == [1, 3, 1, 1] and list(first.priority) == [0, -2, 0, 0]
    assert list(first.offsets) == [0, *numpy.cumsum([len(first.route(at)) for at in range(4)])]
    assert set(first.bandwidth) == {11.6e9}
    with pytest.raises(ValueError, match="no transfer 4"):
        first.route(4)


def test_a_policy_may_run_weir_itself() -> None:
    class Nested(sample.EqualShare):
        def allocate(self, phase: weir.Phase) -> list[float]:
            weir.run(FOUR)
            return super().allocate(phase)

    assert weir.run(FOUR, arbiter=Nested).complete


def test_a_rate_below_zero_by_its_sign_alone_is_zero() -> None:
    class Signed:
        def allocate(self, phase: weir.Phase) -> Any:
            rates = numpy.full(len(phase), 1e9)
            rates[0] = 0.0 if len(phase) > 1 else 1e9
            return rates * numpy.where(rates > 0, 1, -1)

    assert weir.run(FOUR, arbiter=Signed).complete


def test_settings_of_one_class_are_compared() -> None:
    class Flat:
        def __init__(self, rate: float = 1e9) -> None:
            self.rate = rate

        def allocate(self, phase: weir.Phase) -> list[float]:
            return [self.rate] * len(phase)

    compared = weir.compare(FOUR, arbiter=[Flat(), Flat(2e9), Flat])
    assert compared.ratios == [1.0, 0.5, 1.0]
    assert [title.split("`")[-2] for title in compared.titles] == ["python-flat", "python-flat-2", "python-flat-3"]


def test_a_sweep_with_a_policy() -> None:
    grid = {"workload[0].transfer.size": ["100MB", "300MB"]}
    own = weir.sweep(FOUR, grid, arbiter=sample.EqualShare)
    rust = weir.sweep(FOUR, grid, arbiter="equal-share")
    assert own["makespan_ps"] == rust["makespan_ps"]
    with pytest.raises(weir.PolicyError) as caught:
        weir.sweep(FOUR, grid, arbiter=_answering(_raise))
    assert isinstance(caught.value.__cause__, Boom)


def test_what_is_no_policy_is_said() -> None:
    class Nothing:
        pass

    for wrong in (Nothing, Nothing(), 3):
        with pytest.raises(TypeError, match="arbiter: give a name, a map or a policy: .* has no method `allocate`"):
            weir.run(FOUR, arbiter=wrong)
    for call in (
        lambda: weir.run(FOUR, arbiter={"name": sample.EqualShare}),
        lambda: weir.Scenario(FOUR, arbiter=sample.EqualShare).to_yaml(),
    ):
        with pytest.raises(TypeError, match=r"arbiter.*give it to `run\(arbiter=…\)`"):
            call()


def test_whether_a_policy_is_pure_is_true_or_false() -> None:
    class Unsure(sample.EqualShare):
        pure = "no"  # type: ignore[assignment]

    with pytest.raises(TypeError, match="pure: give True or False, not str"):
        weir.run(FOUR, arbiter=Unsure)
