// Buttons that save the pictures of a section as files: the first picture's stand beside the title.

import { button, h } from "../core/dom.ts";
import { pngOf, svgOf } from "../core/picture.ts";

/** What of a section is a picture. */
const PICTURES = ".rows, .panels, .lines, .charts, .chart-box, .sweep-chart";

/** Puts buttons beside the title of each section with a picture. */
export function offerPictures(main: HTMLElement): void {
  for (const section of main.querySelectorAll<HTMLElement>("section")) {
    const pictures = section.querySelectorAll<HTMLElement>(PICTURES);
    const outer = [...pictures].filter((p) => !p.parentElement!.closest(PICTURES));
    outer.forEach((picture, i) => {
      const name = `${document.title.replace(/ – weir report$/, "")} ${section.id}${outer.length > 1 ? ` ${i + 1}` : ""}`;
      const made = buttons(picture, name);
      if (i === 0) section.append(made);
      else picture.after(made);
    });
  }
}

function buttons(picture: HTMLElement, name: string): HTMLElement {
  const failed = h("span", { role: "alert" });
  const offer = (kind: string, make: () => Promise<Blob>) =>
    button(
      kind,
      () =>
        make().then(
          (blob) => save(blob, `${fileName(name)}.${kind.toLowerCase()}`),
          (error: Error) => (failed.textContent = error.message),
        ),
      { title: `Save what is in view as ${kind}`, "aria-label": `Save as ${kind}` },
    );
  const svg = async () => new Blob([svgOf(picture).text], { type: "image/svg+xml" });
  return h(
    "span",
    { class: "save" },
    failed,
    offer("SVG", svg),
    offer("PNG", () => pngOf(picture)),
  );
}

/** Letters, digits and hyphens: a name for every system. */
function fileName(text: string): string {
  const name = text.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return [...name].slice(0, 100).join("").toLowerCase() || "picture";
}

function save(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
