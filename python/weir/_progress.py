"""Progress of long calls, by tqdm where it is installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ._arguments import _flag

Hook = Callable[[int, int], None]


class Progress:
    """A bar of tqdm while it is entered.

    ``show``: whether it is shown; by default where stderr is a terminal. A function is called with
    what is done and how many there are.
    """

    def __init__(self, show: bool | Hook | None, what: str) -> None:
        if show is not None and not callable(show):
            show = _flag("progress", show)
        self._show, self._what = show, what
        self._bar: Any = None

    def __enter__(self) -> Hook | None:
        if callable(self._show):
            return self._show
        shown = self._show if self._show is not None else _is_watched()
        return self._update if shown else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def _update(self, done: int, every: int) -> None:
        if every == 0:
            return
        bar = _tqdm() if self._bar is None else None
        if bar is not None:
            self._bar = bar(total=every, desc=self._what, leave=False)
        if self._bar is None:
            return
        self._bar.n = min(done, every)
        self._bar.refresh()


def _is_watched() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        # There is none, it is closed, or it is a log.
        return False


def _tqdm() -> Any:
    try:
        return importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return None
