// Sections of `tune` and `validate`.

import type { Tuned, Validated } from "../contract.ts";
import { scatterChart, signed } from "../charts/scatter.ts";
import { tuneChart } from "../charts/tune.ts";
import { arrow, h, name, section, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { more } from "./parts.ts";

/** Rows of a table before the rest is only counted. */
const MOST = 1000;

export function tunedSections(tuned: Tuned, index: number): HTMLElement[] {
  return tuned.operations.map((o, k) => {
    const tried = o.sizes.some((x) => x.tried?.length);
    const rows = o.sizes.map((x) => [
      format.packet(x.bytes),
      x.packet === null ? "none" : format.packet(x.packet),
      format.time(x.seconds),
      format.time(x.without_packets_s),
      x.gain !== null && x.gain > 0 ? format.gain(x.gain) : format.NONE,
      format.rate(x.bandwidth_Bps),
    ]);
    return section(
      `tuned-${index}-${k}`,
      `Packet sizes: ${visible(o.id)}`,
      `${tuned.scenario}, ${tuned.file}, ${format.arbiter(tuned.arbiter)}${tried ? "" : ". Only the best packet of each size is in the data"}`,
      tuneChart(o.sizes),
      dataTable(["size", "best packet", "time", "without packets", "gain", "bandwidth"], rows),
    );
  });
}

export function validatedSection(data: Validated, index: number): HTMLElement {
  const rows = data.transfers
    .slice(0, MOST)
    .map((t) => [
      name(t.id),
      t.from === null || t.to === null ? format.NONE : arrow(t.from, t.to),
      format.bytes(t.bytes),
      format.time(t.measured_s),
      format.time(t.simulated_s),
      signed(t.error),
      visible(t.bottleneck ?? format.NONE),
      visible(t.cause ?? format.NONE),
    ]);
  const left = [
    data.rows_left.length && `${format.counted(data.rows_left.length, "measured row")} without a transfer`,
    data.not_measured.length && `${format.counted(data.not_measured.length, "transfer")} not measured`,
  ].filter(Boolean);
  return section(
    `validated-${index}`,
    `Predicted against measured: ${data.scenario}`,
    `${data.file}, ${format.arbiter(data.arbiter)}. The band is ±15 %; marks and colours tell the links that hold transfers back.`,
    h(
      "p",
      {},
      `${format.percent(data.within_15_percent)} of ${format.counted(data.transfers.length, "transfer")} are within 15 %; mean error ${format.percent(data.mean_error)}, from ${signed(data.lowest_error ?? 0)} to ${signed(data.highest_error ?? 0)}.`,
    ),
    left.length > 0 && h("p", { class: "small" }, `${left.join("; ")}.`),
    scatterChart(data),
    dataTable(["transfer", "from → to", "size", "measured", "simulated", "error", "held back at", "cause"], rows),
    more(data.transfers.length, MOST),
  );
}

export function dataTable(head: string[], rows: (string | HTMLElement)[][]): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": head.join(", ") },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((x) => h("th", { scope: "col" }, x)))),
      h(
        "tbody",
        {},
        rows.map((r) => h("tr", {}, ...r.map((c) => h("td", {}, c)))),
      ),
    ),
  );
}
