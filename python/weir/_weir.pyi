"""The extension module: see the functions of the package, which call it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, SupportsIndex, TypedDict, overload

VERSION: str

class Solution(TypedDict, total=False):
    order: dict[str, list[str]]
    placement: list[str]
    parameters: dict[str, str]

class AskedOfRun(TypedDict):
    until: str | None
    phases: bool
    explanations: bool
    peaks: bool
    jitter: tuple[str, int] | None

class AskedOfSearch(TypedDict):
    vary: Sequence[str]
    method: str | None
    objective: str | None
    exact: bool
    budget: str | None
    candidates: int | None
    seed: int
    shard: tuple[int, int] | None
    timing: bool
    threads: int | None

_Hook = Callable[[int, int], object] | None

class Request:
    def __new__(
        cls,
        file: str | None,
        text: str | None,
        *,
        name: str,
        folder: str,
        set: Sequence[tuple[str, str]],
        arbiters: Sequence[str],
        fidelity: Sequence[str],
        library: str | None,
        plugins: Sequence[str],
        program: str | None,
        policies: Sequence[tuple[str, object, bool]],
    ) -> Request: ...

class Table:
    """Rows of one kind, column by column; read by pandas, polars, pyarrow and DuckDB as it is."""

    @property
    def name(self) -> str:
        """Its name, as the files of ``--export-csv`` have it."""
    @property
    def columns(self) -> list[str]:
        """The names of its columns: quantity and unit."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> dict[str, Any]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, list[Any]]:
        """Each column as a list, by name."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Phase:
    """The active transfers of one instant, in the order in which rates are returned.

    Columns are NumPy arrays where NumPy is installed, else ``memoryview``, and cannot be written.
    One that is kept keeps its numbers.
    """

    @property
    def now_ps(self) -> int:
        """The instant for which rates are asked, picoseconds."""
    def __len__(self) -> int: ...
    @property
    def id(self) -> Any:
        """Per transfer: its number in the run, ascending."""
    @property
    def arrival_ps(self) -> Any:
        """Per transfer: when it began to wait for rates, picoseconds."""
    @property
    def limit(self) -> Any:
        """Per transfer: its largest rate, bytes per second; infinite where none is set."""
    @property
    def weight(self) -> Any:
        """Per transfer: its weight, above 0; 1 by default."""
    @property
    def priority(self) -> Any:
        """Per transfer: its priority, larger is served first; 0 by default."""
    @property
    def offsets(self) -> Any:
        """Where the route of each transfer begins in ``links``, and one entry more."""
    @property
    def links(self) -> Any:
        """The links of all routes, one after the other: places in ``bandwidth``."""
    @property
    def bandwidth(self) -> Any:
        """Per link of the fabric: its bandwidth, bytes per second."""
    def route(self, place: int) -> Any:
        """The links of a transfer, by its place in the phase."""

class Run:
    makespan: float
    makespan_ps: int
    complete: bool
    arbiter: str
    scenario: str
    fingerprint: int
    transfers: Table
    links: Table
    operations: Table
    has_phases: bool
    stopped_at: float
    phases: Table
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...
    def explanation(self) -> str: ...
    def tree(self) -> str: ...

class Comparison:
    titles: list[str]
    makespans_ps: list[int | None]
    ratios: list[float | None]
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...

class Search:
    baseline: float | None
    best: float
    makespans_ps: tuple[int | None, int] | None
    objective: str
    is_time: bool
    proved_optimal: bool
    complete: bool
    solution: Solution
    def table(self, name: str) -> Table: ...
    def part(self) -> str | None: ...
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...

class WhatIf:
    makespan_ps: int
    changes: list[tuple[str, float | None, int, float]]
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...

def after_fork() -> None: ...
def at_exit() -> None: ...
def command(arguments: Sequence[str], program: str | None) -> int: ...
def check(request: Request) -> list[str]: ...
def expand(request: Request) -> str: ...
def run(request: Request, asked: AskedOfRun, all: bool, progress: _Hook) -> list[Run]: ...
def compare(of: Sequence[Run | tuple[str, str]]) -> Comparison: ...
def saved(file: str) -> str | None: ...
def optimize(
    request: Request, asked: AskedOfSearch, edit: tuple[str, str] | None, progress: _Hook
) -> Search: ...
def merge(parts: Sequence[str]) -> Search: ...
def what_if(
    request: Request, links: bool, costs: Sequence[tuple[str, float]], progress: _Hook
) -> WhatIf: ...
def import_topology(
    file: str, format: str | None, raw: bool, add: str | None
) -> tuple[str, str]: ...
def calibrate(
    request: Request, logs: Sequence[str], per_link: bool, hold_out: float
) -> tuple[str, str, str]: ...
def validate(
    request: Request, measured: str, group: str | None, since: str, histogram: bool
) -> tuple[str, str, str]: ...
def page(
    of: Sequence[Request | Run | tuple[str, str]], until: str | None, pictures: bool
) -> tuple[bytes, dict[str, str]]: ...
def save(file: str, content: bytes) -> None: ...
