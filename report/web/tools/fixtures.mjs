// Writes tests/fixtures/*.json anew: node tools/fixtures.mjs WEIR   (a weir binary; run from anywhere)
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { dataOf } from "./page.mjs";
import { pack } from "./pack.mjs";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");
const root = join(web, "../..");
const weir = resolve(process.argv[2] ?? "weir");
const call = (...args) => execFileSync(weir, args, { cwd: root, maxBuffer: 1 << 28, encoding: "utf8" });
const run = (...args) => call("run", ...args, "--full", "--json");

/** Eight sizes, one of them twice, with and without overhead and gap (both assumed). */
const grid = `optimize={ vary: order, parameters: {
  "workload[0].pattern.size": [20kB, 40kB, 80kB, 120kB, 254kB, 80kB, 500kB, 1MB],
  "workload[0].pattern.model.overhead": [0us, 10us],
  "workload[0].pattern.model.gap": [0us, 20us] } }`;

const pages = {
  t2: [run("scenarios/pcie/four-transfers.yaml")],
  halo: [run("scenarios/pcie/halo-3d-file-order.yaml", "scenarios/pcie/halo-3d-fastest.yaml")],
  hol: [
    run(
      "scenarios/pcie/hol-blocking.yaml",
      "--arbiter",
      "pcie-congestion",
      "--arbiter",
      "fcfs",
      "--arbiter",
      "max-min",
    ),
  ],
  gather: [
    run("scenarios/multilevel/gather-shared-network.yaml"),
    call("explain", "scenarios/multilevel/gather-shared-network.yaml", "--json"),
  ],
  streams: [
    run("scenarios/offload/four-streams.yaml"),
    call("explain", "scenarios/offload/four-streams.yaml", "--json"),
  ],
  lateral: [run("scenarios/imported/nccl-aws-p4d-24xl-8xA100-all-to-all.yaml")],
  regions: [run("scenarios/clusters/rails.yaml")],
  hostile: [run("report/web/tests/fixtures/hostile.yaml")],
  results: [
    call("optimize", "scenarios/optimize/order-halo-2d-t2.yaml", "--no-timing", "--json"),
    call("optimize", "scenarios/mapping/helios-stencil.yaml", "--no-timing", "--json"),
    call("optimize", "scenarios/optimize/packets.yaml", "--no-timing", "--json"),
    call("tune", "scenarios/multilevel/tuning-made-up.yaml", "--sizes", "1KiB..32MiB", "--json"),
    call(
      "validate",
      "scenarios/measured/h2d-eight-gpus.yaml",
      "--measured",
      "scenarios/measured/h2d-eight-gpus.csv",
      "--json",
    ),
  ],
  sweep: [call("optimize", "scenarios/optimize/weather-step.yaml", "--set", grid, "--no-timing", "--json")],
};

for (const [name, texts] of Object.entries(pages)) {
  const data = dataOf(texts);
  if (name === "gather") data.runs = data.runs.map(pack);
  if (name === "sweep") data.sweeps = data.sweeps.map(withFewKeys);
  if (name === "results") data.searches[1] = withTree(data.searches[1]);
  const text = `${JSON.stringify(data)}\n`;
  await writeFile(join(web, "tests/fixtures", `${name}.json`), text);
  console.log(`${name}.json: ${(text.length / 1000).toFixed(1)} kB`);
}

/** A sweep as `weir report` hands it over. */
function withFewKeys(sweep) {
  const points = sweep.points.map(({ point, baseline_s, best_s, proved_optimal }) => {
    return { point, baseline_s, best_s, proved_optimal };
  });
  return { ...sweep, points };
}

/** A placement with the tree it is on, and ranks as the scenario has them. */
function withTree(search) {
  const { nodes, links } = JSON.parse(run("scenarios/mapping/helios-stencil.yaml"));
  const baseline_placement = nodes.filter((n) => n.kind === "gpu").map((n) => n.name);
  return {
    ...search,
    nodes,
    links: links.map((l) => ({ ...l, bytes: 0, busy_s: 0, peak_Bps: 0 })),
    baseline_placement,
  };
}
