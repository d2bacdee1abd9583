"""The exceptions of weir, and its warnings."""

from __future__ import annotations

import os
import sys
import warnings
from typing import NamedTuple

_FOLDER = os.path.dirname(__file__)


class Finding(NamedTuple):
    """One thing that is wrong with a scenario."""

    file: str | None
    """The file, as it was named; ``<dict>`` or ``<Scenario>`` for what Python made."""
    line: int | None
    """The line, from 1; of what Python made, of its YAML."""
    column: int | None
    """The column in characters, from 1."""
    message: str
    """What is wrong."""
    hint: str | None
    """What to do about it."""


class WeirError(Exception):
    """What went wrong, in the words of the command ``weir``."""

    def __init__(self, message: str, findings: list[Finding] | None = None) -> None:
        super().__init__(message.removeprefix("error: "))
        self.findings: list[Finding] = findings or []
        """All that is wrong, of a scenario."""

    def __reduce__(self) -> tuple[type[WeirError], tuple[str, list[Finding]]]:
        return type(self), (str(self), self.findings)

    @property
    def file(self) -> str | None:
        """The file of the first finding."""
        return self.findings[0].file if self.findings else None

    @property
    def line(self) -> int | None:
        """The line of the first finding, from 1."""
        return self.findings[0].line if self.findings else None

    @property
    def column(self) -> int | None:
        """The column of the first finding, from 1."""
        return self.findings[0].column if self.findings else None

    @property
    def hint(self) -> str | None:
        """What to do about the first finding."""
        return self.findings[0].hint if self.findings else None


class ScenarioError(WeirError, ValueError):
    """A scenario, an option or a file is wrong."""


class RunError(WeirError, RuntimeError):
    """A run cannot end: a deadlock, or a limit."""


class PolicyError(WeirError, RuntimeError):
    """A policy failed. Of one in Python, ``__cause__`` is what it raised."""


class ScenarioWarning(UserWarning):
    """A scenario runs, but may not mean what its author thinks."""


_KINDS: dict[str, type[WeirError]] = {
    kind.__name__: kind for kind in (WeirError, ScenarioError, RunError, PolicyError)
}

_Fields = tuple[str | None, int | None, int | None, str, str | None]


def raised(kind: str, message: str, findings: list[_Fields]) -> WeirError:
    """The exception for an error of the library."""
    return _KINDS[kind](message, [Finding(*finding) for finding in findings])


def warn(text: str) -> None:
    """Gives a warning of the library to Python, of the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _FOLDER:
        level, frame = level + 1, frame.f_back
    warnings.warn(text.removeprefix("warning: "), ScenarioWarning, stacklevel=level)
