// Bundles src/ into dist/: report.js, report.css, and template.html with the hashes of both in its policy.
// With --check it writes nothing and fails where dist/ is not what the sources build.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The licence of what is bundled, kept at the head of the script. */
async function banner() {
  const licence = await readFile(join(root, "node_modules/uplot/LICENSE"), "utf8");
  const { version } = JSON.parse(await readFile(join(root, "node_modules/uplot/package.json"), "utf8"));
  return `/*! Contains uPlot ${version}:\n${licence.trim().replaceAll("\r", "")}\n*/`;
}

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    minify: true,
    write: false,
    outdir: join(root, "dist"),
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    logLevel: "warning",
  });
  const text = result.outputFiles[0].text.trimEnd();
  return text;
}

/** Text that stands inside an element must not end it, nor look like a placeholder. */
function checkInline(name, text) {
  for (const bad of ["</script", "</style", "<!--", "\r", "{{style}}", "{{script}}", "{{data}}"])
    if (text.includes(bad)) throw new Error(`${name} contains ${JSON.stringify(bad)}: it cannot stand inside a page`);
}

const hash = (text) => `sha256-${createHash("sha256").update(text, "utf8").digest("base64")}`;

async function outputs() {
  const script = `${await banner()}\n${await bundle("src/main.ts")}`;
  const style = await bundle("src/style/report.css");
  checkInline("report.js", script);
  checkInline("report.css", style);
  const template = (await readFile(join(root, "template.html"), "utf8"))
    .replace("{{style-hash}}", hash(style))
    .replace("{{script-hash}}", hash(script));
  return { "report.js": script, "report.css": style, "template.html": template };
}

const files = await outputs();
if (process.argv.includes("--check")) {
  const stale = [];
  for (const [name, text] of Object.entries(files)) {
    const there = await readFile(join(root, "dist", name), "utf8").catch(() => "");
    if (there !== text) stale.push(name);
  }
  if (stale.length) {
    console.error(`dist/ is not what the sources build: ${stale.join(", ")}. Run \`npm run build\` and commit.`);
    process.exit(1);
  }
  console.log("dist/ is what the sources build");
} else {
  await mkdir(join(root, "dist"), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(root, "dist", name), text);
    console.log(`dist/${name}: ${(Buffer.byteLength(text) / 1000).toFixed(1)} kB`);
  }
}
