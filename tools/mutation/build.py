"""Builds a copy of the workspace, and runs its test programs until one fails."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COPY = ROOT / "target" / "mutants" / "tree"
# Without debug information and with incremental state, since most builds here change one line; tests accept no snapshots.
ENVIRONMENT = os.environ | {
    "CARGO_TARGET_DIR": str(ROOT / "target" / "mutants" / "build"),
    "CARGO_INCREMENTAL": "1",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_TEST_DEBUG": "0",
    "INSTA_UPDATE": "no",
}
LIBRARIES = [str(path.relative_to(ROOT)) for path in ROOT.glob("*/src/lib.rs")]
# A mutant may ask for all memory there is.
BYTES = 12 << 30
# Of full disks and signals: slow, and what a mutant here breaks, breaks elsewhere too.
LEFT_OUT = {("weir-cli", "faults"), ("weir-cli", "interrupt")}
# Tests that last longer than this come after all others.
SLOW = 2.0
TIMES = ROOT / "target" / "mutants" / "seconds.json"


def copy_tree(changed):
    """Brings the copy up to date, with changed files by name. What is as before keeps its time, so that cargo builds little."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    wanted = {name for name in files.split("\0") if (ROOT / name).is_file()}
    for old in COPY.rglob("*"):
        if old.is_file() and str(old.relative_to(COPY)) not in wanted:
            old.unlink()
    for name in wanted:
        new = COPY / name
        new.parent.mkdir(parents=True, exist_ok=True)
        content = changed[name].encode() if name in changed else (ROOT / name).read_bytes()
        if not new.exists() or new.read_bytes() != content:
            new.write_bytes(content)
            shutil.copymode(ROOT / name, new)


def cargo(words, packages):
    """Runs cargo; whether it fails, and its messages."""
    words = ["cargo", *words, "--locked", "--message-format", "json"]
    words += [word for package in packages for word in ("-p", package)]
    started = time.monotonic()
    ran = subprocess.run(words, cwd=COPY, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    print(f"cargo {words[1]}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return ran.returncode != 0, [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


def errors_of(messages):
    compiler = [m["message"] for m in messages if m["reason"] == "compiler-message"]
    return [message for message in compiler if message["level"] == "error"]


def compile_tests(packages):
    """The test programs, or none and the words of the compiler."""
    failed, messages = cargo(["test", "--tests", "--no-run"], packages)
    if failed:
        return None, " ".join(error["message"].split("\n")[0] for error in errors_of(messages))
    return [program(message) for message in messages if message.get("executable") and message["profile"]["test"]], ""


def refused(packages, woven):
    """The numbers of the woven mutants that do not compile. Checks alone, which is much faster than to build."""
    failed, messages = cargo(["check", "--keep-going"], packages)
    errors = errors_of(messages)
    numbers = set().union(*(at_fault(error, woven) for error in errors))
    if failed and not numbers:
        sys.exit("".join(error["rendered"] or "" for error in errors))
    return numbers


def at_fault(error, woven):
    """The woven mutants in whose bodies an error lies, or all of its files if it lies elsewhere."""
    spans, found, paths = list(error["spans"]), set(), set()
    while spans:
        span = spans.pop()
        if span.get("expansion"):
            spans.append(span["expansion"]["span"])
        paths.add(span["file_name"])
        file = COPY / span["file_name"]
        before = "\n".join(file.read_text().split("\n")[: span["line_start"]]) if file.is_file() else ""
        marks = re.findall(r"// mutant (\w+)$", before, re.MULTILINE)
        found |= {int(marks[-1])} if marks and marks[-1] not in ("0", "end") else set()
    return found or {number for number, mutant in woven.items() if mutant.path in paths}


def program(message):
    """Package, target, program and folder of a test program."""
    folder = Path(message["manifest_path"]).parent
    package = re.search(r'^name = "(.+?)"', (folder / "Cargo.toml").read_text(), re.MULTILINE)[1]
    unit = "" if "test" in message["target"]["kind"] else " unit"
    return package, message["target"]["name"] + unit, message["executable"], folder


def first_failure(words, folder, number, seconds, times=None):
    """The first failing test of a program, or nothing if all pass. The program is stopped there, with its children.

    Notes the seconds of each test where `times` is given.
    """
    environment = ENVIRONMENT | {"WEIR_MUTANT": str(number), "CARGO_MANIFEST_DIR": str(folder)}
    if times is not None:
        # The switch that stable builds of test programs have too.
        environment["RUSTC_BOOTSTRAP"] = "1"
        words = [*words, "-Zunstable-options", "--report-time"]
    process = subprocess.Popen(
        words, cwd=folder, env=environment, text=True, errors="replace", start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)),
    )  # fmt: skip
    late = threading.Event()
    timer = threading.Timer(seconds, lambda: (late.set(), stop(process)))
    timer.start()
    try:
        failed = next(failing(process.stdout, times), None)
        stop(process) if failed else None
        code = process.wait()
    finally:
        timer.cancel()
        stop(process)
    return failed or ("hangs" if late.is_set() else "aborts" if code else None)


def failing(lines, times):
    for line in lines:
        found = re.match(r"test (\S+) .*\.\.\. (ok|FAILED)(?: <([\d.]+)s>)?", line)
        if found and found[3]:
            times[found[1]] = float(found[3])
        if found and found[2] == "FAILED":
            yield found[1]


def forget_cases():
    """A property that fails writes its case down, which must not be the first one that the next mutant meets."""
    for file in COPY.glob("*/**/proptest-regressions/**/*.txt"):
        source = ROOT / file.relative_to(COPY)
        if not source.is_file():
            file.unlink()
        elif file.read_bytes() != source.read_bytes():
            file.write_bytes(source.read_bytes())


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Suite:
    """The tests of some packages, with the seconds that each needs without a mutant."""

    def __init__(self, packages):
        self.packages = packages
        self.seconds = {}

    def measure(self, programs, again):
        """Runs everything unchanged, or takes the times of the run before."""
        if again and TIMES.exists():
            self.seconds = json.loads(TIMES.read_text())
        for package, target, path, folder in programs:
            name = f"{package} {target}"
            if name in self.seconds or (package, target) in LEFT_OUT:
                continue
            started, times = time.monotonic(), {}
            failed = first_failure([path], folder, 0, 3600, times)
            print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
            if failed:
                sys.exit(f"{failed} fails without any change")
            self.seconds[name] = times
            TIMES.write_text(json.dumps(self.seconds))

    def parts(self, programs, packages):
        """What to run: the short tests of each package in turn, then the long ones. Name, command, folder, most seconds."""
        for slow in (False, True):
            for wanted in packages:
                for package, target, path, folder in programs:
                    if package != wanted or (package, target) in LEFT_OUT:
                        continue
                    times = self.seconds.get(f"{package} {target}", {})
                    long = sorted(test for test, seconds in times.items() if seconds > SLOW)
                    words = long if slow else [word for test in long for word in ("--skip", test)]
                    total = sum(seconds for test, seconds in times.items() if (test in long) == slow)
                    if not slow or long:
                        yield f"{package} {target}", [path, "--exact", *words], folder, 60 + 5 * total

    def verdict(self, programs, packages, number):
        for name, words, folder, seconds in self.parts(programs, packages):
            failed = first_failure(words, folder, number, seconds)
            if failed:
                forget_cases()
                return "killed", f"{name}: {failed}"
        return "survived", ""
