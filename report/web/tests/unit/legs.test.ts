import assert from "node:assert/strict";
import test from "node:test";
import type { Run } from "../../src/contract.ts";
import { loadAt } from "../../src/run/loads.ts";
import { transfersOn, viewsOf } from "../../src/run/view.ts";
import { madeUp } from "../fixture.ts";

/** One transfer at 8 MB/s for a second, the last quarter of it over other links. */
function rerouted(): Run {
  const run = madeUp(1);
  const [a, b, c, d] = run.links as [Run["links"][0], Run["links"][0], Run["links"][0], Run["links"][0]];
  const t = { ...run.transfers[0]!, start_s: 0, end_s: 1, bytes: 8e6, mean_Bps: 8e6, route: [a.id!, b.id!] };
  const ends = (link: typeof a) => ({ from: link.from, to: link.to });
  const other = { at_s: 0.75, at_ps: 75e10, down: ends(b), sent_bytes: 6e6, links: [a, c, d].map(ends) };
  const reroutes = [{ ...other, route: [a.id!, c.id!, d.id!], shares: [1, 0.5, 0.5] }];
  return { ...run, transfers: [{ ...t, reroutes }], makespan_s: 1, makespan_ps: 1e12 };
}

test("after another route was taken, loads stand at its links", () => {
  const run = rerouted();
  const [view] = viewsOf([run]);
  const [a, b, c, d] = run.links.map((l) => l.id!);
  const at = (time: number) => [a, b, c, d].map((link) => loadAt(view!.loads, link!, time));
  assert.deepEqual(at(0.5), [8e6, 8e6, 0, 0]);
  assert.deepEqual(at(0.9), [8e6, 0, 4e6, 4e6]);
  for (const link of [a, b, c, d]) assert.equal(transfersOn(view!, link!).length, 1);
  assert.equal(transfersOn(view!, run.links[4]!.id!).length, 0);
});
