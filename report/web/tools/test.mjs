// Bundles the tests of a folder and runs them: node tools/test.mjs tests/unit
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = process.argv[2] ?? "tests/unit";
const out = join(root, ".build", folder);
const tests = (await readdir(join(root, folder))).filter((f) => f.endsWith(".test.ts"));
if (tests.length === 0) throw new Error(`no tests in ${folder}`);

await rm(out, { recursive: true, force: true });
await build({
  entryPoints: tests.map((f) => join(root, folder, f)),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  outdir: out,
  outExtension: { ".js": ".mjs" },
  packages: "external",
  // Tools find their files from where they are, so they are not bundled.
  external: ["#tools/*"],
  logLevel: "warning",
});
const files = tests.map((f) => join(out, f.replace(/\.ts$/, ".mjs")));
const result = spawnSync(process.execPath, ["--test", "--test-concurrency=1", ...files], {
  stdio: "inherit",
  cwd: root,
});
process.exit(result.status ?? 1);
