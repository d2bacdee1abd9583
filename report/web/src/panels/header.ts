// The head of the page: what was computed, from what, and the answer in one number per result.

import type { ReportData, Run } from "../contract.ts";
import { type Children, clipped, h, LONG, LONG_NOTE, name, shortened, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { themeButton } from "../core/theme.ts";
import { endedText } from "../run/coverage.ts";
import { letter } from "../run/view.ts";

export function header(data: Required<ReportData>): HTMLElement {
  const notes = notesOf(data);
  return h(
    "header",
    { class: "page-head" },
    h("div", { class: "head-line" }, h("p", { class: "brand" }, "weir report"), themeButton()),
    h("h1", {}, clipped(titleOf(data))),
    all(data).length > 0 && h("p", { class: "from" }, ...sources(data)),
    notes.length > 0 &&
      h(
        "div",
        { class: "aggregated", role: "note" },
        notes.map((n) => h("p", {}, clipped(n, LONG_NOTE))),
      ),
  );
}

const all = (d: Required<ReportData>) => [
  ...d.runs,
  ...d.searches,
  ...d.sweeps,
  ...d.tuned,
  ...d.validated,
  ...d.what_ifs,
];

/** The scenario of the first result, or the number of results. */
function titleOf(data: Required<ReportData>): string {
  return contentCounts(data) ?? all(data)[0]?.scenario ?? "nothing to show";
}

/** The title of the window. */
export function windowTitle(data: Required<ReportData>): string {
  return contentCounts(data) ?? `${shortened(all(data)[0]?.scenario ?? "weir", LONG)} – weir report`;
}

/** How many results there are, where one name does not stand for them: several kinds, or others than runs of several scenarios. */
function contentCounts(data: Required<ReportData>): string | null {
  const results = all(data);
  const kinds = [data.runs, data.searches, data.sweeps, data.tuned, data.validated, data.what_ifs].filter(
    (list) => list.length > 0,
  );
  const differ = data.runs.length === 0 && new Set(results.map((r) => r.scenario)).size > 1;
  if (kinds.length > 1 || differ) return `weir report: ${format.counted(results.length, "result")}`;
  return null;
}

/** Files and arbiters, each once; of a single run also what was changed, or where it was saved. */
function sources(data: Required<ReportData>): (string | HTMLElement)[] {
  const results = all(data);
  const origin = results.length === 1 ? data.runs[0]?.origin : null;
  const list = (values: string[]) => [...new Set(values)].flatMap((v, i) => [i > 0 ? ", " : "", clipped(v)]);
  return [
    ...list(results.map((x) => x.file)),
    " · ",
    ...list(results.map((x) => format.arbiter(x.arbiter))),
    ...(origin ? [" · ", clipped(origin)] : []),
  ];
}

function notesOf(data: ReportData): string[] {
  const notes = [...(data.aggregated?.notes ?? [])];
  for (const run of data.runs) if (run.aggregated) notes.push(aggregatedNote(run));
  for (const run of data.runs)
    if (!run.complete)
      notes.push(
        `${run.scenario}, ${format.arbiter(run.arbiter)}: the run is not complete, it stopped at ${format.time(run.stopped_s)}${ended(run)}.`,
      );
  for (const run of data.runs)
    for (const remark of run.remarks ?? []) notes.push(`${run.scenario}, ${format.arbiter(run.arbiter)}: ${remark}.`);
  return [...new Set(notes)];
}

const ended = (run: Run) => endedText({ run }) && `: ${endedText({ run })}`;

/** Says what was left out of a large run, and what stands for it. */
export function aggregatedNote(run: Run): string {
  const a = run.aggregated!;
  const bin = (a.to_s - a.from_s) / a.bins;
  const carried = run.links.filter((l) => l.bytes > 0).length;
  const left =
    carried > a.links.length
      ? ` Of ${format.count(carried - a.links.length)} links only the mean over the run is known (marked ~).`
      : "";
  const above = run.fidelity === "packet" ? ", but on links" : ", so a bin may come out above 100 %";
  const rates = a.rates === "means" ? ` Each transfer counts with its mean rate from start to end${above}.` : "";
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
export function footer(data: Required<ReportData>): HTMLElement {
  const several = data.runs.length > 1;
  const runs = data.runs.map((r, i) =>
    source(r, several ? `${letter(i)}: ` : "", `, fingerprint ${visible(r.fingerprint)}`),
  );
  const results: (Source & { scenario: string })[] = [
    ...data.searches,
    ...data.sweeps,
    ...data.tuned,
    ...data.validated,
    ...data.what_ifs,
  ];
  const others = results
    .filter((r) => r.version != null || r.input_sha256)
    .map((r) => source(r, [clipped(r.scenario), ": "], ""));
  return h(
    "footer",
    {},
    h("ul", {}, ...runs, ...others),
    runs.length + others.length > 0 &&
      h("p", {}, "Times are simulated; the data in this page hold them to the picosecond."),
  );
}

/** What a result says of where it is from; not all say it. */
interface Source {
  version?: string;
  input_sha256?: string;
}

function source(of: Source, what: Children, more: string): HTMLElement {
  const version = of.version == null ? "" : ` ${visible(of.version)}`;
  return h("li", {}, what, `weir${version}${more}, input `, name((of.input_sha256 ?? "").slice(0, 16) || format.NONE));
}
