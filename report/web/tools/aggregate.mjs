// A large run in bins and groups, as data.md describes `aggregated`: for tests and pages made by hand.

/** Each transfer at its mean rate, grouped by source, and the `most` longest in full. */
export function aggregate(run, { bins = 250, most = 1000 } = {}) {
  const { loads, groups } = binned(run, bins);
  const longest = [...run.transfers].sort((a, b) => b.end_s - b.start_s - (a.end_s - a.start_s)).slice(0, most);
  const { phases, explain, ...rest } = run;
  return {
    ...rest,
    transfers: longest,
    aggregated: {
      transfers: run.transfers.length,
      kept: `the ${longest.length} longest`,
      rates: "means",
      from_s: 0,
      to_s: run.makespan_s,
      bins,
      links: permilles(run, loads),
      by: "source",
      groups: groups.map(shortened),
    },
  };
}

function binned(run, bins) {
  const width = run.makespan_s / bins;
  const loads = new Map();
  const groups = new Map();
  for (const t of run.transfers) {
    const group = groups.get(t.from) ?? emptyGroup(t.from, bins);
    groups.set(t.from, group);
    count(group, t);
    const sent = t.start_s + t.bytes / t.mean_Bps;
    spread(group.waiting, t.ready_s, t.start_s, width, 1);
    spread(group.active, t.start_s, sent, width, 1);
    spread(group.rate_Bps, t.start_s, sent, width, t.mean_Bps);
    for (const link of t.route) {
      if (!loads.has(link)) loads.set(link, new Array(bins).fill(0));
      spread(loads.get(link), t.start_s, sent, width, t.mean_Bps);
    }
  }
  return { loads, groups: [...groups.values()] };
}

function permilles(run, loads) {
  const bandwidth = new Map(run.links.map((l) => [l.id, l.bandwidth_Bps]));
  return [...loads]
    .sort((a, b) => a[0] - b[0])
    .map(([id, load]) => ({ id, permille: load.map((v) => Math.round((1000 * v) / bandwidth.get(id))) }));
}

function shortened(group) {
  const short = (list) => list.map((v) => Number(v.toPrecision(4)));
  return { ...group, rate_Bps: short(group.rate_Bps), active: short(group.active), waiting: short(group.waiting) };
}

function emptyGroup(name, bins) {
  const zeros = () => new Array(bins).fill(0);
  return {
    name,
    count: 0,
    bytes: 0,
    start_s: Infinity,
    end_s: 0,
    rate_Bps: zeros(),
    active: zeros(),
    waiting: zeros(),
  };
}

function count(group, t) {
  group.count++;
  group.bytes += t.bytes;
  group.start_s = Math.min(group.start_s, t.start_s);
  group.end_s = Math.max(group.end_s, t.end_s);
}

/** Adds `value` over [from, to] to the means of bins. */
function spread(bins, from, to, width, value) {
  for (let i = Math.max(0, Math.floor(from / width)); i < bins.length && i * width < to; i++) {
    const part = Math.min(to, (i + 1) * width) - Math.max(from, i * width);
    if (part > 0) bins[i] += (value * part) / width;
  }
}
