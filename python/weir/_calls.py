"""What the package does: each function reads scenarios and calls the library once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

from . import _weir
from ._build import Scenario, Topology
from ._policy import is_policy, name_of
from ._progress import Hook, Progress
from ._results import Comparison, Result, Search, WhatIf
from ._yaml import dump, flow, quoted

Source = Union[str, "os.PathLike[str]", Mapping[str, Any], Scenario, Topology]
"""A file, or a scenario as a dict or as a :class:`Scenario`."""
Paths = Mapping[str, Any]
"""Values by their path in the scenario: ``{"workload[0].transfer.size": "1GB"}``."""


Kind = Literal["order", "placement", "parameters"]
"""What a search varies."""


class Reading(TypedDict, total=False):
    """How every function here reads a scenario."""

    set: Paths | None
    """Values to change before it is read, as ``--set``: text is YAML, such as ``"4MB"``."""
    arbiter: Any
    """In place of the scenario's: a name, a map, a policy in Python, or a list of these."""
    fidelity: str | Mapping[str, Any] | Sequence[Any] | None
    """In place of the scenario's: ``"fluid"``, ``"packet"``, or a map."""
    library: str | os.PathLike[str] | None
    """The folder in which files that the scenario names may lie."""
    folder: str | os.PathLike[str] | None
    """From where a scenario that is no file names others; by default the current folder."""


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _request(
    source: Source,
    *,
    set: Paths | None = None,
    arbiter: Any = None,
    fidelity: Any = None,
    library: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> _weir.Request:
    arbiters: list[str] = []
    policies: list[tuple[str, object, bool]] = []
    for each in _listed(arbiter):
        if is_policy(each):
            policies.append((name_of(each), each, bool(getattr(each, "pure", False))))
            arbiters.append(quoted(policies[-1][0], "arbiter"))
        else:
            arbiters.append(flow(each, "arbiter"))
    if isinstance(source, (Scenario, Topology)):
        file, text, name = None, source.to_yaml(), f"<{type(source).__name__}>"
    elif isinstance(source, Mapping):
        file, text, name = None, dump(source), "<dict>"
    elif isinstance(source, (str, os.PathLike)):
        file, text, name = os.fspath(source), None, ""
    else:
        raise TypeError(f"a scenario is a file, a dict or a weir.Scenario, not {type(source).__name__}")
    return _weir.Request(
        file,
        text,
        name=name,
        folder=os.fspath(folder) if folder is not None else os.curdir,
        set=[(path, flow(value, path)) for path, value in (set or {}).items()],
        arbiters=arbiters,
        fidelity=[flow(each, "fidelity") for each in _listed(fidelity)],
        library=None if library is None else os.fspath(library),
        policies=policies,
    )


def _asked(
    until: str | None, phases: bool, explanations: bool, peaks: bool, jitter: str | None, seeds: int
) -> _weir.AskedOfRun:
    return {
        "until": until,
        "phases": phases,
        "explanations": explanations,
        "peaks": peaks,
        "jitter": None if jitter is None else (jitter, seeds),
    }


def run(
    source: Source,
    *,
    set: Paths | None = None,
    arbiter: Any = None,
    fidelity: Any = None,
    until: str | None = None,
    phases: bool = False,
    peaks: bool = False,
    jitter: str | None = None,
    seeds: int = 8,
    library: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | Hook | None = None,
) -> Result:
    """Runs a scenario under its first arbiter, or under ``arbiter``; see :class:`Reading`.

    ``until`` stops at a simulated time such as ``"10ms"``; the result is not complete then.
    ``phases`` records the intervals of constant rates, ``peaks`` the peak load of each link of a
    large run, too. ``jitter`` runs again with ``seeds`` random delays below it.

    Raises ``ScenarioError`` where the scenario is wrong, ``RunError`` where it cannot end, and
    ``PolicyError`` where its arbiter fails.
    """
    request = _request(
        source, set=set, arbiter=arbiter, fidelity=fidelity, library=library, folder=folder
    )
    with Progress(progress, "run") as hook:
        return Result(_weir.run(request, _asked(until, phases, False, peaks, jitter, seeds), hook))


def run_all(
    source: Source,
    *,
    set: Paths | None = None,
    arbiter: Any = None,
    fidelity: Any = None,
    until: str | None = None,
    phases: bool = False,
    peaks: bool = False,
    jitter: str | None = None,
    seeds: int = 8,
    library: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | Hook | None = None,
) -> list[Result]:
    """As :func:`run`, under each arbiter and fidelity that the scenario names."""
    request = _request(
        source, set=set, arbiter=arbiter, fidelity=fidelity, library=library, folder=folder
    )
    with Progress(progress, "runs") as hook:
        asked = _asked(until, phases, False, peaks, jitter, seeds)
        return [Result(each) for each in _weir.run_all(request, asked, hook)]


def compare(*of: Union[Source, Result], **reading: Any) -> Comparison:
    """Results side by side, the first is the baseline: of scenarios under each of their arbiters,
    and of results that there are already."""
    results: list[Result] = []
    for each in of:
        results += [each] if isinstance(each, Result) else run_all(each, **reading)
    if not results:
        raise TypeError("compare needs at least one scenario or result")
    return Comparison(_weir.compare([each._run for each in results]))


def explain(source: Source, *, until: str | None = None, **reading: Any) -> str:
    """Phase by phase, why transfers have their rates: what ``weir explain`` prints."""
    with Progress(None, "run") as hook:
        asked = _asked(until, False, True, False, None, 1)
        return _weir.run(_request(source, **reading), asked, hook).explanation()


def check(source: Source, **reading: Any) -> list[str]:
    """What looks wrong with a scenario or topology, without a run; what is wrong is raised."""
    return [text.removeprefix("warning: ") for text in _weir.check(_request(source, **reading))]


def _search(
    vary: str | Sequence[str] | None = None,
    method: str | None = None,
    objective: str | None = None,
    exact: bool = False,
    budget: str | None = None,
    candidates: int | None = None,
    seed: int = 0,
    shard: tuple[int, int] | None = None,
    timing: bool = True,
    threads: int | None = None,
) -> _weir.AskedOfSearch:
    return {
        "vary": [str(word) for word in _listed(vary)],
        "method": method,
        "objective": objective,
        "exact": exact,
        "budget": budget,
        "candidates": candidates,
        "seed": seed,
        "shard": shard,
        "timing": timing,
        "threads": threads,
    }


def optimize(
    source: Source,
    *,
    vary: Kind | Sequence[Kind] | None = None,
    method: str | None = None,
    objective: str | None = None,
    exact: bool = False,
    budget: str | None = None,
    candidates: int | None = None,
    seed: int = 0,
    timing: bool = True,
    threads: int | None = None,
    progress: bool | Hook | None = None,
    **reading: Any,
) -> Search:
    """The best send order, placement or parameters, as ``weir optimize`` finds it; of several
    together where ``vary`` is a list. Local search simulates ``candidates``, chosen by ``seed``.

    What is not said here is as the scenario's ``optimize`` says.
    """
    asked = _search(
        vary, method, objective, exact, budget, candidates, seed, timing=timing, threads=threads
    )
    with Progress(progress, "search") as hook:
        return Search(_weir.optimize(_request(source, **reading), asked, None, hook))


def whatif(
    source: Source,
    *,
    links: bool = False,
    costs: Mapping[str, float] | None = None,
    progress: bool | Hook | None = None,
    **reading: Any,
) -> WhatIf:
    """What wider links, shorter latencies and more engines would save, the best first."""
    with Progress(progress, "changes") as hook:
        weights = [(name, float(cost)) for name, cost in (costs or {}).items()]
        return WhatIf(_weir.what_if(_request(source, **reading), links, weights, hook))


def sweep(
    source: Source,
    grid: Mapping[str, Sequence[Any]],
    *,
    client: Any = None,
    threads: int | None = None,
    progress: bool | Hook | None = None,
    **reading: Any,
) -> _weir.Table:
    """The makespan at each point of a grid, on all cores: a table with a row for each point.

    ``grid`` has values by the path of what they replace: ``{"arbiter.tau": [0.1, 0.2]}``. The last
    path varies fastest. With a ``client`` of Dask, its workers take a part each, and the result is
    the same; files must lie where the workers find them. The makespans are those of ``weir
    optimize`` with ``vary: parameters``, phase by phase.
    """
    edit = ("optimize", flow({"vary": "parameters", "parameters": _axes(grid)}, "optimize"))
    if client is not None:
        return _merged(client, source, edit, reading).table("candidates")
    asked = _search("parameters", method="exhaustive", timing=False, threads=threads)
    with Progress(progress, "points") as hook:
        return _weir.optimize(_request(source, **reading), asked, edit, hook).table("candidates")


def _axes(grid: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    for path, values in grid.items():
        if isinstance(values, (str, Mapping)) or not hasattr(values, "__iter__"):
            raise TypeError(f"{path}: give a list of values, not {type(values).__name__}")
    return {path: list(values) for path, values in grid.items()}


def _part(source: Any, edit: tuple[str, str], shard: tuple[int, int], reading: dict[str, Any]) -> str:
    """A part of a sweep, on a worker, which has one thread for it."""
    asked = _search("parameters", method="exhaustive", shard=shard, timing=False, threads=1)
    part = _weir.optimize(_request(source, **reading), asked, edit, None).part()
    assert part is not None, "a search that is split gives parts"
    return part


def _merged(client: Any, source: Source, edit: tuple[str, str], reading: dict[str, Any]) -> _weir.Search:
    if not hasattr(client, "submit"):
        raise TypeError(f"client: {type(client).__name__} has no `submit`: give a dask.distributed.Client")
    threads = sum(client.ncores().values())
    if threads == 0:
        raise ValueError("client: the cluster has no workers")
    sent = os.path.abspath(source) if isinstance(source, (str, os.PathLike)) else source
    shards = ((index, threads) for index in range(1, threads + 1))
    futures = [client.submit(_part, sent, edit, shard, reading, pure=False) for shard in shards]
    return _weir.merge(client.gather(futures))
