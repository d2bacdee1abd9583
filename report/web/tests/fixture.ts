// The data of tests: pages that weir wrote (tools/fixtures.mjs), and made-up runs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CAUSE_WORDS, type CauseKind, type Delays, type ReportData, type Run } from "../src/contract.ts";

/** Tests run in the folder of package.json. */
export function fixture(name: string): ReportData {
  return JSON.parse(readFileSync(join(process.cwd(), "tests/fixtures", `${name}.json`), "utf8")) as ReportData;
}

/** Numbers that look random and are the same every time (a linear congruential generator, Numerical Recipes). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

/** A made-up run of `count` transfers between hosts under switches, each at a constant rate. */
export function madeUp(count: number, switches = 8, hosts = 8): Run {
  const next = numbers(7);
  const nodes = [{ id: 0, name: "core", kind: "network", parent: null as number | null }];
  const links: Run["links"] = [];
  const join = (from: string, to: string, bandwidth_Bps: number) => {
    for (const [a, b, direction] of [
      [from, to, "up"],
      [to, from, "down"],
    ] as const)
      links.push({
        id: links.length,
        from: a,
        to: b,
        bytes: 0,
        busy_s: 1,
        peak_Bps: 0,
        bandwidth_Bps,
        latency_s: 0,
        direction,
      });
  };
  for (let leaf = 0; leaf < switches; leaf++) {
    const at = nodes.length;
    nodes.push({ id: at, name: `leaf${leaf}`, kind: "switch", parent: 0 });
    join(`leaf${leaf}`, "core", 5e9);
    for (let host = 0; host < hosts; host++) {
      nodes.push({ id: nodes.length, name: `leaf${leaf}/h${host}`, kind: "host", parent: at });
      join(`leaf${leaf}/h${host}`, `leaf${leaf}`, 1.25e9);
    }
  }
  const link = new Map(links.map((l) => [`${l.from} ${l.to}`, l]));
  const transfers = Array.from({ length: count }, (_, i): Run["transfers"][number] => {
    const [a, b] = [Math.floor(next() * switches), Math.floor(next() * switches)];
    const [from, to] = [
      `leaf${a}/h${Math.floor(next() * hosts)}`,
      `leaf${b}/h${(1 + Math.floor(next() * (hosts - 1))) % hosts}`,
    ];
    const ways =
      a === b
        ? [`${from} leaf${a}`, `leaf${b} ${to}`]
        : [`${from} leaf${a}`, `leaf${a} core`, `core leaf${b}`, `leaf${b} ${to}`];
    const route = ways.map((w) => link.get(w)!);
    const mean_Bps = (1.25e9 * 64) / Math.max(64, count) / 4;
    const start_s = next() * 0.9;
    const seconds = 0.001 + next() * 0.05;
    const bytes = Math.round(mean_Bps * seconds);
    for (const l of route) l.bytes += bytes;
    const end_s = start_s + bytes / mean_Bps;
    return {
      id: `t${i}`,
      from,
      to,
      bytes,
      ready_s: Math.max(0, start_s - 0.01),
      start_s,
      end_s,
      end_ps: null,
      mean_Bps,
      alone_s: null,
      bottleneck: null,
      cause: null,
      route: route.map((l) => l.id!),
    };
  });
  const makespan_s = Math.max(
    ...transfers.slice(0, 1000).map((t) => t.end_s!),
    transfers.reduce((m, t) => Math.max(m, t.end_s!), 0),
  );
  return {
    weir: 1,
    kind: "run",
    version: "0",
    input_sha256: "0",
    scenario: `${count} made-up transfers`,
    file: "-",
    arbiter: { name: "max-min", version: "0", params: {} },
    complete: true,
    fingerprint: "0",
    makespan_s,
    makespan_ps: Math.round(makespan_s * 1e12),
    events: 2 * count,
    transfers,
    links,
    operations: [],
    nodes,
  };
}

/** A cause that names nobody, in words and for programs. */
export const causeOf = (kind: CauseKind) => ({
  cause: CAUSE_WORDS[kind],
  cause_detail: { kind, link: null, by: null },
});

/** Sums at links to `y`: where from, time lost, time held back, and reasons; four other links are not listed. */
export function delaySums(links: [string, number | null, number, string[]][]): Delays {
  return {
    links: links.map(([from, lost_s, delayed_s, why]) => ({ from, to: "y", lost_s, delayed_s, transfers: 10, why })),
    others: 4,
    rest: { lost_s: 0.5, delayed_s: 2, transfers: 7 },
    waiting: { seconds: 9, transfers: 3 },
  };
}
