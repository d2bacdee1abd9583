// Labels of an axis of categories: as many as fit beside each other.

import { isolated, shortened, visible } from "../core/dom.ts";
import { niceStep } from "../core/scale.ts";

/** Width of a character of a label and least space between two, pixels. */
const CHARACTER = 6.6;
const GAP = 12;
/** Labels are not made shorter than this to have more of them. */
const LEAST = 10;

export interface Label {
  at: number;
  text: string;
  /** Pixels, estimated. */
  width: number;
}

/**
 * Every k-th value, for categories that are `step` pixels wide. Where labels would repeat, they are numbered from 1: the
 * place in the order then tells them apart.
 */
export function categoryLabels(values: string[], step: number): Label[] {
  const longest = values.reduce((most, v) => Math.max(most, [...visible(v)].length), 1);
  const room = Math.floor((step - GAP) / CHARACTER);
  const cut = (most: number) => values.map((v) => shortened(v, Math.min(longest, Math.max(LEAST, most))));
  const plain = cut(room);
  const number = new Set(plain).size < plain.length ? `${values.length}: `.length : 0;
  const texts = number > 0 ? cut(room - number) : plain;
  const widest = number + texts.reduce((most, t) => Math.max(most, [...t].length), 0);
  const every = niceStep(Math.max(1, Math.ceil((widest * CHARACTER + GAP) / step)), 1);
  const labels: Label[] = [];
  for (let at = 0; at < texts.length; at += every) {
    const text = (number > 0 ? `${at + 1}: ` : "") + isolated(texts[at]!);
    labels.push({ at, text, width: ([...text].length - 2) * CHARACTER });
  }
  return labels;
}

/** The labels of values at ascending places, pixels, that do not touch the one before; the last value has one always. */
export function placedLabels(values: string[], places: number[]): Label[] {
  const all = values.map((value, at) => ({
    at,
    text: isolated(value),
    width: [...visible(value)].length * CHARACTER,
  }));
  const fits = (a: Label, b: Label) => places[b.at]! - places[a.at]! >= (a.width + b.width) / 2 + GAP;
  const labels: Label[] = [];
  const last = all[all.length - 1];
  for (const label of all.slice(0, -1)) {
    const before = labels[labels.length - 1];
    if ((!before || fits(before, label)) && fits(label, last!)) labels.push(label);
  }
  return last ? [...labels, last] : [];
}
