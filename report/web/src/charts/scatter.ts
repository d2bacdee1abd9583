// Predicted against measured: points near the diagonal are right, the band around it is 15 %.

import type { Validated } from "../contract.ts";
import { CATEGORIES } from "../core/colour.ts";
import { s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { ticks, timeLabels } from "../core/scale.ts";
import { type Axis, chartBox, linear, logarithmic, marker, plot, telling } from "./axes.ts";

/** The error that the summary counts. */
const BAND = 0.15;

/** Logarithmic where the times differ by more than a factor of 20. */
function axis(low: number, high: number, title: string): Axis {
  if (low > 0 && high / low > 20) {
    const powers: number[] = [];
    for (let p = 10 ** Math.floor(Math.log10(low)); p <= high * 1.0001; p *= 10) if (p >= low * 0.9999) powers.push(p);
    return logarithmic(low, high, title, powers, powers.map((p) => format.time(p)));
  }
  const marks = ticks(low, high, 6);
  return linear(low, high, title, marks, timeLabels(marks));
}

export function scatterChart(data: Validated): HTMLElement {
  const times = data.transfers.flatMap((t) => [t.measured_s, t.simulated_s]);
  const [low, high] = [Math.min(...times) * 0.9, Math.max(...times) * 1.1];
  const p = plot(axis(low, high, "measured"), axis(low, high, "simulated"), "Simulated times against measured ones", 560, 480);
  const clip = (v: number) => Math.min(high, Math.max(low, v));
  const steps = Array.from({ length: 33 }, (_, i) => low * (high / low) ** (i / 32));
  const edge = (factor: number) => steps.map((v) => `${p.x(v).toFixed(1)} ${p.y(clip(v * factor)).toFixed(1)}`);
  p.root.append(
    s("path", { class: "band", d: `M${[...edge(1 + BAND), ...edge(1 - BAND).reverse()].join("L")}Z` }),
    s("path", { class: "diagonal", d: `M${p.x(low)} ${p.y(low)}L${p.x(high)} ${p.y(high)}` }),
    s("text", { class: "tick", x: p.left + 12, y: p.top + 16 }, "slower than measured"),
    s("text", { class: "tick", x: p.right - 12, y: p.bottom - 10, "text-anchor": "end" }, "faster than measured"),
  );
  const held = [...new Set(data.transfers.map((t) => t.bottleneck ?? ""))];
  for (const t of data.transfers) {
    const k = Math.min(held.indexOf(t.bottleneck ?? ""), CATEGORIES.length - 1);
    const mark = marker(k, p.x(t.measured_s), p.y(t.simulated_s), CATEGORIES[k]!, 5);
    p.root.append(
      telling(mark, [
        { what: "", names: [t.id], title: true },
        { what: "from, to", names: [t.from, t.to] },
        { what: "measured", value: format.time(t.measured_s) },
        { what: "simulated", value: format.time(t.simulated_s) },
        { what: "error", value: signed(t.error) },
        ...(t.bottleneck ? [{ what: "held back at", names: [t.bottleneck] }] : []),
      ]),
    );
  }
  return chartBox(p);
}

export function signed(error: number): string {
  return `${error > 0 ? "+" : error < 0 ? "−" : "± "}${format.percent(Math.abs(error))}`;
}
