// A large run in bins and groups, as data.md describes `aggregated`: for tests and pages made by hand.

/** Each transfer at its mean rate, grouped by source (at most `mostGroups`), and the `most` longest in full. */
export function aggregate(run, { bins = 250, most = 1000, mostGroups = 64 } = {}) {
  const end = Math.max(run.makespan_s, run.stopped_s ?? 0);
  const nameOf = groupNames(run, mostGroups);
  const { loads, groups } = binned(run, bins, end, nameOf);
  const places = new Map(groups.map((g, i) => [g.name, i]));
  const lasted = (t) => (t.start_s == null ? 0 : (t.end_s ?? end) - t.start_s);
  const longest = [...run.transfers].sort((a, b) => lasted(b) - lasted(a)).slice(0, most);
  const { phases, explain, ...rest } = run;
  return {
    ...rest,
    transfers: longest,
    aggregated: {
      transfers: run.transfers.length,
      kept: `the ${longest.length} longest`,
      rates: "means",
      from_s: 0,
      to_s: end,
      bins,
      links: permilles(run, loads),
      by: "source",
      groups: groups.map(shortened),
      group_of: longest.map((t) => places.get(nameOf(t))),
      ended: run.transfers.filter((t) => t.end_s != null).length,
    },
  };
}

/** The name of the group of a transfer: its source or, of more than `most` sources, "N others" for those of fewest bytes. */
function groupNames(run, most) {
  const bytes = new Map();
  for (const t of run.transfers) bytes.set(t.from, (bytes.get(t.from) ?? 0) + t.bytes);
  if (bytes.size <= most) return (t) => t.from;
  const sources = [...bytes].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const own = new Set(sources.slice(0, most - 1));
  return (t) => (own.has(t.from) ? t.from : `${sources.length - own.size} others`);
}

function binned(run, bins, end, nameOf) {
  const width = end / bins;
  const loads = new Map();
  const groups = new Map();
  for (const t of run.transfers) {
    const name = nameOf(t);
    const group = groups.get(name) ?? emptyGroup(name, bins);
    groups.set(name, group);
    count(group, t);
    if (t.ready_s != null) spread(group.waiting, t.ready_s, t.start_s ?? end, width, 1);
    if (t.start_s == null) continue;
    const sent = t.mean_Bps > 0 ? t.start_s + sentBytes(t) / t.mean_Bps : end;
    spread(group.active, t.start_s, sent, width, 1);
    spread(group.rate_Bps, t.start_s, sent, width, t.mean_Bps);
    for (const link of t.route) {
      if (!loads.has(link)) loads.set(link, new Array(bins).fill(0));
      spread(loads.get(link), t.start_s, sent, width, t.mean_Bps);
    }
  }
  const sources = new Set(run.transfers.map((t) => t.from));
  const others = (g) => Number(!sources.has(g.name));
  return { loads, groups: [...groups.values()].sort((a, b) => others(a) - others(b)) };
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
    start_s: null,
    end_s: null,
    rate_Bps: zeros(),
    active: zeros(),
    waiting: zeros(),
  };
}

function count(group, t) {
  group.count++;
  group.bytes += sentBytes(t);
  if (t.start_s != null) group.start_s = Math.min(group.start_s ?? Infinity, t.start_s);
  if (t.end_s != null) group.end_s = Math.max(group.end_s ?? 0, t.end_s);
}

const sentBytes = (t) => t.sent_bytes ?? (t.start_s == null ? 0 : t.bytes);

/** Adds `value` over [from, to] to the means of bins. */
function spread(bins, from, to, width, value) {
  for (let i = Math.max(0, Math.floor(from / width)); i < bins.length && i * width < to; i++) {
    const part = Math.min(to, (i + 1) * width) - Math.max(from, i * width);
    if (part > 0) bins[i] += (value * part) / width;
  }
}
