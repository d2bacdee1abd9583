// A part of the page as an SVG document of its own: drawings with the styles that they have on the page, words where they
// stand, and grounds and borders of boxes. What scrolled out of sight is not on it.

import { s } from "./dom.ts";

/** Properties of style sheets that change how SVG looks. */
const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "paint-order",
  "font-family",
  "font-size",
  "font-weight",
  "letter-spacing",
  "text-anchor",
  "dominant-baseline",
] as const;
/** Pixels around the part. */
const MARGIN = 12;

/** What is being drawn: where its corner is on the page, and the definitions that it uses. */
interface Sheet {
  left: number;
  top: number;
  defs: Map<string, Element>;
}

/** The text of an SVG document that shows `part` as it is on the page now. */
export function svgOf(part: HTMLElement): { text: string; width: number; height: number } {
  const box = part.getBoundingClientRect();
  const [width, height] = [Math.ceil(box.width) + 2 * MARGIN, Math.ceil(box.height) + 2 * MARGIN];
  const sheet: Sheet = { left: box.left - MARGIN, top: box.top - MARGIN, defs: new Map() };
  const ground = s("rect", { width, height, fill: hex(getComputedStyle(document.body).getPropertyValue("--card")) });
  const drawn = elementOf(part, sheet);
  const root = s(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    sheet.defs.size > 0 && s("defs", {}, [...sheet.defs.values()]),
    ground,
    drawn,
  );
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

function elementOf(element: Element, sheet: Sheet): Element[] {
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (style.display === "none" || style.visibility === "hidden" || box.width === 0) return [];
  if (element instanceof SVGSVGElement) return [drawingOf(element, box, sheet)];
  if (element instanceof HTMLCanvasElement) return [imageOf(element, box, sheet)];
  if (element instanceof HTMLInputElement) return [];
  const inside = [...element.childNodes].flatMap((child) =>
    child instanceof Element ? elementOf(child, sheet) : child instanceof Text ? wordsOf(child, style, sheet) : [],
  );
  const own = [...groundOf(style, box, sheet), ...inside];
  const clips = style.overflowX !== "visible" || style.overflowY !== "visible";
  return clips && own.length > 0 ? [clipped(own, box, sheet)] : own;
}

/** What lies inside of a box that cuts what is larger. */
function clipped(content: Element[], box: DOMRect, sheet: Sheet): Element {
  const [x, y] = [box.left - sheet.left, box.top - sheet.top];
  const { width, height } = box;
  return s("svg", { x, y, width, height, viewBox: `${x} ${y} ${width} ${height}` }, content);
}

function drawingOf(svg: SVGSVGElement, box: DOMRect, sheet: Sheet): Element {
  const copy = styled(svg, sheet) as SVGSVGElement;
  const place = { x: box.left - sheet.left, y: box.top - sheet.top, width: box.width, height: box.height };
  for (const [key, value] of Object.entries(place)) copy.setAttribute(key, String(value));
  return copy;
}

/** A copy whose styles do not depend on the page. */
function styled(element: Element, sheet: Sheet): Element {
  const copy = element.cloneNode(false) as Element;
  for (const key of ["class", "style", "tabindex", "id"]) if (element.tagName !== "pattern") copy.removeAttribute(key);
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden") return s("g");
  for (const key of STYLES) {
    const value = style.getPropertyValue(key);
    if (!value || value === "normal" || value === "none") {
      if (key === "fill" || key === "stroke") copy.setAttribute(key, value || "none");
      continue;
    }
    copy.setAttribute(key, valueOf(key, value, sheet));
  }
  for (const child of element.childNodes)
    copy.append(child instanceof Element ? styled(child, sheet) : child.cloneNode());
  return copy;
}

/** Colours as every program reads them; patterns with their definitions. */
function valueOf(key: string, value: string, sheet: Sheet): string {
  if (key !== "fill" && key !== "stroke") return value;
  const id = /url\("?#([^")]+)"?\)/.exec(value)?.[1];
  if (!id) return hex(value);
  const definition = document.getElementById(id);
  if (definition && !sheet.defs.has(id)) sheet.defs.set(id, styled(definition, sheet));
  return `url(#${id})`;
}

function imageOf(canvas: HTMLCanvasElement, box: DOMRect, sheet: Sheet): Element {
  const { width, height } = box;
  return s("image", { x: box.left - sheet.left, y: box.top - sheet.top, width, height, href: canvas.toDataURL() });
}

/** The ground of a box, and the lines around it. */
function groundOf(style: CSSStyleDeclaration, box: DOMRect, sheet: Sheet): Element[] {
  const [x, y] = [box.left - sheet.left, box.top - sheet.top];
  const { width, height } = box;
  const out: Element[] = [];
  const fill = hex(style.backgroundColor);
  if (!isClear(fill)) out.push(s("rect", { x, y, width, height, fill }));
  const sides: [string, number, number, number, number][] = [
    ["top", x, y, x + width, y],
    ["bottom", x, y + height, x + width, y + height],
    ["left", x, y, x, y + height],
    ["right", x + width, y, x + width, y + height],
  ];
  for (const [side, x1, y1, x2, y2] of sides) {
    const thick = Number.parseFloat(style.getPropertyValue(`border-${side}-width`));
    const stroke = hex(style.getPropertyValue(`border-${side}-color`));
    if (thick > 0 && style.getPropertyValue(`border-${side}-style`) !== "none" && !isClear(stroke))
      out.push(s("line", { x1, y1, x2, y2, stroke, "stroke-width": thick }));
  }
  return out;
}

/** The words of a text, line by line as they are broken on the page. */
function wordsOf(text: Text, style: CSSStyleDeclaration, sheet: Sheet): Element[] {
  const lines: { text: string; box: DOMRect }[] = [];
  const range = document.createRange();
  for (const [at, letter] of lettersOf(text.data)) {
    range.setStart(text, at);
    range.setEnd(text, at + letter.length);
    const box = range.getClientRects()[0];
    if (!box || box.width === 0) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.box.top - box.top) < 2) last.text += letter;
    else lines.push({ text: letter, box });
  }
  const size = Number.parseFloat(style.fontSize);
  return lines.map(({ text, box }) => {
    // The foot of letters is about a fifth of their size below the middle of the line and its half.
    const place = { x: box.left - sheet.left, y: box.top - sheet.top + box.height / 2 + 0.35 * size };
    const font = { "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight };
    return s("text", { ...place, ...font, fill: hex(style.color), "xml:space": "preserve" }, text.replace(/\s/g, " "));
  });
}

function* lettersOf(text: string): Generator<[number, string]> {
  let at = 0;
  for (const letter of text) {
    yield [at, letter];
    at += letter.length;
  }
}

const known = new Map<string, string>();

/** A colour as `#rrggbb` or, where light comes through, `#rrggbbaa`: style sheets have more forms than other programs read. */
function hex(colour: string): string {
  const before = known.get(colour);
  if (before !== undefined) return before;
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d")!;
  pen.fillStyle = "rgba(0,0,0,0)";
  pen.fillStyle = colour.trim();
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
  const bytes = a === 255 ? [r, g, b] : [r, g, b, a];
  const made = `#${bytes.map((v) => v!.toString(16).padStart(2, "0")).join("")}`;
  known.set(colour, made);
  return made;
}

const isClear = (colour: string) => colour.length === 9 && colour.endsWith("00");

/** Pixels of a picture for each pixel of the page: sharp in print. */
const FINE = 2;

/** The same as a PNG. */
export async function pngOf(part: HTMLElement): Promise<Blob> {
  const { text, width, height } = svgOf(part);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * FINE, height: height * FINE });
  const pen = canvas.getContext("2d")!;
  pen.drawImage(image, 0, 0, width * FINE, height * FINE);
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture is too large for this browser")))),
  );
}
