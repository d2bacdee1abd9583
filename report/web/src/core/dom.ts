// Elements from data. Text only ever becomes text: nothing here parses markup.

export type Child = Node | string | null | undefined | false;
/** Lists that may be long are given whole: a call takes only so many arguments. */
export type Children = Child | readonly Child[];
type Attributes = Record<string, string | number | boolean | null | undefined>;

function fill<T extends Element>(element: T, attributes: Attributes, children: Children[]): T {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child || child === "") element.append(child);
  return element;
}

/** An HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Children[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Children[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** A name from a scenario: kept apart from the text around it whatever its direction is. */
export function name(text: string, attributes: Attributes = {}): HTMLElement {
  return h("bdi", attributes, visible(text));
}

/** Two names of a directed link or of a transfer's ends. */
export function arrow(from: string, to: string): HTMLElement {
  return h("span", { class: "arrow" }, name(from), " → ", name(to));
}

/** Line breaks and marks that turn or hide text are shown as what they are. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) =>
    c === "\n" ? "⏎" : c === "\t" ? "⇥" : `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** A name in an attribute or in SVG text, where `bdi` cannot stand: isolated by characters. */
export function isolated(text: string): string {
  return `\u2068${visible(text)}\u2069`;
}

/** At most `most` characters of a name. */
export function shortened(text: string, most: number): string {
  const seen = [...visible(text)];
  return seen.length <= most ? seen.join("") : `${seen.slice(0, most - 1).join("")}…`;
}

/** A button with a label for those who see it and, where it is a sign, one for those who hear it. */
export function button(label: Child, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = h("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}

/** Characters from which a title, or a note, is clipped (*assumed*: about three lines of a title, and more than any note of the page). */
export const [LONG, LONG_NOTE] = [160, 1200];

/** A name that may be very long: then three lines of it, the whole in its tooltip and, by a button, in its place. */
export function clipped(text: string, long = LONG): HTMLElement {
  const whole = name(text);
  if (text.length <= long) return whole;
  whole.title = visible(text);
  const box = h("span", { class: "clip" }, whole);
  const turn = button("more", () => {
    const open = box.classList.toggle("open");
    turn.textContent = open ? "less" : "more";
    turn.setAttribute("aria-expanded", String(open));
  });
  turn.setAttribute("aria-expanded", "false");
  box.append(turn);
  return box;
}

/** A section with a heading, and a note under it. */
export function section(id: string, title: string, note: Child, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title.length > LONG ? clipped(title) : visible(title)),
    note && h("p", { class: "note" }, typeof note === "string" ? noteText(note) : note),
    ...children,
  );
}

const noteText = (note: string) => (note.length > LONG_NOTE ? clipped(note, LONG_NOTE) : visible(note));
