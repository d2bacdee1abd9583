"""Arguments of Python: of another type, or without a meaning, they are an error that begins with their name."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from typing import Any

from ._errors import ScenarioError


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _some(name: str, value: Any) -> list[Any]:
    """One or several, where an empty list would mean nothing."""
    if isinstance(value, (list, tuple)) and not value:
        raise ScenarioError(f"{name}: the list is empty; leave it out for what the scenario says")
    return _listed(value)


def _used(options: Mapping[str, Any], use: bool) -> None:
    """Refuses options that say how scenarios are run where there is none."""
    for option, value in options.items():
        if value is not None and not use:
            raise ScenarioError(f"{option}: results are taken as they are: this is for scenarios, and there is none")


def _map(name: str, value: Any, of: str) -> dict[str, Any]:
    if not isinstance(value, (Mapping, type(None))):
        raise TypeError(f"{name}: give a dict of {of}, not {type(value).__name__}")
    for key in value or ():
        if not isinstance(key, str):
            raise TypeError(f"{name}: keys are text, not {type(key).__name__}: give a dict of {of}")
    return dict(value or {})


def _path(name: str, value: Any) -> str:
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise TypeError(f"{name}: give a path, not {type(path).__name__}")
    if not path:
        raise ScenarioError(f"{name}: the path is empty: name a file")
    return path


def _number(name: str, value: Any) -> float:
    try:
        if not isinstance(value, (bool, str)):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{name}: give a number, not {type(value).__name__}")


def _count(name: str, value: Any, bits: int = 32, least: int = 0) -> int | None:
    """A whole number that the library can have, of NumPy, too."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name}: give a whole number, not {type(value).__name__}")
    if number < least:
        raise ScenarioError(f"{name}: give a whole number from {least}, not {number}")
    if number >= 2**bits:
        raise ScenarioError(f"{name}: the number is too large")
    return number


def _text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{name}: give text, such as '10ms' or a name, not {type(value).__name__}")


def _flag(name: str, value: Any) -> bool:
    # Those of NumPy, too.
    value = value.item() if type(value).__name__ in ("bool", "bool_") and hasattr(value, "item") else value
    if isinstance(value, bool):
        return value
    raise TypeError(f"{name}: give True or False, not {type(value).__name__}")
