#!/usr/bin/env python3
"""Runs the same PCIe loads packet by packet on weir and on the models of cocotbext-pcie, and compares ends and speed.

Usage: packets.py [--weir PATH] [--packets N]

cocotbext-pcie (https://github.com/alexforencich/cocotbext-pcie, MIT) checks PCIe hardware: endpoints, switches and a root
complex written in Python, driven by an HDL simulator. Only this comparison needs it. README.md says what differs. Ends must agree
within 2 %; else the script ends with status 1.
"""

import argparse
import json
import logging
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

# PCIe 3.0 x16: 8 GT/s by lane, 128b/130b.
SPEED, WIDTH = 3, 16
BANDWIDTH = 8e9 * 128 / 130 * WIDTH / 8
# Bytes: the models' largest payload; sequence, LCRC and framing (8), and a header with a 32-bit address (12).
PAYLOAD, HEADER = 128, 20
# Both ends of a link take 5 ns there.
LATENCY_NS = 10
# Devices of each switch, and transfers by the number of their devices.
LOADS = {
    "one switch, 2 to 1": ([3], [(0, 2), (1, 2)]),
    "one switch, a ring of 4": ([4], [(0, 1), (1, 2), (2, 3), (3, 0)]),
    "tree of 2 switches, 2 cross": ([2, 2], [(0, 2), (1, 3)]),
    "tree of 2 switches, 4 cross, 2 stay": ([3, 3], [(0, 3), (1, 4), (3, 0), (4, 1), (2, 0), (5, 3)]),
}
# Largest difference of an end, relative.
TOLERANCE = 0.02


def weir_yaml(devices, transfers, packets):
    packet = f"rate: wire, payload: {PAYLOAD}B, header: {HEADER}B, switching: store-and-forward, queues: voq, inputs: parallel"
    lines = ["weir: 1", "fidelity: { packet: { skip_ahead: false } }", "topology:", "  link_types:"]
    lines += [f"    l: {{ bandwidth: {BANDWIDTH!r}B/s, latency: {LATENCY_NS}ns, packet: {{ {packet} }} }}"]
    lines += ["  tree:", "    rc:", "      kind: root-complex", "      children:"]
    first = 0
    for number, count in enumerate(devices):
        below = ", ".join(f"g{first + at}: {{ kind: gpu, link: l, engines: 8 }}" for at in range(count))
        lines += [f"        s{number}: {{ kind: switch, link: l, children: {{ {below} }} }}"]
        first += count
    lines += ["workload:"]
    for source, sink in transfers:
        lines += [f"  - transfer: {{ from: g{source}, to: g{sink}, size: {packets * PAYLOAD}B }}"]
    return "\n".join(lines) + "\n"


def on_weir(weir, folder, load, packets):
    """The ends, and hops a CPU second of the whole command."""
    scenario = folder / "load.yaml"
    scenario.write_text(weir_yaml(*load, packets))

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    out = subprocess.run([weir, "run", "--no-plugins", "--json", scenario], check=True, capture_output=True, text=True)
    run = json.loads(out.stdout)
    return [transfer["end_s"] for transfer in run["transfers"]], run["hops"] / (spent() - before)


def on_cocotb(folder, load, packets, hops):
    """The ends, and hops a CPU second of the transfers alone."""
    from cocotb_tools.runner import get_runner

    top, result = folder / "top.v", folder / "result.json"
    top.write_text("`timescale 1ps/1ps\nmodule top; endmodule\n")
    runner, scale = get_runner("icarus"), ("1ps", "1ps")
    common = {"build_dir": folder / "build", "timescale": scale, "hdl_toplevel": "top"}
    runner.build(sources=[top], log_file=folder / "build.log", **common)
    asked = {"devices": load[0], "transfers": load[1], "packets": packets, "result": str(result)}
    env = {"WEIR_LOAD": json.dumps(asked), "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    runner.test(test_module="packets", test_dir=folder, extra_env=env, log_file=folder / "run.log", **common)
    found = json.loads(result.read_text())
    return found["ends_s"], hops / found["seconds"]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--weir", default=pathlib.Path(__file__).resolve().parents[2] / "target" / "release" / "weir")
    options.add_argument("--packets", type=int, default=1000, help="of each transfer")
    asked = options.parse_args()
    print("| load | ends, weir / cocotbext-pcie | hops a second: cocotbext-pcie | weir | times |")
    print("|---|---|---|---|---|")
    worst = 0.0
    for name, load in LOADS.items():
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            ours, _ = on_weir(asked.weir, folder, load, asked.packets)
            # Of small loads the command's start is most of its time.
            _, rate = on_weir(asked.weir, folder, load, 500 * asked.packets)
            switch = [at for at, count in enumerate(load[0]) for _ in range(count)]
            hops = asked.packets * sum(2 if switch[a] == switch[b] else 4 for a, b in load[1])
            theirs, slow = on_cocotb(folder, load, asked.packets, hops)
        ratios = [own / other for own, other in zip(ours, theirs)]
        worst = max(worst, *(abs(ratio - 1) for ratio in ratios))
        print(f"| {name} | {min(ratios):.4f} to {max(ratios):.4f} | {slow:.0f} | {rate:.3g} | {rate / slow:.0f} |", flush=True)
    if worst > TOLERANCE:
        sys.exit(f"an end differs by {100 * worst:.1f} %")


def cocotb_test():
    """The load as a test of cocotb, in the HDL simulator's process."""
    import cocotb
    from cocotb.triggers import Timer
    from cocotb.utils import get_sim_steps, get_sim_time
    from cocotbext.pcie.core import Device, MemoryEndpoint, RootComplex, Switch

    class Sink(MemoryEndpoint):
        """A device that notes when the last packet of each transfer has come, which begins with its number."""

        def __init__(self):
            super().__init__()
            self.add_mem_region(1 << 16)
            self.times = {}

        async def write_region(self, region, addr, data):
            self.times[data[0]] = get_sim_time("step")

    def fast(port):
        port.max_link_speed, port.max_link_width = SPEED, WIDTH
        return port

    def joined(parent, port):
        fast(parent.make_port().downstream_port).connect(fast(port))

    @cocotb.test()
    async def load(_):
        logging.getLogger("cocotb.pcie").setLevel(logging.ERROR)
        asked = json.loads(os.environ["WEIR_LOAD"])
        root, sinks = RootComplex(), []
        for count in asked["devices"]:
            switch = Switch()
            joined(root, switch.upstream_bridge.upstream_port)
            for _ in range(count):
                sinks.append(Sink())
                joined(switch, Device(sinks[-1]).upstream_port)
        await root.enumerate()
        for sink in sinks:
            function = root.find_device(sink.pcie_id)
            await function.enable_device()
            await function.set_master()

        async def send(number, source, sink):
            base, data = sinks[sink].bar[0] & ~0xF, bytes([number]) * PAYLOAD
            for _ in range(asked["packets"]):
                await sinks[source].mem_write(base, data)

        begin, clock = get_sim_time("step"), time.process_time()
        sending = [cocotb.start_soon(send(number, *pair)) for number, pair in enumerate(asked["transfers"])]
        for each in sending:
            await each
        # What has left comes within that.
        await Timer(100, "us")
        took = time.process_time() - clock
        last = [sinks[sink].times[number] - begin for number, (_, sink) in enumerate(asked["transfers"])]
        ends = [steps / get_sim_steps(1, "sec") for steps in last]
        pathlib.Path(asked["result"]).write_text(json.dumps({"ends_s": ends, "seconds": took}))

    return load


if __name__ == "__main__":
    main()
else:
    load = cocotb_test()
