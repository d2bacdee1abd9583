// Writes a page from JSON that weir printed: node tools/page.mjs FILE… -o report.html
// [--pack] writes phases and explanations in tables, [--aggregate] in bins.
// A file may hold several lines (one object each); `explain --json` lines add plans to the run before them.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { aggregate } from "./aggregate.mjs";
import { pack } from "./pack.mjs";

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");

/** JSON that may stand inside a script element: nothing in it can end the element or a line of script. */
export function embed(value) {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The page: the template with style, script and, last, data in their places. */
export async function page(data) {
  const read = (name) => readFile(join(dist, name), "utf8");
  const [template, style, script] = await Promise.all(["template.html", "report.css", "report.js"].map(read));
  const put = (text, mark, part) => {
    const at = text.indexOf(mark);
    return text.slice(0, at) + part + text.slice(at + mark.length);
  };
  return put(put(put(template, "{{style}}", style), "{{script}}", script), "{{data}}", embed(data));
}

/** Which list of the data an object of weir belongs to. */
function kindOf(object) {
  if (object.kind === "whatif") return "what_ifs";
  if ("axes" in object) return "sweeps";
  if ("vary" in object) return "searches";
  if ("within_15_percent" in object) return "validated";
  if (Array.isArray(object.transfers)) return "runs";
  if (object.operations?.[0]?.sizes) return "tuned";
  return "explained";
}

/** The data of a page from the texts of files, each one or more JSON objects, one per line. */
export function dataOf(texts) {
  const data = { weir: 1, runs: [], searches: [], tuned: [], validated: [], what_ifs: [], aggregated: null };
  for (const text of texts)
    for (const line of text.split("\n").filter((l) => l.trim() !== "")) {
      const object = JSON.parse(line);
      const kind = kindOf(object);
      if (kind === "explained") data.runs.at(-1).plans = object.operations ?? [];
      else (data[kind] ??= []).push(object);
    }
  return data;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const args = process.argv.slice(2);
  const o = args.indexOf("-o");
  const out = o < 0 ? "report.html" : args.splice(o, 2)[1];
  const flag = (name) => args.includes(name) && args.splice(args.indexOf(name), 1).length > 0;
  const [packs, aggregates] = [flag("--pack"), flag("--aggregate")];
  const texts = await Promise.all(args.map((f) => readFile(f, "utf8")));
  const data = dataOf(texts);
  if (packs) data.runs = data.runs.map(pack);
  if (aggregates) data.runs = data.runs.map((run) => aggregate(run));
  const html = await page(data);
  await writeFile(out, html);
  console.log(`${out}: ${(Buffer.byteLength(html) / 1000).toFixed(1)} kB`);
}
