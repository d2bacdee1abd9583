"""Threads, forks, Ctrl-C and progress."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sample
from conftest import FOUR, FOUR_PS, SCENARIOS

import weir
from weir._command import program



def _long() -> dict[str, object]:
    """Some seconds long: 60 GPUs, 24 times all to all."""
    gpus = {"g[0-59]": {"kind": "gpu", "link": "l"}}
    topology = {"link_types": {"l": {"bandwidth": "16GB/s"}}, "tree": {"s": {"kind": "switch", "children": gpus}}}
    items = [
        weir.transfer(f"g{a}", f"g{b}", f"{1 + a * 60 + b}MB", id=f"{n}-{a}-{b}").to_dict()
        for n in range(24) for a in range(60) for b in range(60) if a != b
    ]
    return {"weir": 1, "topology": topology, "workload": items}


def _measured(folder: str) -> tuple[str, str]:
    """A topology, and a log whose fit takes some seconds: each link has another bandwidth, and copies compete."""
    topology, log = f"{folder}/server.yaml", f"{folder}/log.csv"
    gpus = [weir.gpu(f"g{at}", link="l") for at in range(24)]
    with open(topology, "w") as file:
        file.write(weir.Topology([weir.switch("s", *gpus)], [weir.link_type("l", bandwidth="16GB/s")]).to_yaml())
    with open(log, "w") as file:
        print("from,to,bytes,seconds,group", file=file)
        for group in range(240):
            for place in range(6):
                a, b = (group * 7 + place * 5) % 24, (group * 11 + place * 3 + 1) % 24
                b = b if a != b else (b + 1) % 24
                print(f"g{a},g{b},100000000,{0.01 * (1 + (a * b + group) % 7 / 5)},{group}", file=file)
    return topology, log


def test_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: weir.run(FOUR), range(64)))
        own = list(pool.map(lambda _: weir.run(FOUR, arbiter=sample.EqualShare), range(32)))
    assert {result.makespan_ps for result in results} == {FOUR_PS}
    assert len({result.fingerprint for result in own}) == 1


def test_other_threads_go_on() -> None:
    """The interpreter's lock is free during a run: another thread counts meanwhile."""
    over, counted = threading.Event(), [0]

    def count() -> None:
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    weir.sweep(FOUR, {"arbiter.tau": [at / 1000 for at in range(400)]})
    took, ticks = time.perf_counter() - begin, counted[0]
    over.set()
    thread.join()
    # Far fewer than a tick each millisecond, as the machine may be busy; none with the lock held.
    assert ticks > min(3, took * 20)


def _makespan(_: int) -> int:
    weir.sweep(FOUR, {"arbiter.tau": [0.1, 0.2]})
    weir.report(FOUR)
    weir.whatif(FOUR)
    return weir.run(FOUR).makespan_ps


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_after_a_run_runs() -> None:
    weir.run(FOUR, jitter="1us")
    assert _makespan(0) == FOUR_PS
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_makespan, range(4), chunksize=1) == [FOUR_PS] * 4


FORK_DURING_A_RUN = """
import os, sys, weir
class Forking:
    def allocate(self, phase):
        if os.fork() == 0:
            # The child has this thread alone.
            try:
                weir.run(sys.argv[1])
            except RuntimeError as error:
                print(error, flush=True)
                os._exit(7)
            os._exit(0)
        _, status = os.wait()
        print(os.waitstatus_to_exitcode(status), flush=True)
        return [1e9] * len(phase)
print(weir.run(sys.argv[1], arbiter=Forking).makespan_ps)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_during_a_run_is_an_exception() -> None:
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK_DURING_A_RUN, str(FOUR)], capture_output=True, text=True
    )
    lines = said.stdout.splitlines()
    assert "forked while weir was running" in lines[0] and "spawn" in lines[0]
    assert lines[1] == "7" and lines[-1] == str(3 * 10**11), said.stderr


INTERRUPTED = """
import signal, sys, threading, time, os, weir
sys.path.insert(0, {tests!r})
{setup}
# Shells start what runs in the background with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
begin = []
def soon():
    time.sleep(0.2)
    begin.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=soon).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - begin[0])
else:
    print("ended before")
print(weir.run({four!r}).makespan_ps)
"""


@pytest.mark.parametrize(
    ("setup", "call"),
    [
        ("from test_processes import _long; long = _long()", "weir.run(long, arbiter='equal-share', phases=True)"),
        ("grid = {'arbiter.tau': [at / 10**6 for at in range(200_000)]}", "weir.sweep({four!r}, grid)"),
        (
            "class Endless:\n    def allocate(self, phase):\n        while True: pass",
            "weir.run({four!r}, arbiter=Endless)",
        ),
        (
            "class Endless:\n    def allocate(self, phase):\n        while True: pass\n"
            "class Around:\n    def allocate(self, phase):\n        weir.run({four!r}, arbiter=Endless)".replace(
                "{four!r}", repr(str(FOUR))
            ),
            "weir.run({four!r}, arbiter=Around)",
        ),
        (
            "from sample import EqualShare\nclass Endless:\n    def allocate(self, phase):\n        while True: pass",
            "weir.report({four!r}, arbiter=[EqualShare, Endless])",
        ),
        (
            "import tempfile; from test_processes import _measured; folder = tempfile.TemporaryDirectory(); "
            "measured = _measured(folder.name)",
            "weir.calibrate(*measured)",
        ),
        (
            "class Endless:\n    def allocate(self, phase):\n        while True: pass",
            "weir.validate({h2d!r}, {h2d!r}.replace('.yaml', '.csv'), arbiter=Endless)",
        ),
        (
            "class Endless:\n    def __init__(self):\n        while True: pass\n    def allocate(self, phase): pass",
            "weir.run({four!r}, arbiter=Endless)",
        ),
        ("from test_processes import _long; long = _long()", "weir.report(long, arbiter='equal-share')"),
        ("from test_processes import _long; long = _long()", "weir.whatif(long, links=True, arbiter='equal-share')"),
        (
            "",
            "weir.optimize({stencil!r}, vary=['order', 'placement'], candidates=10**9)",
        ),
        (
            "import tempfile; folder = tempfile.TemporaryDirectory(); pipe = folder.name + '/pipe'; os.mkfifo(pipe)",
            "weir.run(pipe)",
        ),
    ],
    ids=["run", "sweep", "policy", "policy in a policy", "second policy", "calibrate", "validate", "policy that is made", "report", "whatif", "optimize", "pipe"],
)
def test_ctrl_c(setup: str, call: str) -> None:
    tests = os.path.dirname(__file__)
    named = {"four": str(FOUR)}
    named["h2d"] = str(SCENARIOS / "measured" / "h2d-eight-gpus.yaml")
    named["stencil"] = str(SCENARIOS / "optimize" / "stencil-helios.yaml")
    code = INTERRUPTED.format(tests=tests, setup=setup, call=call.format(**named), four=str(FOUR))
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert said.returncode == 0, said.stderr
    first, last = said.stdout.splitlines()
    assert first.startswith("interrupted") and last == str(FOUR_PS)
    # 100 ms on a machine that is free; *assumed*, one that runs tests takes longer.
    assert float(first.split()[1]) < 5


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(FOUR.read_text(),))
    writer.start()
    assert weir.run(pipe, folder=FOUR.parent, library=SCENARIOS).makespan_ps == FOUR_PS
    writer.join()


class Log:
    """What some programs put in the place of stderr."""

    def write(self, text: str) -> None:
        pass

    def flush(self) -> None:
        pass


def test_progress_where_stderr_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stderr in (Log(), None, closed):
        monkeypatch.setattr(sys, "stderr", stderr)
        assert weir.run(FOUR).makespan_ps == FOUR_PS


def test_a_script_is_never_taken_for_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "weir_study.py"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    found = program()
    assert found is not None and os.path.basename(found) in ("weir", "weir.exe")
    for argv in ([str(script)], []):
        monkeypatch.setattr(sys, "argv", argv)
        assert program() == found


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    weir.sweep(FOUR, {"arbiter.tau": [at / 10_000 for at in range(4000)]}, progress=lambda *at: told.append(at))
    assert told and all(done <= every or every == 0 for done, every in told)

    def stop(done: int, every: int) -> None:
        raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        weir.sweep(FOUR, {"arbiter.tau": [at / 10_000 for at in range(4000)]}, progress=stop)


def test_progress_by_tqdm() -> None:
    pytest.importorskip("tqdm")
    weir.sweep(FOUR, {"arbiter.tau": [at / 10_000 for at in range(1000)]}, progress=True)


def test_signals_of_the_caller_stay() -> None:
    before = signal.getsignal(signal.SIGINT)
    weir.run(FOUR)
    assert signal.getsignal(signal.SIGINT) is before


ENDING = """
import sys, threading, time, weir
class Endless:
    def allocate(self, phase):
        while True: time.sleep(0.01)
class Endless_made:
    def __init__(self):
        while True: pass
    def allocate(self, phase): pass
class Deaf:
    def allocate(self, phase):
        lock = threading.Lock()
        while True: lock.acquire()
class Slow:
    def allocate(self, phase):
        time.sleep(0.001)
        return [1e8] * len(phase)
grid = {{"arbiter.tau": [at / 10**6 for at in range(200_000)]}}
def again():
    while True: weir.run({four!r}, arbiter=Slow)
threading.Thread(target=lambda: {call}, daemon=True).start()
time.sleep(0.3)
print("over")
sys.exit(3)
"""


@pytest.mark.parametrize(
    "call",
    [
        "weir.run({four!r}, arbiter=Endless)",
        "weir.run({four!r}, arbiter=Endless_made)",
        "weir.run({four!r}, arbiter=Deaf)",
        "again()",
        "weir.sweep({four!r}, grid)",
        "weir.sweep({four!r}, grid, arbiter=Slow)",
        "weir.sweep({four!r}, grid, progress=lambda *at: time.sleep(0.002))",
    ],
)
def test_python_ends_while_a_thread_is_in_weir(call: str) -> None:
    """As with any daemon thread: the exit code is that of the main one, and nothing is said."""
    code = ENDING.format(four=str(FOUR), call=call.format(four=str(FOUR)))
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (said.returncode, said.stdout, said.stderr) == (3, "over\n", "")


AT_THE_END = """
import atexit
def late():
    weir.run({four!r})
    print("run too late")
atexit.register(late)
import weir
atexit.register(lambda: print(weir.run({four!r}).makespan_ps))
class Own:
    def allocate(self, phase): return [1e9] * len(phase)
class Last:
    def __del__(self):
        weir.run({four!r}, arbiter=Own)
        print("run too late")
last = Last()
"""


def test_a_call_after_the_end_of_python_is_refused() -> None:
    """Of functions of `atexit`, those registered last are called first: weir ends with its own."""
    code = AT_THE_END.format(four=str(FOUR))
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (said.returncode, said.stdout) == (0, f"{FOUR_PS}\n"), said.stderr
    assert said.stderr.count("SystemExit: Python is ending, so weir cannot run") == 2
