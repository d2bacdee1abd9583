"""Dumps of machines, measurements, and the page of ``weir report``."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import warnings
import webbrowser
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _weir
from ._arguments import _flag, _number, _path, _text, _used
from ._calls import Reading, Source, _only, _request, saved
from ._results import Result, _Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

File = Union[str, "os.PathLike[str]"]


class ImportedTopology(_Text):
    """A topology that was made of a dump of a machine."""

    def __init__(self, yaml: str, summary: str) -> None:
        self.yaml = yaml
        """The topology, with the arbiters for it as a comment on top."""
        self.summary = summary
        """What was found and what was assumed."""

    def to_text(self) -> str:
        """What ``weir import`` prints."""
        return self.summary

    def save(self, file: File) -> None:
        """Writes the topology: a scenario names it by ``topology:``."""
        _weir.save(_path("file", file), self.yaml.encode())


class Calibration(_Text):
    """Values of a topology that fit measurements."""

    def __init__(self, yaml: str, text: str, json: str) -> None:
        self.yaml = yaml
        """The topology with these values."""
        self._text, self._json = text, json

    def to_text(self) -> str:
        """What ``weir calibrate`` prints."""
        return self._text

    def to_json(self) -> str:
        """What ``weir calibrate --json`` prints."""
        return self._json

    def save(self, file: File) -> None:
        """Writes the topology with these values."""
        _weir.save(_path("file", file), self.yaml.encode())


class Validation(_Text):
    """Measured times beside simulated ones."""

    def __init__(self, text: str, json: str, csv: str) -> None:
        self._text, self._json = text, json
        self.csv = csv
        """What ``weir validate --csv`` writes."""

    def to_text(self) -> str:
        """What ``weir validate`` prints."""
        return self._text

    def to_json(self) -> str:
        """What ``weir validate --json`` prints."""
        return self._json


class Page:
    """One HTML file that needs no network."""

    def __init__(self, content: bytes, pictures: dict[str, str], drawn: bool = False) -> None:
        self._drawn = drawn
        self.html = content
        """The file."""
        self.pictures = pictures
        """The pictures by the names of their files, as SVG; none unless they were asked for."""

    def save(self, file: File) -> None:
        """Writes the page; the file is whole or not there."""
        _weir.save(_path("file", file), self.html)

    def save_pictures(self, folder: File) -> None:
        """Writes the pictures into a folder, which is made where there is none."""
        if not self._drawn:
            raise ValueError("this page has no pictures: make it with `pictures=True`")
        folder = _path("folder", folder)
        os.makedirs(folder, exist_ok=True)
        for name, svg in self.pictures.items():
            _weir.save(os.path.join(folder, name), svg.encode())

    def show(self) -> None:
        """Shows the page: in a notebook below the cell, else in the browser."""
        ipython: Any = sys.modules.get("IPython")
        shell = None if ipython is None else ipython.get_ipython()
        # IPython in a terminal has no kernel, and shows no pages.
        if getattr(shell, "kernel", None) is not None:
            ipython.display.display(self)
            return
        with tempfile.NamedTemporaryFile(suffix=".html", delete=False) as file:
            file.write(self.html)
        if not webbrowser.open(Path(file.name).as_uri()):
            text = f"no browser opens {file.name}: open it yourself, or `save` the page elsewhere"
            warnings.warn(text, stacklevel=2)

    def _repr_html_(self) -> str:
        content = html.escape(self.html.decode())
        return f'<iframe srcdoc="{content}" style="width: 100%; height: 40em; border: 0"></iframe>'


def import_topology(
    dump: File,
    *,
    format: str | None = None,
    bandwidth: Literal["effective", "raw"] = "effective",
    add: str | None = None,
) -> ImportedTopology:
    """A topology of a dump of a machine, as ``weir import`` makes it; ``add="nvswitch"`` adds what
    the dump leaves out."""
    if bandwidth not in ("effective", "raw"):
        raise ValueError(f"bandwidth: {bandwidth!r}: use 'effective' or 'raw'")
    text = _weir.import_topology(
        _path("dump", dump), _text("format", format), bandwidth == "raw", _text("add", add)
    )
    return ImportedTopology(*text)


def calibrate(
    topology: File,
    logs: File | Sequence[File],
    *,
    per_link: bool = True,
    hold_out: float = 0.2,
    **reading: Unpack[Reading],
) -> Calibration:
    """The values of a topology that fit measured transfers best, as ``weir calibrate`` finds them.

    ``hold_out`` is the share of the groups that only test the fit.
    """
    files = logs if isinstance(logs, Iterable) and not isinstance(logs, (str, bytes)) else [logs]
    names = [_path("logs", file) for file in files]
    own = (_flag("per_link", per_link), _number("hold_out", hold_out))
    return Calibration(*_weir.calibrate(_request(topology, **reading), names, *own))


def validate(
    source: Source,
    measured: File,
    *,
    group: str | None = None,
    since: Literal["ready", "start", "zero"] = "ready",
    histogram: bool = False,
    **reading: Unpack[Reading],
) -> Validation:
    """Measured times of a scenario's transfers beside those simulated under its first arbiter."""
    request = _request(source, **reading)
    own = (_text("group", group), _text("since", since) or "ready", _flag("histogram", histogram))
    return Validation(*_weir.validate(request, _path("measured", measured), *own))


def report(
    *of: Source | Result, until: str | None = None, pictures: bool = False, **reading: Unpack[Reading]
) -> Page:
    """The page of ``weir report``: of scenarios, which are run under each of their arbiters with all
    that the page shows, of results as they are, and of files that weir has saved as JSON.

    ``pictures`` draws each run as SVG, too: its topology, its timeline and its links over time.
    """
    if not of:
        raise TypeError("report needs at least one scenario or result")
    _only(reading, Reading)
    shown = [_shown(each, reading) for each in of]
    options = {"until": _text("until", until), **reading}
    _used(options, any(isinstance(each, _weir.Request) for each in shown))
    drawn = _flag("pictures", pictures)
    return Page(*_weir.page(shown, until, drawn), drawn)


def _shown(each: Source | Result, reading: Reading) -> _weir.Request | _weir.Run | tuple[str, str]:
    if isinstance(each, Result):
        return each._run
    if isinstance(each, (str, os.PathLike)) and (text := saved(each)) is not None:
        return os.fspath(each), text
    return _request(each, **reading)
