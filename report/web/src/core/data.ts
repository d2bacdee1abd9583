// The data of the page, read from the element that holds it.

import type { ReportData } from "../contract.ts";

export function readData(): Required<ReportData> {
  const text = document.getElementById("weir-data")?.textContent ?? "";
  const data = JSON.parse(text) as Partial<ReportData>;
  if (data.weir !== 1) throw new Error(`the data is of format ${String(data.weir)}; this page reads format 1`);
  return {
    weir: 1,
    runs: data.runs ?? [],
    searches: data.searches ?? [],
    sweeps: data.sweeps ?? [],
    tuned: data.tuned ?? [],
    validated: data.validated ?? [],
    what_ifs: data.what_ifs ?? [],
    aggregated: data.aggregated ?? null,
  };
}
