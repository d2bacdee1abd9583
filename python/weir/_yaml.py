"""Plain data of Python as the YAML of scenarios."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._errors import ScenarioError
from ._policy import is_policy

_Made = TypeVar("_Made")

_PLAIN = re.compile(
    r"[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*"
    r"|[0-9]+([.][0-9]+)?([kKMGTP]?i?[Bb](/s)?|[pnuµm]?s|min|h|d)"
)
# Text that means the same within a list as alone.
_IN_A_LIST = re.compile(r"[A-Za-z0-9_.+/-][A-Za-z0-9_./+ -]*")
# What YAML 1.2 and older readers take for something else than text.
_TAKEN = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


# What YAML 1.2 does not let stand as it is (section 5.1), and `json.dumps` leaves so.
_UNREADABLE = re.compile("[\x7f-\x9f\ufeff\ufffe\uffff]")

# Whole numbers that a scenario can have, and some more: their reader says what is too large.
_MOST_BITS = 128


def dump(data: Mapping[str, Any]) -> str:
    """A scenario as YAML, a line for each key and item.

    >>> print(dump({"weir": 1, "workload": [{"transfer": {"from": "a", "size": "1MB"}}]}), end="")
    weir: 1
    workload:
      - transfer:
          from: a
          size: 1MB
    """
    lines: list[str] = []
    bounded(lambda: _mapping(data, "", "", lines))
    return "".join(f"{line}\n" for line in lines)


def flow(value: Any, path: str) -> str:
    """A value in one line. Text is taken as the YAML that it is, as ``--set`` takes it."""
    return str.__str__(value) if isinstance(value, str) else bounded(lambda: _flow(value, path))


def bounded(write: Callable[[], _Made]) -> _Made:
    """What `write` makes; of data without an end an error that says so."""
    try:
        return write()
    except RecursionError:
        # Without the thousand steps that led there.
        raise ScenarioError("a dict or list contains itself, or is nested too deeply for a scenario") from None


def element(value: Any, path: str) -> str:
    """A value within a list: text is taken as in :func:`flow`, where it can stand in a list."""
    if isinstance(value, str):
        text = str.__str__(value)
        return text if _is_whole(text) or _IN_A_LIST.fullmatch(text) else quoted(text, path)
    return flow(value, path)


def _is_whole(text: str) -> bool:
    """Whether a text is one map or list of plain words, or one word in quotes."""
    if re.fullmatch(r'"[^"\\]*"|\'[^\']*\'', text):
        return True
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "{[") - (character in "}]")
        if depth <= 0 and at + 1 < len(text):
            return False
    return depth == 0 and len(text) > 1 and not re.search(r"[#\"'\n]", text)


def quoted(text: str, path: str) -> str:
    """A text that stands for itself, whatever is in it."""
    return _scalar(text, path)


def _flow(value: Any, path: str) -> str:
    value = _plain(value, path)
    if isinstance(value, dict):
        parts = (f"{_key(k, path)}: {_flow(v, _below(path, k))}" for k, v in value.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(v, f"{path}[{i}]") for i, v in enumerate(value)) + "]"
    return _scalar(value, path)


def _below(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _plain(value: Any, path: str) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple, range)):
        return list(value)
    if isinstance(value, str):
        # Of an enumeration the text, not the name.
        return str.__str__(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    # Numbers and arrays of NumPy and the like.
    listed = getattr(value, "tolist", None)
    plain = listed() if callable(listed) else value
    if type(plain) is not type(value):
        return _plain(plain, path)
    if is_policy(value):
        raise TypeError(f"{path}: a policy in Python is no data: give it to `run(arbiter=…)`, alone or in a list")
    raise TypeError(
        f"{path or 'the scenario'}: {type(value).__name__} is not data of a scenario: "
        "use text, numbers, booleans, lists, dicts and paths"
    )


def _scalar(value: Any, path: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ScenarioError(f"{path}: {value} is not a number that a scenario can have")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ScenarioError(f"{path}: a number of {value.bit_length()} bits is more than a scenario can have")
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _TAKEN
        return value if plain else _in_quotes(value, path)
    return json.dumps(value)


def _in_quotes(text: str, path: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ScenarioError(f"{path}: {text!r} has half of a character (a lone surrogate)") from None
    return _UNREADABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{path or 'the scenario'}: keys are text, not {type(key).__name__}")
    return _scalar(str.__str__(key), path)


def _mapping(data: Mapping[str, Any], first: str, indent: str, lines: list[str], path: str = "") -> None:
    for at, (key, value) in enumerate(data.items()):
        begin = first if at == 0 else indent
        _entry(f"{begin}{_key(key, path)}:", value, indent, lines, _below(path, key))


def _entry(begin: str, value: Any, indent: str, lines: list[str], path: str) -> None:
    value = _plain(value, path)
    if isinstance(value, dict) and value:
        lines.append(begin)
        _mapping(value, f"{indent}  ", f"{indent}  ", lines, path)
    elif isinstance(value, list) and any(isinstance(v, (Mapping, list, tuple)) for v in value):
        lines.append(begin)
        for at, item in enumerate(value):
            _item(item, f"{indent}  ", lines, f"{path}[{at}]")
    else:
        lines.append(f"{begin} {_flow(value, path)}")


def _item(item: Any, indent: str, lines: list[str], path: str) -> None:
    item = _plain(item, path)
    if isinstance(item, dict) and item:
        _mapping(item, f"{indent}- ", f"{indent}  ", lines, path)
    else:
        lines.append(f"{indent}- {_flow(item, path)}")
