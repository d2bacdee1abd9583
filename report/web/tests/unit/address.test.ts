import assert from "node:assert/strict";
import test from "node:test";
import type { State } from "../../src/core/store.ts";
import { addressOf, stateOf, unknownOf } from "../../src/run/address.ts";
import { viewsOf } from "../../src/run/view.ts";
import { fixture } from "../fixture.ts";

const views = viewsOf(fixture("hol").runs);
const whole = { from: 0, to: views[0]!.end };
const first: State = {
  time: 0,
  window: whole,
  link: null,
  transfer: null,
  group: null,
  visible: [0, 1, 2],
  mean: false,
  fill: false,
};
const [id, link] = [...views[0]!.links][0]!;
const [transfer] = [...views[0]!.transfers.keys()];
const read = (hash: string) => stateOf(hash, views, { whole });

test("what is shown comes back from its address", () => {
  const time = 12_345_678_901e-12;
  const states: Partial<State>[] = [
    { time },
    { time: 1e-12 },
    { window: { from: 1e-3, to: 2.5e-3 } },
    { link: id },
    { transfer: transfer! },
    { visible: [0, 2] },
    { time, window: { from: 1e-3, to: 0.02 }, link: id, visible: [1], mean: true },
  ];
  for (const state of states) {
    const address = addressOf({ ...first, ...state }, first, views);
    const back = read(address);
    assert.deepEqual(Object.keys(back).sort(), Object.keys(state).sort(), address);
    for (const [key, value] of Object.entries(state))
      if (typeof value === "number" && key === "time")
        assert.ok(Math.abs(back.time! - value) < 0.5e-12, `${address}: ${back.time}`);
      else if (key !== "window") assert.deepEqual(back[key as keyof State], value, address);
  }
  assert.equal(addressOf(first, first, views), "");
});

test("addresses are short and can be typed", () => {
  assert.equal(addressOf({ ...first, time: 0.0125 }, first, views), "#t=12.5ms");
  assert.equal(addressOf({ ...first, time: 20e-6 }, first, views), "#t=20us");
  const at = addressOf({ ...first, link: id }, first, views);
  assert.equal(at, `#link=${encodeURIComponent(link.from)},${encodeURIComponent(link.to)}`);
  assert.equal(read("#t=12.5ms").time, 0.0125);
});

test("what an address names that is not on the page is left out", () => {
  const wrong = [
    "#t=-1ms",
    "#t=1h",
    "#t=99999s",
    "#t=NaN",
    "#from=2ms&to=1ms",
    "#from=0s",
    "#link=x,y",
    `#link=${link.from},${link.to},7`,
    "#link=%E0%A4%A,b",
    "#transfer=nobody",
    "#transfer=%",
    "#runs=Q",
    "#heat",
    "",
  ];
  for (const hash of wrong) assert.deepEqual(read(hash), {}, hash);
});

test("what an address names that is not on the page is told as it is written", () => {
  const unknown = (hash: string) => unknownOf(hash, views, { whole });
  assert.deepEqual(unknown(`#t=12.5ms&link=${link.from},${link.to}&runs=A,C&mean=1`), []);
  assert.deepEqual(unknown("#t=99999s&link=x%20y,z&runs=A,Q&mean=2&colour=red"), [
    "t=99999s",
    "link=x y,z",
    "runs=A,Q",
    "mean=2",
    "colour=red",
  ]);
  assert.deepEqual(unknown("#from=0s&toString=1"), ["from=0s", "toString=1"]);
  for (const hash of ["", "#topology", "#t=1ms&"]) assert.deepEqual(unknown(hash), [], hash);
});
