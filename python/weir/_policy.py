"""Policies written in Python: what they are named, and how they look at a phase."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Sequence
from typing import Any, Protocol

from ._weir import Phase

numpy: Any
try:
    numpy = importlib.import_module("numpy")
except ImportError:
    numpy = None


class Policy(Protocol):
    """What divides the bandwidth of an instant.

    A class of these, of which every run gets an object of its own, or an object. Two attributes may
    say more: ``name``, for results, and ``pure``: whether rates depend on nothing but the
    transfers shown and their order, not on the instant or on ids, so that weir may remember them.
    """

    def allocate(self, phase: Phase) -> Sequence[float] | Any:
        """A rate for each transfer of the phase, in its order, in bytes per second."""
        ...


def is_policy(value: object) -> bool:
    """Whether this is a policy, or a class of them."""
    return callable(getattr(value, "allocate", None))


def name_of(policy: object) -> str:
    """The name of a policy in results: ``python-`` and its class, unless it has one itself."""
    own = getattr(policy, "name", None)
    if isinstance(own, str):
        return own
    kind = policy if isinstance(policy, type) else type(policy)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", kind.__name__.strip("_")).replace("_", "-")
    return f"python-{words.lower()}"


def view(column: bytes, code: str) -> Any:
    """A column of a phase: a NumPy array where NumPy is installed, else a ``memoryview``."""
    if numpy is not None:
        return numpy.frombuffer(column, dtype=code)
    look: Any = memoryview(column)
    return look.cast(code)


# Raises an exception in a thread, once that runs Python code again. weir calls it as it is: what a
# call around raises in the thread of this call would end Python code here before it has done it.
raise_in: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
raise_in.argtypes = (ctypes.c_ulong, ctypes.py_object)
