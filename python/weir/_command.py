"""The command ``weir``."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator

from ._weir import command


def main() -> None:
    """Runs the command with the arguments of this process, and ends it."""
    own = os.path.abspath(sys.argv[0])
    is_own = os.path.basename(own) in ("weir", "weir.exe") and os.access(own, os.X_OK)
    # By its name where its file is not found: whoever installed it so has put it there.
    sys.exit(command(["weir", *sys.argv[1:]], own if is_own else program() or "weir"))


def program() -> str | None:
    """The command's own file, which opens plugins in child processes; none where pip installed none.

    What this process runs is not asked: a user's script may have any name, and would run again.
    """
    return next((file for file in _installed() if os.access(file, os.X_OK) and os.path.isfile(file)), None)


def _installed() -> Iterator[str]:
    name = "weir.exe" if os.name == "nt" else "weir"
    try:
        files = importlib.metadata.distribution("weir").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    yield from (str(file.locate()) for file in files if file.name == name)
    # Of `pip install --target`, which moves it.
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", name)
    yield shutil.which("weir", path=sysconfig.get_path("scripts")) or ""
