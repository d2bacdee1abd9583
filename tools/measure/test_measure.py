"""What measure.py does without a GPU: a stand-in for PyTorch that keeps its rules of streams and events, and the graphs.

Each stream has a time, the end of what was enqueued last. Work without bandwidth limits shows what waits for what.
"""

import contextlib
import io
import itertools
import random
import sys
import types
import unittest

import graphs
import measure

RATE = 1e9  # bytes per second of every copy
POOL = 32


class Stream:
    every = []

    def __init__(self, device):
        self.device, self.time = device, 0.0
        Stream.every.append(self)

    def wait_event(self, event):
        self.time = max(self.time, event.time)

    def wait_stream(self, other):
        self.time = max(self.time, other.time)


class Event:
    def __init__(self, enable_timing=False):
        self.timing, self.device, self.time = enable_timing, None, None

    def record(self, stream):
        if self.device not in (None, stream.device):
            raise RuntimeError("an event of another device")
        self.device, self.time = stream.device, stream.time

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        if not (self.timing and end.timing) or self.device != end.device:
            raise RuntimeError("events without timing, or of two devices")
        return 1e3 * (end.time - self.time)


class Tensor:
    def __init__(self, cuda, count, device):
        self.cuda, self.count, self.device = cuda, count, device

    def chunk(self, number):
        return [Tensor(self.cuda, self.count // number, self.device) for _ in range(number)]

    def copy_(self, source, non_blocking):
        assert non_blocking and source.count == self.count
        ends = [device for device in (source.device, self.device) if device is not None]
        stream = self.cuda.current[ends[0]]
        # As aten/src/ATen/native/cuda/Copy.cu: the copy waits for the target's current stream, and that one for the copy.
        target = self.cuda.current[ends[-1]]
        stream.time = max(stream.time, target.time) + self.count / RATE
        target.time = max(target.time, stream.time)


class Cuda:
    """torch.cuda of some devices."""

    def __init__(self, devices, peers=True):
        self.devices, self.peers, self.at = devices, peers, 0
        self.current = {device: Stream(device) for device in range(devices)}
        self.pools = {device: itertools.cycle([Stream(device) for _ in range(POOL)]) for device in range(devices)}
        self.Event = Event

    def Stream(self):
        return next(self.pools[self.at])

    @contextlib.contextmanager
    def device(self, device):
        before, self.at = self.at, device
        yield
        self.at = before

    @contextlib.contextmanager
    def stream(self, stream):
        before, at = self.current[stream.device], self.at
        self.current[stream.device], self.at = stream, stream.device
        yield
        self.current[stream.device], self.at = before, at

    def set_device(self, device):
        self.at = device

    def synchronize(self, device=None):
        # What is enqueued from here on begins after all that was.
        now = max(stream.time for stream in Stream.every)
        for stream in Stream.every:
            stream.time = now

    def is_available(self):
        return True

    def get_device_name(self, device):
        if device >= self.devices:
            raise AssertionError("Invalid device id")
        return "a GPU"

    def can_device_access_peer(self, a, b):
        return self.peers

    def _sleep(self, cycles):
        self.current[self.at].time += cycles / 1e9


def torch(devices, peers=True):
    cuda = Cuda(devices, peers)

    def empty(count, dtype, device=None, pin_memory=False):
        at = None if device is None else cuda.at if device == "cuda" else int(device.split(":")[1])
        return Tensor(cuda, count, at)

    return types.SimpleNamespace(cuda=cuda, empty=empty, uint8=0)


def peers(devices, *more):
    return measure.Peers(torch(devices), measure.parse(["--gpus", "0", "1", "--tests", "peer", "--repeats", "3", *more]))


class Copies(unittest.TestCase):
    def test_copies_of_a_set_wait_for_no_other(self):
        for flows in [
            [(0, 1)],
            [(0, 1), (1, 0)],
            [(0, 2), (1, 2)],
            [(0, 2), (1, 2), (3, 2)],
            [(0, 1), (0, 2)],
            [(0, 1), (1, 2), (2, 0)],
            [(2, 1), (1, 0), (3, 0), (0, 1)],
        ]:
            for seconds in peers(4).timed(flows, 10**9):
                self.assertAlmostEqual(seconds, 1.0, msg=str(flows))

    def test_host_copies_both_ways_are_at_once(self):
        bench = measure.Bench(torch(1), measure.parse(["--repeats", "3"]), 0)
        rows = list(bench.both(10**9)) + list(bench.copy(10**9))
        self.assertEqual([float(row[4]) for row in rows], [1.0] * 4)
        self.assertEqual([row[1:3] for row in rows[:2]], [["cpu0", "gpu0"], ["gpu0", "cpu0"]])

    def test_each_engine_runs_one_part_after_another(self):
        bench = measure.Bench(torch(1), measure.parse(["--repeats", "1", "--kernel-ms", "40"]), 0)
        # Parts of 1 ms each way: the first in, both kernels of 20 ms, the last out. Without a kernel: two in, the last out.
        row = list(bench.streams(2 * 10**6, 2))[0]
        self.assertAlmostEqual(float(row[4]), 0.042)
        bench.cycles = 0
        self.assertAlmostEqual(float(list(bench.streams(2 * 10**6, 2))[0][4]), 0.003)
        self.assertEqual(row[0], "streams-gpu0-2000000-40ms-2")

    def test_the_length_of_the_kernel(self):
        bench = measure.Bench(torch(1), measure.parse(["--kernel-ms", "7"]), 0)
        self.assertAlmostEqual(bench.cycles, 7e6, places=3)

    def test_what_is_missing_is_said(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            measure.Peers(torch(2, peers=False), measure.parse(["--gpus", "0", "1", "--tests", "peer"])).warn()
            peers(2).warn()
        self.assertEqual(said.getvalue().count("0>1 1>0"), 1)
        sys.modules["torch"] = torch(2)
        try:
            with self.assertRaisesRegex(SystemExit, "no CUDA device 2"):
                measure.opened([0, 2])
        finally:
            del sys.modules["torch"]


class Plan(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual([measure.size(text) for text in ["4kB", "4KiB", "1GB", "1GiB", "7B"]], [4000, 4096, 10**9, 1 << 30, 7])
        args = measure.parse(["--smallest", "4kB", "--largest", "1GB"])
        sizes = list(measure.sizes(args))
        self.assertEqual((sizes[0], sizes[-1], len(sizes)), (4000, 10**9, 10))

    def test_sets_are_about_as_many_as_of_the_paper(self):
        args = measure.parse("--gpus 0 1 2 3 4 5 6 7 --tests sets --flows 5 --placements 14".split())
        found = measure.peer_flows(args, "sets")
        self.assertTrue(6000 < len(found) < 7500, len(found))
        for flows in found:
            self.assertTrue(all(a != b and {a, b} <= set(range(8)) for a, b in flows))
            self.assertEqual(len(set(flows)), len(flows))


class Graphs(unittest.TestCase):
    def test_equal_graphs_have_one_form(self):
        chooser = random.Random(3)
        for _ in range(200):
            arrows = chooser.sample(list(itertools.permutations(range(5), 2)), chooser.randint(1, 5))
            names = chooser.sample(range(9), 5)
            renamed = [(names[a], names[b]) for a, b in arrows]
            self.assertEqual(graphs.canonical(arrows), graphs.canonical(renamed))

    def test_listed_graphs_differ_and_none_lacks(self):
        # All graphs of three arrows on four devices, by brute force.
        def least(arrows):
            every = itertools.permutations(range(4))
            return min(tuple(sorted((new[a], new[b]) for a, b in arrows)) for new in every)

        forms = {least(arrows) for arrows in itertools.combinations(itertools.permutations(range(4), 2), 3)}
        self.assertEqual(len(graphs.graphs(3, 4)), len(forms))


if __name__ == "__main__":
    unittest.main()
