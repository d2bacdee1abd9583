"""Where the library of scenarios lies, and what a test may use."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
FOUR = SCENARIOS / "pcie" / "four-transfers.yaml"
# The full example of Martinasso et al., SC16, as the comment of the scenario has it.
FOUR_PS = 66_502_463_055


@pytest.fixture(scope="session")
def command() -> str:
    """The command that came with the package."""
    found = shutil.which("weir", path=sysconfig.get_path("scripts"))
    assert found is not None, f"the command `weir` is not beside {sys.executable}"
    return found
