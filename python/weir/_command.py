"""The command ``weir``."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

from ._weir import command


def main() -> None:
    """Runs the command with the arguments of this process, and ends it."""
    sys.exit(command(["weir", *sys.argv[1:]], program()))


def program() -> str | None:
    """The command's own file, which opens plugins in child processes."""
    name = os.path.abspath(sys.argv[0])
    if os.path.basename(name).startswith("weir") and os.access(name, os.X_OK):
        return name
    return shutil.which("weir", path=sysconfig.get_path("scripts"))
