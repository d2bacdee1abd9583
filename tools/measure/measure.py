#!/usr/bin/env python3
"""Measures copies between host memory and GPUs and writes the CSV that `weir calibrate` and `weir validate` read.

Built, not yet measured: nobody has run this on a GPU so far. See README.md.
"""

import argparse
import csv
import os
import statistics
import sys

COLUMNS = ["id", "from", "to", "bytes", "seconds", "group", "what", "streams"]
TESTS = ["copy", "both", "streams", "mapped"]
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "B": 1}


def size(text):
    """Bytes of a text such as 64MiB."""
    for unit, factor in UNITS.items():
        if text.endswith(unit) and text[: -len(unit)].isdigit():
            value = int(text[: -len(unit)]) * factor
            if 0 < value <= 1 << 36:
                return value
    raise argparse.ArgumentTypeError(f"`{text}` is no size: write 1KiB, 64MiB or 1GiB, at most 64GiB")


def positive(text):
    """A whole number above 0."""
    if text.isdigit() and 0 < int(text) <= 1_000_000:
        return int(text)
    raise argparse.ArgumentTypeError(f"`{text}` is no whole number from 1 to 1000000")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="-", help="CSV file to write (default: stdout)")
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=TESTS, help="what to measure (default: all)")
    parser.add_argument("--gpus", type=int, nargs="+", default=[0], help="CUDA devices, by number (default: 0)")
    parser.add_argument("--smallest", type=size, default=size("1KiB"), help="smallest copy (default: 1KiB)")
    parser.add_argument("--largest", type=size, default=size("1GiB"), help="largest copy (default: 1GiB)")
    parser.add_argument("--factor", type=positive, default=4, help="from one size to the next (default: 4)")
    parser.add_argument("--streams", type=positive, nargs="+", default=[1, 2, 4, 8, 16, 32, 64],
                        help="numbers of streams around the kernel (default: 1 2 4 8 16 32 64)")
    parser.add_argument("--kernel-ms", type=float, default=10.0, help="length of the kernel in ms (default: 10)")
    parser.add_argument("--repeats", type=positive, default=20, help="times each copy is measured (default: 20)")
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
    return args


def sizes(args):
    value = args.smallest
    while value < args.largest:
        yield value
        value *= args.factor
    yield args.largest


def plan(args):
    """Every measurement as (test, gpu, bytes, streams)."""
    for gpu in args.gpus:
        for test in args.tests:
            if test == "streams":
                yield from ((test, gpu, args.largest, count) for count in args.streams)
            else:
                yield from ((test, gpu, count, 1) for count in sizes(args))


def describe(item):
    test, gpu, count, streams = item
    text = {
        "copy": "one copy to the device, one to the host, each alone",
        "both": "copies both ways at once",
        "streams": f"copies in, a kernel and copies out in {streams} streams",
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
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(target + at, tl.load(source + at, mask=at < total), mask=at < total)

    return read


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

    def timed(self, streams, work):
        """Median seconds of `work` between the common start of the streams and the last end of each of them."""
        torch, samples = self.torch, []
        for repeat in range(self.args.repeats + 2):
            begin, ends = self.event(), [self.event() for _ in streams]
            torch.cuda.synchronize()
            first = torch.cuda.current_stream()
            # The GPU waits while everything is enqueued, so that the time to enqueue is not measured.
            torch.cuda._sleep(20_000_000)
            begin.record(first)
            for stream in streams:
                stream.wait_event(begin)
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
        """Copies in, kernel and copies out, cut in `number` parts: an `offload` of weir."""
        torch = self.torch
        host, device = self.buffers(count)
        streams = [torch.cuda.Stream() for _ in range(number)]
        parts = list(zip(host.chunk(number), device.chunk(number)))

        def work():
            for stream, (near, far) in zip(streams, parts):
                with torch.cuda.stream(stream):
                    far.copy_(near, non_blocking=True)
            for stream, _ in zip(streams, parts):
                with torch.cuda.stream(stream):
                    torch.cuda._sleep(int(self.cycles / number))
            for stream, (near, far) in zip(streams, parts):
                with torch.cuda.stream(stream):
                    near.copy_(far, non_blocking=True)

        seconds = max(self.timed(streams, work))
        name = f"streams-{self.device}-{count}-{number}"
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


def measure(args, writer):
    try:
        import torch
    except ImportError:
        sys.exit("measure.py: PyTorch is not installed: pip install torch (or look at the plan with --dry-run)")
    if not torch.cuda.is_available():
        sys.exit("measure.py: PyTorch finds no CUDA device: check nvidia-smi (or look at the plan with --dry-run)")
    benches = {gpu: Bench(torch, args, gpu) for gpu in args.gpus}
    for test, gpu, count, streams in plan(args):
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
