// The table of jobs, where others slow one of them: groups, patterns and traces beside other items of the workload.

import type { Job } from "../contract.ts";
import { h, name, section, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { RunView } from "../run/view.ts";
import { more, row, table } from "./parts.ts";

const MOST = 200;
/** As `weir run`: what three decimals show. */
const SLOWED = 1.0005;

/** The section, or null where no job is slowed. */
export function jobsSection(views: RunView[]): HTMLElement | null {
  const slowed = views.filter((v) => v.run.jobs?.some((job) => (job.slowdown ?? 0) > SLOWED));
  const rows = slowed.flatMap((v) => (v.run.jobs ?? []).map((job) => jobRow(v, job, views.length > 1)));
  if (rows.length === 0) return null;
  return section(
    "jobs",
    "Jobs",
    "How much longer each takes than when nothing else of the workload runs.",
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of jobs" },
      table(["job", "kind", "begin", "end", "time", "alone", "slowdown"], [], rows.slice(0, MOST)),
    ),
    more(rows.length, MOST),
  );
}

function jobRow(view: RunView, job: Job, titled: boolean): HTMLElement {
  const took = job.start_s !== null && job.end_s !== null ? job.end_s - job.start_s : null;
  const cells = [
    h("span", {}, titled && h("b", { class: "letter" }, view.letter), name(job.id)),
    visible(job.kind),
    format.time(job.start_s),
    format.time(job.end_s),
    format.time(took),
    format.time(job.alone_s),
    format.ratio(job.slowdown),
  ];
  return row(null, cells);
}
