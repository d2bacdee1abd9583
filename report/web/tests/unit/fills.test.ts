import assert from "node:assert/strict";
import test from "node:test";
import type { Run } from "../../src/contract.ts";
import { FILL, UTILISATION } from "../../src/run/quantity.ts";
import { viewsOf } from "../../src/run/view.ts";
import { fixture } from "../fixture.ts";

const [plain] = fixture("hol").runs as [Run];

/** The run as one of packets: its first link has a buffer of 1000 B, its second one without an end, its third is always empty. */
function filled(): Run {
  const fills = [
    { buffer_bytes: 1000, fill_bytes: [0, 500, 1000, 250] },
    { deepest_bytes: 200, fill_bytes: [100, 100, 0, 0] },
    { buffer_bytes: 1000 },
  ];
  const links = plain.links.map((l, i) => ({ ...l, ...fills[i] }));
  return { ...plain, makespan_s: 3.5, fill_bin_s: 1, links };
}

test("buffers are as full as the bin of a moment says", () => {
  const [view] = viewsOf([filled()]);
  const [first, second, third, fourth] = [...view!.links.keys()] as [number, number, number, number];
  assert.deepEqual(
    [0.5, 1.5, 2.5, 3.5].map((time) => FILL.at(view!, first, time)),
    [0, 0.5, 1, 0.25],
  );
  assert.equal(FILL.at(view!, second, 0.5), 0.5);
  assert.deepEqual([FILL.at(view!, third, 0.5), FILL.at(view!, fourth, 0.5)], [0, null]);
  // The last bin is half as wide: (0 + 0.5 + 1 + 0.125) of 3.5 s.
  assert.ok(Math.abs(FILL.mean(view!, first)! * view!.end - 1.625) < 1e-9);
  assert.deepEqual(FILL.links(view!), [first, second]);
  assert.equal(FILL.text(view!.links.get(first)!, 0.5), "500 B of 1 kB");
});

test("runs by rates have no buffers", () => {
  const [view] = viewsOf([plain]);
  const [first] = [...view!.links.keys()];
  assert.equal(view!.fills, null);
  assert.equal(FILL.at(view!, first!, 0), null);
  assert.deepEqual(FILL.links(view!), []);
  assert.ok(UTILISATION.links(view!).length > 0);
});

test("links carry what packets say, at most their bandwidth, and not what mean rates add up to", () => {
  const carried = plain.links.find((l) => l.bytes > 0 && l.bandwidth_Bps)!;
  const bandwidth = carried.bandwidth_Bps!;
  const links = plain.links.map((l) => (l === carried ? { ...l, load_Bps: [0, bandwidth / 2, bandwidth * 1.01] } : l));
  const [view] = viewsOf([{ ...plain, fidelity: "packet", makespan_s: 3, fill_bin_s: 1, links }]);
  const id = [...view!.links].find(([, l]) => l.from === carried.from && l.to === carried.to)![0];
  assert.deepEqual(
    [0.5, 1.5, 2.5].map((time) => UTILISATION.at(view!, id, time)),
    [0, 0.5, 1],
  );
  assert.deepEqual(UTILISATION.links(view!), [id]);
});
