"""Results: what happened, as numbers, tables, text and pictures."""

from __future__ import annotations

import html
import importlib
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _weir

if TYPE_CHECKING:
    from ._weir import Table

_PS_PER_S = 10**12


class _Text:
    """What the command prints, as the text of an object."""

    def to_text(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.to_text())}</pre>"


class Result(_Text):
    """What happened when a scenario ran under an arbiter.

    The tables give themselves to other libraries by ``__arrow_c_stream__``: ``pandas.DataFrame.
    from_arrow(result.transfers)``, ``polars.DataFrame(result.transfers)``, ``pyarrow.table(…)``, or by
    name in a query of DuckDB. Their columns are those of ``--export-csv``. Each is made when it is
    first asked for, and kept.
    """

    def __init__(self, run: _weir.Run) -> None:
        self._run = run

    @property
    def makespan(self) -> float:
        """When everything has ended, seconds.

        After ``until``: when all that has ended by then had ended; look at :attr:`complete`.
        """
        return self._run.makespan

    @property
    def makespan_ps(self) -> int:
        """The same in picoseconds, exact."""
        return self._run.makespan_ps

    @property
    def complete(self) -> bool:
        """Whether everything has ended: false after ``until``."""
        return self._run.complete

    @property
    def scenario(self) -> str:
        """The name of the scenario."""
        return self._run.scenario

    @property
    def arbiter(self) -> str:
        """The name of the arbiter."""
        return self._run.arbiter

    @property
    def fingerprint(self) -> int:
        """A digest of all events: equal where two runs had the same events at the same times."""
        return self._run.fingerprint

    @cached_property
    def transfers(self) -> Table:
        """A row for each transfer."""
        return self._run.transfers

    @cached_property
    def links(self) -> Table:
        """A row for each link that carried bytes."""
        return self._run.links

    @cached_property
    def operations(self) -> Table:
        """A row for each operation that is no plain transfer."""
        return self._run.operations

    @cached_property
    def phases(self) -> Table:
        """A row for each phase and transfer that was active in it; of runs with ``phases=True``, not of
        those that go packet by packet."""
        if not self._run.has_phases:
            raise ValueError(
                "this run recorded no phases: run it with `phases=True`; one that goes packet by packet has none"
            )
        return self._run.phases

    def to_json(self) -> str:
        """The line that ``weir run --json`` prints; with phases, where they were recorded."""
        return self._run.to_json()

    def to_text(self) -> str:
        """What ``weir run`` prints."""
        return self._run.to_text()

    def __repr__(self) -> str:
        state = "" if self.complete else ", not complete"
        return f"<weir.Result {self.scenario!r} under {self.arbiter}: {self.makespan} s{state}>"

    def _repr_html_(self) -> str:
        tree = html.escape(self._run.tree())
        return f"{super()._repr_html_()}<details><summary>topology</summary><pre>{tree}</pre></details>"

    def plot_timeline(self, ax: Any = None) -> Any:
        """When each transfer was sent, a bar each, on axes of matplotlib."""
        ax = _axes(ax)
        table = self.transfers.to_dict()
        rows = zip(table["id"], table["start_s"], table["end_s"], table["cause"])
        # What has not ended is under way until the run stops.
        sent = [(*row[:2], self._run.stopped_at if row[2] is None else row[2], row[3]) for row in rows if row[1] is not None]
        causes = sorted({_kind(cause) for *_, cause in sent})
        for place, cause in enumerate(causes):
            bars = [(at, row) for at, row in enumerate(sent) if _kind(row[3]) == cause]
            widths = [row[2] - row[1] for _, row in bars]
            ax.barh(
                [at for at, _ in bars], widths, left=[row[1] for _, row in bars], label=cause, color=f"C{place % 10}"
            )
        if len(sent) <= _MOST_NAMES:
            ax.set_yticks(range(len(sent)), [_plain(row[0]) for row in sent])
        _downwards(ax)
        ax.set(xlabel="time / s", title=_plain(f"{self.scenario}, {self.arbiter}"))
        if causes:
            ax.legend()
        return ax

    def plot_links(self, ax: Any = None, most: int = 20) -> Any:
        """The utilisation of the busiest links, a bar each, on axes of matplotlib."""
        ax = _axes(ax)
        table = self.links.to_dict()
        rows = zip(table["from"], table["to"], table["utilisation"])
        busy = sorted(((u or 0.0, _plain(f"{a} → {b}")) for a, b, u in rows), key=lambda row: -row[0])[:most]
        ax.barh([name for _, name in busy], [100 * share for share, _ in busy])
        _downwards(ax)
        ax.set(xlabel="utilisation / %", title=_plain(f"{self.scenario}, {self.arbiter}"))
        return ax


def _downwards(ax: Any) -> None:
    """The first row on top, also on axes that have a picture."""
    if not ax.yaxis_inverted():
        ax.invert_yaxis()


# Rows that can be named on an axis; assumed, of a picture as matplotlib makes it by default.
_MOST_NAMES = 40


def _kind(cause: str | None) -> str:
    """A cause without what is behind it, and without the region in brackets."""
    if cause is None:
        return "not held back"
    cause = re.sub(r" \([^()]*: [^()]*\)$", "", cause)
    if cause.endswith(" has a higher priority"):
        return "others have a higher priority"
    return _plain(re.split(" by | with | behind | for ", cause)[0])


def _plain(text: str) -> str:
    """A text that matplotlib shows as it is."""
    return text.replace("$", r"\$")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from error
    return pyplot.subplots()[1]


class Comparison(_Text):
    """Runs side by side; the first is the baseline."""

    def __init__(self, comparison: _weir.Comparison) -> None:
        self._comparison = comparison

    @property
    def titles(self) -> list[str]:
        """What is compared."""
        return self._comparison.titles

    @property
    def makespans(self) -> list[float | None]:
        """The makespan of each, seconds; none of a run that is not complete."""
        return [None if ps is None else ps / _PS_PER_S for ps in self._comparison.makespans_ps]

    @property
    def makespans_ps(self) -> list[int | None]:
        """The same in picoseconds, exact."""
        return self._comparison.makespans_ps

    @property
    def ratios(self) -> list[float | None]:
        """The makespan of each over that of the first."""
        return self._comparison.ratios

    def to_json(self) -> str:
        """The line that ``weir compare --json`` prints."""
        return self._comparison.to_json()

    def to_text(self) -> str:
        """What ``weir compare`` prints."""
        return self._comparison.to_text()


class Search(_Text):
    """What a search found."""

    def __init__(self, search: _weir.Search) -> None:
        self._search = search

    @property
    def baseline_ps(self) -> int | None:
        """The makespan of the baseline, picoseconds; none where it is not known."""
        both = self._search.makespans_ps
        return None if both is None else both[0]

    @property
    def best_ps(self) -> int | None:
        """The makespan of the best, picoseconds; none where it is not known."""
        both = self._search.makespans_ps
        return None if both is None else both[1]

    @property
    def baseline(self) -> float | None:
        """The baseline, by the objective; of times, seconds. None where it stops before its end."""
        baseline = self._search.baseline
        return None if baseline is None else self._in_seconds(baseline)

    @property
    def best(self) -> float:
        """The best, by the objective; of times, seconds."""
        return self._in_seconds(self._search.best)

    def _in_seconds(self, value: float) -> float:
        return value / _PS_PER_S if self._search.is_time else value

    @property
    def objective(self) -> str:
        """By what candidates were compared, such as ``makespan``."""
        return self._search.objective

    @property
    def solution(self) -> _weir.Solution:
        """Of what varied: the `order` in which each device sends, the `placement` (the device of each rank), and `parameters`
        by their path."""
        return self._search.solution

    @property
    def proved_optimal(self) -> bool:
        """Whether nothing can be better."""
        return self._search.proved_optimal

    @property
    def complete(self) -> bool:
        """Whether the search came to its end."""
        return self._search.complete

    def table(self, name: str) -> Table:
        """A table of ``weir optimize --export-csv``, such as ``candidates``."""
        return self._search.table(name)

    def to_json(self) -> str:
        """The line that ``weir optimize --json`` prints."""
        return self._search.to_json()

    def to_text(self) -> str:
        """What ``weir optimize`` prints."""
        return self._search.to_text()


class Change(NamedTuple):
    """A change of the topology, and what it saves."""

    of: str
    """What is changed: the path of a link type or memory, devices, or the two nodes of a link."""
    factor: float | None
    """By which factor; none for no limit, and for one engine more."""
    makespan_ps: int
    """The makespan then, picoseconds."""
    saved_percent: float
    """What is saved of the makespan."""


class WhatIf(_Text):
    """What changes of a topology would save."""

    def __init__(self, found: _weir.WhatIf) -> None:
        self._found = found

    @property
    def makespan_ps(self) -> int:
        """The makespan without a change, picoseconds."""
        return self._found.makespan_ps

    @property
    def changes(self) -> list[Change]:
        """The changes, the best first."""
        return [Change(*change) for change in self._found.changes]

    def to_json(self) -> str:
        """The line that ``weir whatif --json`` prints."""
        return self._found.to_json()

    def to_text(self) -> str:
        """What ``weir whatif`` prints."""
        return self._found.to_text()
