"""Simulates data transfers over hierarchical links: when each ends, which link limits it, and why.

>>> import weir
>>> scenario = weir.Scenario(
...     topology=weir.Topology(
...         link_types=[weir.link_type("x16", bandwidth="16GB/s")],
...         tree=[weir.root_complex("rc", weir.cpu("cpu0", link="x16"), weir.gpu("gpu0", link="x16"))],
...     ),
...     workload=[weir.transfer("gpu0", "cpu0", "16GB", id="a")],
... )
>>> weir.run(scenario).makespan
1.0

The command ``weir`` stands on the same library, so results are equal to the picosecond.
"""

from __future__ import annotations

import atexit as _atexit
import os as _os

from ._build import (
    Link,
    LinkType,
    Node,
    Operation,
    Scenario,
    Topology,
    collective,
    compute,
    cpu,
    fpga,
    gpu,
    host,
    link,
    link_type,
    network,
    nic,
    node,
    operation,
    root_complex,
    switch,
    transfer,
)
from ._calls import check, compare, explain, optimize, run, run_all, sweep, whatif
from ._errors import Finding, PolicyError, RunError, ScenarioError, ScenarioWarning, WeirError
from ._machine import (
    Calibration,
    ImportedTopology,
    Page,
    Validation,
    calibrate,
    import_topology,
    report,
    validate,
)
from ._policy import Policy
from ._results import Comparison, Result, Search, WhatIf
from ._weir import VERSION as __version__
from ._weir import Phase, Table, after_fork, at_exit

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=after_fork)
_atexit.register(at_exit)

__all__ = [
    "Calibration",
    "Comparison",
    "Finding",
    "ImportedTopology",
    "Link",
    "LinkType",
    "Node",
    "Operation",
    "Page",
    "Phase",
    "Policy",
    "PolicyError",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Search",
    "Table",
    "Topology",
    "Validation",
    "WeirError",
    "WhatIf",
    "__version__",
    "calibrate",
    "check",
    "collective",
    "compare",
    "compute",
    "cpu",
    "explain",
    "fpga",
    "gpu",
    "host",
    "import_topology",
    "link",
    "link_type",
    "network",
    "nic",
    "node",
    "operation",
    "optimize",
    "report",
    "root_complex",
    "run",
    "run_all",
    "sweep",
    "switch",
    "transfer",
    "validate",
    "whatif",
]
