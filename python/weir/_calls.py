"""What the package does: each function reads scenarios and calls the library once."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

from . import _weir
from ._arguments import _count, _flag, _listed, _map, _number, _path, _some, _text, _used
from ._build import Scenario, Topology
from ._command import program
from ._errors import ScenarioError, ScenarioWarning, warn
from ._policy import is_policy, name_of
from ._progress import Hook, Progress
from ._results import Comparison, Result, Search, WhatIf
from ._yaml import dump, element, flow, quoted

if TYPE_CHECKING:
    from typing_extensions import Unpack

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
    plugin: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
    """Libraries with further arbiters and models, as ``--plugin``; ``arbiter`` names them."""
    library: str | os.PathLike[str] | None
    """The folder in which files that the scenario names may lie."""
    folder: str | os.PathLike[str] | None
    """From where a scenario that is no file names others; by default the current folder."""


class Running(Reading, total=False):
    """How :func:`run` and :func:`run_all` run a scenario."""

    until: str | None
    """Stop at this simulated time, such as ``"10ms"``; the result is not complete then."""
    phases: bool
    """Record the intervals of constant rates."""
    peaks: bool
    """Record the peak load of each link, of large runs, too."""
    jitter: str | None
    """Run again with random delays of transfers below this time."""
    seeds: int
    """So many times; 8 by default."""
    progress: bool | Hook | None
    """Whether tqdm shows progress, or a function that hears of it."""


def _only(options: Mapping[str, Any], known: type) -> None:
    """Refuses options that a function does not have."""
    names = [*Reading.__annotations__, *(known.__annotations__ if known is not Reading else ())]
    names = list(dict.fromkeys(names))
    for option in options:
        if option not in names:
            raise TypeError(f"no option {option!r}: there are {', '.join(names)}")


def _request(
    source: Source,
    *,
    set: Paths | None = None,
    arbiter: Any = None,
    fidelity: Any = None,
    plugin: Any = None,
    library: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    **unknown: Any,
) -> _weir.Request:
    _only(unknown, Reading)
    set = _map("set", set, "values by their path")
    arbiters: list[str] = []
    policies: list[tuple[str, object, bool]] = []
    for each in _some("arbiter", arbiter):
        if is_policy(each):
            name, others = name_of(each), [name for name, *_ in policies]
            # Of one class with other settings, each has a name of its own.
            names = (name, *(f"{name}-{number}" for number in range(2, len(others) + 3)))
            name = next(name for name in names if name not in others)
            policies.append((name, each, _flag("pure", getattr(each, "pure", False))))
            arbiters.append(quoted(policies[-1][0], "arbiter"))
        elif isinstance(each, (str, Mapping)):
            arbiters.append(flow(each, "arbiter"))
        else:
            what = each.__name__ if isinstance(each, type) else type(each).__name__
            raise TypeError(f"arbiter: give a name, a map or a policy: {what} has no method `allocate`")
    file: str | None
    text: str | None
    if isinstance(source, (Scenario, Topology)):
        file, text, name = None, source.to_yaml(), f"<{type(source).__name__}>"
    elif isinstance(source, Mapping):
        file, text, name = None, dump(source), "<dict>"
    elif isinstance(source, (str, os.PathLike)):
        path = _path("a scenario", source)
        file, text, name = path, None, ""
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            # Python's own reading of a pipe ends with Ctrl-C.
            folder = os.path.dirname(path) if folder is None else folder
            file, text, name = None, _read(path), path
    else:
        raise TypeError(f"a scenario is a file, a dict or a weir.Scenario, not {type(source).__name__}")
    return _weir.Request(
        file,
        text,
        name=name,
        folder=_path("folder", folder) if folder else os.curdir,
        set=[(path, _set(path, value)) for path, value in set.items()],
        arbiters=arbiters,
        fidelity=[flow(each, "fidelity") for each in _some("fidelity", fidelity)],
        library=None if library is None else _path("library", library),
        plugins=[_path("plugin", file) for file in _listed(plugin)],
        program=program() if plugin else None,
        policies=policies,
    )


def _set(path: str, value: Any) -> str:
    if value is None:
        raise TypeError(f"set: give `{path}` a value: None is none")
    return flow(value, path)


def _read(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as pipe:
            return pipe.read()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{file}: not text in UTF-8 ({error})") from None


# As many as the command has.
_SEEDS = 8


def _runs(
    source: Source,
    *,
    all: bool,
    until: str | None = None,
    phases: bool = False,
    explanations: bool = False,
    peaks: bool = False,
    jitter: str | None = None,
    seeds: int | None = None,
    progress: bool | Hook | None = None,
    **reading: Unpack[Reading],
) -> list[_weir.Run]:
    """Runs under the first arbiter, or under all."""
    count = _count("seeds", seeds, least=1)
    if count is not None and jitter is None:
        raise ScenarioError("seeds: these are of runs with random delays: give `jitter`, too")
    asked: _weir.AskedOfRun = {
        "until": _text("until", until),
        "phases": _flag("phases", phases),
        "explanations": explanations,
        "peaks": _flag("peaks", peaks),
        "jitter": None if jitter is None else (_text("jitter", jitter) or "", _SEEDS if count is None else count),
    }
    request = _request(source, **reading)
    with Progress(progress, "runs" if all else "run") as hook:
        return _weir.run(request, asked, all, hook)


def run(source: Source, **options: Unpack[Running]) -> Result:
    """Runs a scenario under its first arbiter, or under ``arbiter``.

    Options, of reading: ``set`` (values by their path), ``arbiter``, ``fidelity``, ``plugin``,
    ``library``, ``folder``; see :class:`Reading`. Of the run: ``until`` (stops at a simulated time such
    as ``"10ms"``; the result is not complete then), ``phases`` (records the intervals of constant
    rates), ``peaks`` (records the peak load of each link of a large run, too), ``jitter`` (runs again
    with ``seeds`` random delays below it), ``progress``; see :class:`Running`.

    Raises ``ScenarioError`` where the scenario is wrong, ``RunError`` where it cannot end, and
    ``PolicyError`` where its arbiter fails.
    """
    _only(options, Running)
    return Result(_runs(source, all=False, **options)[0])


def run_all(source: Source, **options: Unpack[Running]) -> list[Result]:
    """As :func:`run`, under each arbiter and fidelity that the scenario names."""
    _only(options, Running)
    return [Result(each) for each in _runs(source, all=True, **options)]


def compare(*of: Union[Source, Result], **reading: Unpack[Reading]) -> Comparison:
    """Results side by side, the first is the baseline: of scenarios under each of their arbiters,
    of results that there are already, and of files that ``weir run --json`` has saved."""
    _only(reading, Reading)
    columns: list[_weir.Run | tuple[str, str]] = []
    run = False
    for each in of:
        if isinstance(each, Result):
            columns.append(each._run)
        elif isinstance(each, (str, os.PathLike)) and (text := saved(each)) is not None:
            columns.append((os.fspath(each), text))
        else:
            run = True
            columns += _runs(each, all=True, **reading)
    if not columns:
        raise TypeError("compare needs at least one scenario or result")
    _used(reading, run)
    return Comparison(_weir.compare(columns))


def saved(file: str | os.PathLike[str]) -> str | None:
    """The text of a file with results that weir has saved as JSON; none of anything else."""
    return _weir.saved(_path("a scenario", file))


def explain(source: Source, *, until: str | None = None, **reading: Unpack[Reading]) -> str:
    """Phase by phase, why transfers have their rates: what ``weir explain`` prints."""
    _only(reading, Reading)
    return _runs(source, all=False, until=until, explanations=True, **reading)[0].explanation()


def check(source: Source, **reading: Unpack[Reading]) -> list[str]:
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
        "vary": [_text("vary", word) or "" for word in _listed(vary)],
        "method": _text("method", method),
        "objective": _text("objective", objective),
        "exact": _flag("exact", exact),
        "budget": _text("budget", budget),
        "candidates": _count("candidates", candidates, 64),
        "seed": _count("seed", seed, 64) or 0,
        "shard": shard,
        "timing": _flag("timing", timing),
        "threads": _count("threads", threads),
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
    **reading: Unpack[Reading],
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
    **reading: Unpack[Reading],
) -> WhatIf:
    """What wider links, shorter latencies and more engines would save, the best first."""
    with Progress(progress, "changes") as hook:
        weights = [
            (name, _number(f"costs[{name!r}]", cost)) for name, cost in _map("costs", costs, "costs by name").items()
        ]
        return WhatIf(_weir.what_if(_request(source, **reading), _flag("links", links), weights, hook))


def sweep(
    source: Source,
    grid: Mapping[str, Iterable[Any]],
    *,
    client: Any = None,
    threads: int | None = None,
    progress: bool | Hook | None = None,
    **reading: Unpack[Reading],
) -> _weir.Table:
    """The makespan at each point of a grid, on all cores: a table with a row for each point.

    ``grid`` has values by the path of what they replace: ``{"arbiter.tau": [0.1, 0.2]}``. The last
    path varies fastest. With a ``client``, the workers of a cluster take a part each, and the result is
    the same; files must lie where the workers find them. It is a ``dask.distributed.Client``, or the
    module ``ray`` after ``ray.init()``; it decides on threads and shows no progress. The makespans are
    those of ``weir optimize`` with ``vary: parameters``.
    """
    edit = ("optimize", f"{{vary: parameters, parameters: {{{_axes(grid)}}}}}")
    if client is not None:
        for name, value in (("threads", threads), ("progress", progress)):
            if value is not None and value is not False:
                raise ScenarioError(f"{name}: the workers of a `client` take no such option: leave one of both out")
        return _merged(client, source, edit, reading).table("candidates")
    asked = _search("parameters", method="exhaustive", timing=False, threads=threads)
    with Progress(progress, "points") as hook:
        return _weir.optimize(_request(source, **reading), asked, edit, hook).table("candidates")


def _axes(grid: Mapping[str, Iterable[Any]]) -> str:
    """The paths with their values, as the inside of a map."""
    axes = []
    if not _map("grid", grid, "lists of values by their path"):
        raise ScenarioError("grid: give lists of values by their path, such as {'arbiter.tau': [0.1, 0.2]}")
    for path, values in grid.items():
        if isinstance(values, (str, Mapping)) or not hasattr(values, "__iter__"):
            raise TypeError(f"{path}: give a list of values, not {type(values).__name__}")
        listed = ", ".join(element(value, f"{path}[{at}]") for at, value in enumerate(values))
        axes.append(f"{quoted(path, 'a path')}: [{listed}]")
    return ", ".join(axes)


def _part(
    source: Any, edit: tuple[str, str], shard: tuple[int, int], reading: Reading
) -> tuple[str, list[str]]:
    """A part of a sweep, on a worker, which has one thread for it, and what it warns of."""
    asked = _search("parameters", method="exhaustive", shard=shard, timing=False, threads=1)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        part = _weir.optimize(_request(source, **reading), asked, edit, None).part()
    assert part is not None, "a search that is split gives parts"
    return part, [str(each.message) for each in warned if issubclass(each.category, ScenarioWarning)]


def _merged(client: Any, source: Source, edit: tuple[str, str], reading: Reading) -> _weir.Search:
    # Workers have folders of their own.
    sent = os.path.abspath(_path("a scenario", source)) if isinstance(source, (str, os.PathLike)) else source
    reading = {**reading, "folder": reading.get("folder") or os.curdir}
    for key in ("library", "folder"):
        if reading.get(key) is not None:
            reading = {**reading, key: os.path.abspath(reading[key])}  # type: ignore[misc]
    if reading.get("plugin"):
        reading = {**reading, "plugin": [os.path.abspath(file) for file in _listed(reading["plugin"])]}
    if hasattr(client, "submit") and hasattr(client, "ncores"):
        count = sum(client.ncores().values())
        start = functools.partial(client.submit, _part, pure=False)
        gather = client.gather
    elif hasattr(client, "remote") and hasattr(client, "cluster_resources"):
        count = int(client.cluster_resources().get("CPU", 0))
        start = client.remote(num_cpus=1)(_part).remote
        gather = client.get
    else:
        raise TypeError(
            f"client: {type(client).__name__} is neither a dask.distributed.Client nor the module ray"
        )
    if count == 0:
        raise ValueError("client: the cluster has no workers")
    # Wrong options are told here, once.
    _request(source if isinstance(source, (Scenario, Topology, Mapping)) else {}, **reading)
    shards = ((index, count) for index in range(1, count + 1))
    parts = gather([start(sent, edit, shard, reading) for shard in shards])
    for text in dict.fromkeys(text for _, texts in parts for text in texts):
        warn(text)
    return _weir.merge([part for part, _ in parts])
