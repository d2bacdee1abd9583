import assert from "node:assert/strict";
import test from "node:test";
import { geometry } from "../../src/tree/geometry.ts";
import { layout, shortNames, takingPart } from "../../src/tree/layout.ts";
import { outlined, outlinesOf } from "../../src/tree/regions.ts";
import { viewsOf } from "../../src/run/view.ts";
import { fixture, madeUp } from "../fixture.ts";

const runs = ["t2", "gather", "lateral", "regions", "streams"].flatMap((f) => fixture(f).runs).concat(madeUp(10));

test("leaves never share a place, parents stand over the middle of their children", () => {
  for (const run of runs) {
    const { places } = layout(run.nodes!, run.links);
    assert.equal(places.size, run.nodes!.length);
    const leaves = [...places.values()].filter((p) => p.leaf && !p.hub).map((p) => p.across);
    assert.equal(new Set(leaves).size, leaves.length);
    for (const p of places.values()) {
      const children = [...places.values()].filter((c) => c.node.parent === p.node.id);
      if (children.length === 0) continue;
      const across = children.map((c) => c.across);
      assert.equal(p.across, (Math.min(...across) + Math.max(...across)) / 2);
      assert.ok(children.every((c) => c.depth === p.depth + 1));
    }
  }
});

test("the four transfers' tree: eight leaves, three levels below the root", () => {
  const { leaves, depth, places } = layout(fixture("t2").runs[0]!.nodes!);
  assert.deepEqual([leaves, depth], [8, 3]);
  assert.equal(places.get(0)!.across, 3.5);
});

test("every link is drawn inside the picture, and lateral links are", () => {
  for (const view of viewsOf(runs)) {
    const g = geometry(layout(view.nodes, view.links.values()), view.links, shortNames(view.nodes));
    assert.equal(g.wires.length, view.links.size);
    for (const wire of g.wires)
      for (const p of wire.curve)
        assert.ok(
          p.x >= -20 && p.x <= g.width + 20 && p.y >= -20 && p.y <= g.height + 20,
          `${wire.link.from} → ${wire.link.to}`,
        );
  }
  const lateral = fixture("lateral").runs[0]!;
  assert.ok(lateral.links.some((l) => l.direction === "lateral"));
});

test("boxes of a level do not overlap", () => {
  for (const view of viewsOf(runs)) {
    const { boxes } = geometry(layout(view.nodes, view.links.values()), view.links, shortNames(view.nodes));
    boxes.forEach((a, i) => {
      for (const b of boxes.slice(i + 1))
        assert.ok(
          a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
          `${a.node.name}, ${b.node.name}`,
        );
    });
  }
});

test("a root that only joins others stands beyond the leaves", () => {
  const nodes = ["a", "b", "net"].map((name, id) => ({ id, name, kind: "x", parent: null }));
  const links = ["a", "b"].map((from, id) => ({
    id,
    from,
    to: "net",
    bytes: 1,
    busy_s: 1,
    peak_Bps: 1,
    direction: "lateral",
  }));
  const { places } = layout(nodes, links);
  assert.deepEqual([places.get(2)!.hub, places.get(2)!.depth], [true, 1]);
  assert.equal(places.get(0)!.hub, false);
});

test("names lose their path where that leaves them apart", () => {
  const node = (id: number, name: string, parent: number | null = 0) => ({ id, name, kind: "x", parent });
  const names = shortNames([node(0, "r", null), node(1, "r/a/x"), node(2, "r/b/x"), node(3, "r/y")]);
  assert.deepEqual([...names.values()], ["r", "r/a/x", "r/b/x", "y"]);
});

test("nodes that take part are ends of used links, and what is above them", () => {
  const { nodes } = fixture("t2").runs[0]!;
  const part = takingPart(nodes!, ["gpu0", "k80a"]);
  assert.deepEqual([...part].map((id) => nodes![id]!.name).sort(), ["gpu0", "k80a", "plx0", "rc"]);
});

test("links of a region have the outline of its policy, and none where one policy has all links", () => {
  const views = viewsOf([...fixture("regions").runs, ...fixture("t2").runs]);
  const outlines = outlinesOf(views);
  assert.deepEqual(outlines, ["default: pcie-congestion", "network: max-min"]);
  const [two, one] = views.map((view) => outlined(view, outlines));
  const kinds = new Map(views[0]!.nodes.map((n) => [n.name, n.kind]));
  for (const [id, link] of views[0]!.links) {
    const network = [link.from, link.to].some((end) => kinds.get(end) === "network");
    assert.equal(two!.get(id), network ? 1 : 0, `${link.from} → ${link.to}`);
  }
  assert.equal(one!.size, 0);
});
