// Bandwidth against size, a line per packet size.

import type { TunedSize } from "../contract.ts";
import { CATEGORIES, DASHES } from "../core/colour.ts";
import { h, s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { extent, powerTicks, rateLabels, ticks } from "../core/scale.ts";
import { type Plot, chartBox, linear, logarithmic, marker, plot, telling } from "./axes.ts";

export interface TuneLine {
  name: string;
  points: { bytes: number; seconds: number; bandwidth: number; packet: number | null }[];
  best: boolean;
}

const packetName = (packet: number | null) => (packet === null ? "no packets" : `packets of ${format.packet(packet)}`);

/** A line per packet that was tried, and the best of all; without `tried`, none against the best. */
export function linesOf(sizes: TunedSize[]): TuneLine[] {
  const lines = new Map<number | null, TuneLine>();
  const add = (packet: number | null, bytes: number, seconds: number) => {
    let line = lines.get(packet);
    if (!line) lines.set(packet, (line = { name: packetName(packet), points: [], best: false }));
    line.points.push({ bytes, seconds, bandwidth: bytes / seconds, packet });
  };
  for (const size of sizes) {
    if (size.tried?.length) for (const t of size.tried) add(t.packet, size.bytes, t.seconds);
    else if (size.without_packets_s !== null) add(null, size.bytes, size.without_packets_s);
  }
  const sorted = [...lines].sort(([a], [b]) => (a ?? 0) - (b ?? 0)).map(([, line]) => line);
  const best = sizes.map((x) => ({
    bytes: x.bytes,
    seconds: x.seconds,
    bandwidth: x.bandwidth_Bps ?? 0,
    packet: x.packet,
  }));
  return [...sorted, { name: "best", points: best, best: true }];
}

export function tuneChart(sizes: TunedSize[]): HTMLElement {
  const lines = linesOf(sizes);
  const points = lines.flatMap((l) => l.points);
  const [low, high] = extent(points.map((p) => p.bytes));
  const most = extent(points.map((p) => p.bandwidth))[1];
  const marks = ticks(0, most * 1.05, 6);
  const sizesShown = powerTicks(low, high, 9);
  const p = plot(
    logarithmic(low, Math.max(high, low * 2), "size", sizesShown, sizesShown.map(format.packet)),
    linear(0, most * 1.05, "bandwidth", marks, rateLabels(marks)),
    "Bandwidth against size, a line per packet size",
    860,
    400,
  );
  lines.forEach((line, i) => drawLine(p, line, i));
  return h(
    "div",
    { class: "with-keys" },
    chartBox(p, "point"),
    h("ul", { class: "chart-keys" }, ...lines.map((line, i) => h("li", {}, key(line, i), line.name))),
  );
}

const colour = (line: TuneLine, i: number) => (line.best ? "var(--ink)" : CATEGORIES[i % CATEGORIES.length]!);

function drawLine(p: Plot, line: TuneLine, i: number): void {
  const d = line.points
    .map((q, k) => `${k ? "L" : "M"}${p.x(q.bytes).toFixed(1)} ${p.y(q.bandwidth).toFixed(1)}`)
    .join("");
  const path = s("path", {
    class: `series${line.best ? " best-series" : ""}`,
    d,
    "stroke-dasharray": line.best ? "none" : DASHES[i % DASHES.length]!.join(" ") || "none",
  });
  path.style.stroke = colour(line, i);
  const marks = line.points.map((q) =>
    telling(marker(i, p.x(q.bytes), p.y(q.bandwidth), colour(line, i), line.best ? 3.2 : 4), [
      { what: "", value: line.best ? `best: ${packetName(q.packet)}` : line.name, title: true },
      { what: "size", value: format.packet(q.bytes) },
      { what: "bandwidth", value: format.rate(q.bandwidth) },
      { what: "time", value: format.time(q.seconds) },
    ]),
  );
  p.root.append(path, ...marks);
}

function key(line: TuneLine, i: number): SVGSVGElement {
  const path = s("line", {
    x1: 0,
    x2: 34,
    y1: 7,
    y2: 7,
    "stroke-width": 2,
    "stroke-dasharray": line.best ? "none" : DASHES[i % DASHES.length]!.join(" ") || "none",
  });
  path.style.stroke = colour(line, i);
  return s("svg", { width: 34, height: 14, "aria-hidden": "true" }, path, marker(i, 17, 7, colour(line, i), 4));
}
