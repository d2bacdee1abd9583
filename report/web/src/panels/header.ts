// The head of the page: what was computed, from what, and the answer in one number per result.

import type { ReportData, Run } from "../contract.ts";
import { h, name, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { themeButton } from "../core/theme.ts";
import { letter } from "../run/view.ts";

export function header(data: Required<ReportData>): HTMLElement {
  const first = data.runs[0] ?? data.searches[0] ?? data.sweeps[0] ?? data.tuned[0] ?? data.validated[0];
  const notes = notesOf(data);
  return h(
    "header",
    { class: "page-head" },
    h("div", { class: "head-line" }, h("p", { class: "brand" }, "weir report"), themeButton()),
    h("h1", {}, name(first?.scenario ?? "nothing to show")),
    first && h("p", { class: "from" }, ...sources(data)),
    notes.length > 0 &&
      h(
        "div",
        { class: "aggregated", role: "note" },
        notes.map((n) => h("p", {}, visible(n))),
      ),
  );
}

/** Files and arbiters, each once. */
function sources(data: Required<ReportData>): (string | HTMLElement)[] {
  const all = [...data.runs, ...data.searches, ...data.sweeps, ...data.tuned, ...data.validated];
  const list = (values: string[]) => [...new Set(values)].flatMap((v, i) => [i > 0 ? ", " : "", name(v)]);
  return [...list(all.map((x) => x.file)), " · ", ...list(all.map((x) => format.arbiter(x.arbiter)))];
}

function notesOf(data: ReportData): string[] {
  const notes = [...(data.aggregated?.notes ?? [])];
  for (const run of data.runs) if (run.aggregated) notes.push(aggregatedNote(run));
  for (const run of data.runs)
    if (!run.complete)
      notes.push(
        `${run.scenario}, ${format.arbiter(run.arbiter)}: the run is not complete, it stopped at ${format.time(run.stopped_s)}.`,
      );
  return [...new Set(notes)];
}

/** Says what was left out of a large run, and what stands for it. */
export function aggregatedNote(run: Run): string {
  const a = run.aggregated!;
  const bin = (a.to_s - a.from_s) / a.bins;
  const carried = run.links.filter((l) => l.bytes > 0).length;
  const left =
    carried > a.links.length
      ? ` Of ${format.count(carried - a.links.length)} links only the mean over the run is known (marked ~).`
      : "";
  const rates =
    a.rates === "means"
      ? " Each transfer counts with its mean rate from start to end, so a bin may come out above 100 %."
      : "";
  return (
    `Aggregated: ${tooLarge(a.transfers)}. Utilisation and rates are means over ` +
    `${format.count(a.bins)} bins of ${format.time(bin)}, transfers are grouped by ${a.by}; ` +
    `${format.counted(run.transfers.length, "transfer")} (${a.kept}) can be looked at one by one.${left}${rates}`
  );
}

/** More transfers than this are never drawn one by one; fewer are aggregated where they, or their plans, take too much room. */
const MANY = 2000;

function tooLarge(transfers: number): string {
  if (transfers > MANY) return `${format.count(transfers)} transfers are too many to draw one by one`;
  return `the data of ${format.counted(transfers, "transfer")} and what was planned for them are too large for a page`;
}

/** Where the numbers are from: versions and digests, so that a page can be matched with its inputs. */
export function footer(data: ReportData): HTMLElement {
  const runs = data.runs.map((r, i) =>
    h(
      "li",
      {},
      `${data.runs.length > 1 ? `${letter(i)}: ` : ""}weir ${visible(r.version)}, fingerprint ${visible(r.fingerprint)}, input `,
      name((r.input_sha256 ?? "").slice(0, 16) || format.NONE),
    ),
  );
  return h(
    "footer",
    {},
    h("ul", {}, ...runs),
    runs.length > 0 && h("p", {}, "Times are simulated; the data in this page hold them to the picosecond."),
  );
}
