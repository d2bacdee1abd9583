// Opens timelines of `weir run` in Perfetto: node .ci/open-traces.mjs PERFETTO RUN.trace…   (RUN.json: the run's result)
// Fails where Perfetto counts an error, or does not find in the trace what the result says: every link with its bytes and its
// greatest load, every transfer on each link it crossed, from its start to its last byte, to the nanosecond.
import { createReadStream, existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, extname, join, normalize } from "node:path";

import { withBrowser } from "../report/web/tools/shot.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Serves the files of a folder on a free port of this machine. */
async function serve(root) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const file = join(root, path.endsWith("/") ? `${path}index.html` : path);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

/** The rows that Perfetto's own engine answers. */
const query = (page, sql) =>
  page.evaluate(async (sql) => {
    const result = await globalThis.app.trace.engine.query(sql);
    const [columns, rows] = [result.columns(), []];
    for (const row = result.iter({}); row.valid(); row.next())
      rows.push(Object.fromEntries(columns.map((c) => [c, typeof row.get(c) === "bigint" ? Number(row.get(c)) : row.get(c)])));
    return rows;
  }, sql);

async function opened(context, port, file) {
  const page = await context.newPage();
  // Nothing but this machine is asked.
  await page.route("**/*", (route) => (new URL(route.request().url()).port === String(port) ? route.continue() : route.abort()));
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.waitForFunction(() => globalThis.app !== undefined);
  const text = await readFile(file, "utf8");
  // Until the page listens, a message is lost: it is sent again.
  await page.waitForFunction(
    ([text, title]) => {
      if (globalThis.app.trace?.traceInfo?.traceTitle?.includes(title)) return true;
      if (globalThis.sentAt === undefined || performance.now() - globalThis.sentAt > 5000) {
        globalThis.sentAt = performance.now();
        window.postMessage({ perfetto: { buffer: new TextEncoder().encode(text).buffer, title } }, "*");
      }
      return false;
    },
    [text, basename(file)],
    { polling: 200, timeout: 60000 },
  );
  return page;
}

const SLICES = `select p.name as process, s.name as name, s.ts as ts, s.dur as dur, extract_arg(s.arg_set_id, 'args.bytes') as bytes
  from slice s join process_track t on s.track_id = t.id join process p using (upid) where s.category = 'transfer'`;
const PEAKS = `select p.name as process, max(c.value) as peak from counter c join process_counter_track t on c.track_id = t.id
  join process p using (upid) where t.name like 'rate%' group by 1`;

/** What in the trace, as Perfetto reads it, is not as the result says. */
async function differences(page, result) {
  const wrong = [];
  for (const stat of await query(page, "select name, value from stats where severity in ('error', 'data_loss') and value > 0"))
    wrong.push(`${stat.name} ${stat.value}`);
  const [slices, peaks] = [await query(page, SLICES), new Map()];
  for (const { process, peak } of await query(page, PEAKS)) peaks.set(process, peak);
  for (const link of result.links) {
    const name = `${link.from} → ${link.to}`;
    const bytes = slices.filter((s) => s.process === name).reduce((sum, s) => sum + s.bytes, 0);
    if (bytes !== link.bytes) wrong.push(`${name}: ${bytes} bytes, not ${link.bytes}`);
    const peak = (peaks.get(name) ?? 0) * 1e9;
    if (!(Math.abs(peak - link.peak_Bps) <= 1e-9 * link.peak_Bps)) wrong.push(`${name}: peak ${peak}, not ${link.peak_Bps}`);
  }
  const known = new Map(result.transfers.map((t) => [t.id, t]));
  const crossed = new Set(slices.map((s) => s.name));
  for (const s of slices) {
    const t = known.get(s.name);
    if (!t || Math.abs(s.ts - t.start_s * 1e9) > 1) wrong.push(`${s.name} on ${s.process} starts at ${s.ts} ns`);
    else if (Math.abs(s.bytes / s.dur - t.mean_Bps / 1e9) > (2 * s.bytes) / s.dur ** 2) wrong.push(`${s.name} takes ${s.dur} ns`);
  }
  for (const id of known.keys()) if (!crossed.has(id)) wrong.push(`${id} is not there`);
  if (slices.length === 0) wrong.push("no slices");
  return { wrong, count: slices.length };
}

const [root, ...files] = process.argv.slice(2);
const server = await serve(root);
let failed = false;
await withBrowser(async (context) => {
  for (const file of files) {
    const page = await opened(context, server.address().port, file);
    const result = JSON.parse(await readFile(file.replace(/\.trace$/, ".json"), "utf8"));
    const { wrong, count } = await differences(page, result);
    console.log(`${basename(file)}: ${count} slices of transfers in Perfetto, ${wrong.length} differences`);
    for (const what of wrong.slice(0, 20)) console.error(`  ${what}`);
    failed ||= wrong.length > 0;
    await page.close();
  }
});
server.close();
server.closeAllConnections();
process.exitCode = failed ? 1 : 0;
