#!/usr/bin/env python3
"""Measures copies between host memory and GPUs and writes the CSV that `weir calibrate` and `weir validate` read.

See README.md.
"""

import argparse
import csv
import os
import statistics
import sys

import graphs

COLUMNS = ["id", "from", "to", "bytes", "seconds", "group", "what", "streams"]
HOST_TESTS = ["copy", "both", "streams", "mapped"]
PEER_TESTS = ["peer", "peer-both", "sets"]
TESTS = HOST_TESTS + PEER_TESTS
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9, "B": 1}
# How long the GPU waits while work is enqueued, in cycles: some 10 ms, and 1 ms for each part (assumed: enqueueing takes some 10 us).
GATE, GATE_PER_PART = 20_000_000, 2_000_000
# Read by CUDA when it starts: devices are numbered by bus id, as nvidia-smi and `weir import` number them.
ENVIRONMENT = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def size(text):
    """Bytes of a text such as 64MiB."""
    for unit, factor in UNITS.items():
        if text.endswith(unit) and text[: -len(unit)].isdigit():
            value = int(text[: -len(unit)]) * factor
            if 0 < value <= 1 << 36:
                return value
    raise argparse.ArgumentTypeError(f"`{text}` is no size: write 4kB, 64MiB or 1GiB, at most 64GiB")


def positive(text):
    """A whole number above 0."""
    if text.isdigit() and 0 < int(text) <= 1_000_000:
        return int(text)
    raise argparse.ArgumentTypeError(f"`{text}` is no whole number from 1 to 1000000")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="-", help="CSV file to write (default: stdout)")
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=HOST_TESTS,
                        help="what to measure (default: copy both streams mapped)")
    parser.add_argument("--gpus", type=int, nargs="+", default=[0], help="CUDA devices, by number (default: 0)")
    parser.add_argument("--smallest", type=size, default=size("1KiB"), help="smallest copy (default: 1KiB)")
    parser.add_argument("--largest", type=size, default=size("1GiB"), help="largest copy (default: 1GiB)")
    parser.add_argument("--factor", type=positive, default=4, help="from one size to the next (default: 4)")
    parser.add_argument("--streams", type=positive, nargs="+", default=[1, 2, 4, 8, 16, 32, 64],
                        help="numbers of parts around the kernel, as of an offload (default: 1 2 4 8 16 32 64)")
    parser.add_argument("--kernel-ms", type=float, default=10.0, help="length of the kernel in ms (default: 10)")
    parser.add_argument("--repeats", type=positive, default=20, help="times each copy is measured (default: 20)")
    parser.add_argument("--flows", type=positive, default=3, help="copies at once in `sets`, 2 to 5 (default: up to 3)")
    parser.add_argument("--placements", type=positive, default=1, help="drawings of GPUs for each graph (default: 1)")
    parser.add_argument("--sets", type=positive, default=None, help="sets at most, drawn from all (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="decides what is drawn (default: 1)")
    parser.add_argument("--host", default="cpu0", help="name of the host memory in the topology (default: cpu0)")
    parser.add_argument("--gpu-name", default="gpu{}", help="name of GPU {} in the topology (default: gpu{})")
    parser.add_argument("--dry-run", action="store_true", help="print the plan to stderr and a CSV without rows")
    args = parser.parse_args(arguments)
    if args.largest < args.smallest:
        parser.error("--largest is less than --smallest")
    if args.factor < 2:
        parser.error("--factor must be at least 2")
    if not 0 < args.kernel_ms <= 10_000:
        parser.error("--kernel-ms must be above 0 and at most 10000")
    if any(gpu < 0 for gpu in args.gpus):
        parser.error("--gpus are numbers from 0")
    if not 2 <= args.flows <= 5:
        parser.error("--flows must be from 2 to 5")
    if any(test in PEER_TESTS for test in args.tests) and len(set(args.gpus)) < 2:
        parser.error("copies between GPUs need two of them: name them by --gpus 0 1")
    return args


def sizes(args):
    value = args.smallest
    while value < args.largest:
        yield value
        value *= args.factor
    yield args.largest


def plan(args):
    """Every measurement as (test, gpu, bytes, streams); of copies between GPUs their list of (from, to) in the place of a gpu."""
    for gpu in args.gpus:
        for test in args.tests:
            if test == "streams":
                yield from ((test, gpu, args.largest, count) for count in args.streams)
            elif test in HOST_TESTS:
                yield from ((test, gpu, count, 1) for count in sizes(args))
    for test in args.tests:
        if test in PEER_TESTS:
            yield from ((test, flows, count, 1) for flows in peer_flows(args, test) for count in sizes(args))


def peer_flows(args, test):
    """The copies between GPUs of a test, each a list of those that run at once."""
    gpus = sorted(set(args.gpus))
    if test == "sets":
        return graphs.sets(gpus, args.flows, args.placements, args.sets, args.seed)
    pairs = [(a, b) for a in gpus for b in gpus if a != b]
    return [[(a, b)] for a, b in pairs] if test == "peer" else [[(a, b), (b, a)] for a, b in pairs if a < b]


def describe(item):
    test, gpu, count, streams = item
    if test in PEER_TESTS:
        return f"{count} B, copies between GPUs at once: " + " ".join(f"{a}>{b}" for a, b in gpu)
    text = {
        "copy": "one copy to the device, one to the host, each alone",
        "both": "copies both ways at once",
        "streams": f"copies in, a kernel and copies out in {streams} parts",
        "mapped": "a kernel reads mapped host memory",
    }[test]
    return f"gpu {gpu}, {count} B: {text}"


def mapped_kernel():
    """A Triton kernel that copies what it reads; Triton takes pinned tensors of host memory."""
    global triton, tl  # Triton looks the names in a kernel up among the globals of its module
    import triton
    import triton.language as tl

    @triton.jit
    def read(source, target, total, BLOCK: tl.constexpr):
        # In 64 bits, as a copy may have more than 2^31 bytes.
        at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        tl.store(target + at, tl.load(source + at, mask=at < total), mask=at < total)

    return read


def opened_gate(torch, streams, parts):
    """An event of the current device that comes once all is enqueued, so that the time to enqueue is not measured; `streams` wait for it."""
    # Not the default stream, for which streams made without PyTorch wait.
    gate, begin = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(gate):
        torch.cuda._sleep(GATE + GATE_PER_PART * parts)
        begin.record(gate)
    for stream in streams:
        stream.wait_event(begin)
    return begin


class Bench:
    """One GPU, with the torch module that drives it."""

    def __init__(self, torch, args, gpu):
        self.torch, self.args, self.gpu = torch, args, gpu
        torch.cuda.set_device(gpu)
        self.host, self.device = args.host, args.gpu_name.format(gpu)
        # torch.cuda._sleep spins for cycles of the SM clock: measured here, as clocks differ.
        self.cycles = self.calibrated_cycles()

    def event(self):
        return self.torch.cuda.Event(enable_timing=True)

    def timed(self, streams, work, parts=1):
        """Median seconds between the common start of the streams and the end of each, of `work` that enqueues `parts` pieces to them."""
        torch, samples = self.torch, []
        for repeat in range(self.args.repeats + 2):
            ends = [self.event() for _ in streams]
            torch.cuda.synchronize()
            begin = opened_gate(torch, streams, parts)
            work()
            for stream, end in zip(streams, ends):
                end.record(stream)
            torch.cuda.synchronize()
            if repeat >= 2:  # the first two warm up
                samples.append([begin.elapsed_time(end) / 1e3 for end in ends])
        return [statistics.median(column) for column in zip(*samples)]

    def calibrated_cycles(self):
        torch = self.torch
        stream = torch.cuda.Stream()

        def spin():
            with torch.cuda.stream(stream):
                torch.cuda._sleep(100_000_000)

        return self.args.kernel_ms / 1e3 * 100_000_000 / self.timed([stream], spin)[0]

    def buffers(self, count):
        torch = self.torch
        host = torch.empty(count, dtype=torch.uint8, pin_memory=True)
        return host, torch.empty(count, dtype=torch.uint8, device="cuda")

    def copy(self, count):
        torch = self.torch
        host, device = self.buffers(count)
        stream = torch.cuda.Stream()
        for source, target, way in [(host, device, "in"), (device, host, "out")]:
            def work():
                with torch.cuda.stream(stream):
                    target.copy_(source, non_blocking=True)

            name = f"{way}-{self.device}-{count}"
            yield self.row(name, way, count, self.timed([stream], work)[0], name, "copy")

    def both(self, count):
        torch = self.torch
        (host_in, device_in), (host_out, device_out) = self.buffers(count), self.buffers(count)
        streams = [torch.cuda.Stream(), torch.cuda.Stream()]

        def work():
            with torch.cuda.stream(streams[0]):
                device_in.copy_(host_in, non_blocking=True)
            with torch.cuda.stream(streams[1]):
                host_out.copy_(device_out, non_blocking=True)

        group = f"both-{self.device}-{count}"
        for way, seconds in zip(["in", "out"], self.timed(streams, work)):
            yield self.row(f"{group}-{way}", way, count, seconds, group, "copy")

    def streams(self, count, number):
        """Copies in, kernel and copies out, cut in `number` parts: an `offload` of weir.

        One stream for each engine, with the parts in order. With one for each part, those that are released together run in any
        order, and waits between them that keep the order take longer than the gap between two copies.
        """
        torch = self.torch
        host, device = self.buffers(count)
        parts = list(zip(host.chunk(number), device.chunk(number)))
        copies_in, kernels, copies_out = engines = [torch.cuda.Stream() for _ in range(3)]

        def done(stream):
            event = torch.cuda.Event()
            event.record(stream)
            return event

        def work():
            for near, far in parts:
                with torch.cuda.stream(copies_in):
                    far.copy_(near, non_blocking=True)
                with torch.cuda.stream(kernels):
                    kernels.wait_event(done(copies_in))
                    torch.cuda._sleep(int(self.cycles / number))
                with torch.cuda.stream(copies_out):
                    copies_out.wait_event(done(kernels))
                    near.copy_(far, non_blocking=True)

        seconds = max(self.timed(engines, work, number))
        name = f"streams-{self.device}-{count}-{self.args.kernel_ms:g}ms-{number}"
        yield self.row(name, "in", count, seconds, name, "streams", number)

    def mapped(self, count):
        """A kernel that reads pinned host memory through the bus."""
        read = mapped_kernel()
        host, device = self.buffers(count)
        stream = self.torch.cuda.Stream()

        def work():
            with self.torch.cuda.stream(stream):
                read[(triton.cdiv(count, 4096),)](host, device, count, BLOCK=4096)

        name = f"mapped-{self.device}-{count}"
        yield self.row(name, "in", count, self.timed([stream], work)[0], name, "mapped")

    def row(self, name, way, count, seconds, group, what, streams=1):
        ends = (self.host, self.device) if way == "in" else (self.device, self.host)
        return [name, *ends, count, f"{seconds:.9f}", group, what, streams]

    def measure(self, test, count, streams):
        return self.streams(count, streams) if test == "streams" else getattr(self, test)(count)


class Peers:
    """Copies between GPUs, each on a stream of its source, all from one start. The source writes."""

    def __init__(self, torch, args):
        self.torch, self.args = torch, args

    def timed(self, flows, count):
        """Median seconds of each copy, from a common start to its end, by the clock of the first source."""
        torch, samples = self.torch, []
        first = flows[0][0]
        buffers, sources, targets, helpers = [], [], [], []
        for a, b in flows:
            for gpu, streams in [(a, sources), (b, targets), (first, helpers)]:
                with torch.cuda.device(gpu):
                    streams.append(torch.cuda.Stream())
            source = torch.empty(count, dtype=torch.uint8, device=f"cuda:{a}")
            buffers.append((source, torch.empty(count, dtype=torch.uint8, device=f"cuda:{b}")))
        for repeat in range(self.args.repeats + 2):
            for gpu in {gpu for flow in flows for gpu in flow}:
                torch.cuda.synchronize(gpu)
            torch.cuda.set_device(first)
            begin = opened_gate(torch, sources, len(sources))
            for source_stream, target_stream, (source, target) in zip(sources, targets, buffers):
                # PyTorch lets the copy wait for the current stream of the target's device, and that stream for the copy
                # (aten/src/ATen/native/cuda/Copy.cu). With one of its own it waits for no other copy to the same device.
                with torch.cuda.stream(target_stream), torch.cuda.stream(source_stream):
                    target.copy_(source, non_blocking=True)
            ends = [self.end(first, flow, *streams) for flow, *streams in zip(flows, sources, helpers)]
            for end in ends:
                end.synchronize()
            if repeat >= 2:  # the first two warm up
                samples.append([begin.elapsed_time(end) / 1e3 for end in ends])
        return [statistics.median(column) for column in zip(*samples)]

    def end(self, first, flow, stream, helper):
        """An event behind a copy. Times are between events of one GPU: for other sources a stream of the first one waits."""
        if flow[0] != first:
            helper.wait_stream(stream)
            stream = helper
        end = self.torch.cuda.Event(enable_timing=True)
        end.record(stream)
        return end

    def warn(self):
        """Names pairs whose copies go over host memory, where the topology says another route."""
        gpus = sorted(set(self.args.gpus))
        can = self.torch.cuda.can_device_access_peer
        far = [f"{a}>{b}" for a in gpus for b in gpus if a != b and not can(a, b)]
        if far:
            print("measure.py: no peer access, these copies go over host memory: " + " ".join(far), file=sys.stderr)

    def measure(self, test, flows, count):
        name = self.args.gpu_name.format
        group = f"{test}-" + "-".join(f"{a}>{b}" for a, b in flows) + f"-{count}"
        for (a, b), seconds in zip(flows, self.timed(flows, count)):
            yield [f"{group}-{a}>{b}", name(a), name(b), count, f"{seconds:.9f}", group, "copy", 1]


def opened(gpus):
    """The torch module, with the devices that are asked for."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import torch
    except ImportError:
        sys.exit("measure.py: PyTorch is not installed: pip install torch (or look at the plan with --dry-run)")
    if not torch.cuda.is_available():
        sys.exit("measure.py: PyTorch finds no CUDA device: check nvidia-smi (or look at the plan with --dry-run)")
    for gpu in gpus:
        try:
            torch.cuda.get_device_name(gpu)
        except (AssertionError, RuntimeError):
            sys.exit(f"measure.py: there is no CUDA device {gpu}: nvidia-smi -L lists them, CUDA_VISIBLE_DEVICES hides some")
    return torch


def measure(args, writer):
    torch = opened(args.gpus)
    host = any(test in HOST_TESTS for test in args.tests)
    benches = {gpu: Bench(torch, args, gpu) for gpu in args.gpus} if host else {}
    peers = Peers(torch, args)
    if any(test in PEER_TESTS for test in args.tests):
        peers.warn()
    for test, gpu, count, streams in plan(args):
        if test in PEER_TESTS:
            for row in peers.measure(test, gpu, count):
                writer.writerow(row)
            continue
        torch.cuda.set_device(gpu)
        for row in benches[gpu].measure(test, count, streams):
            writer.writerow(row)


def write(args, target):
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    if args.dry_run:
        for item in plan(args):
            print(describe(item), file=sys.stderr)
    else:
        measure(args, writer)


def main(arguments):
    args = parse(arguments)
    if args.output == "-":
        write(args, sys.stdout)
        return
    # Beside its target until it is complete: what was measured before an error stays in the part.
    part = args.output + ".part"
    with open(part, "w", newline="", encoding="utf-8", buffering=1) as target:
        write(args, target)
    os.replace(part, args.output)


if __name__ == "__main__":
    main(sys.argv[1:])
