// The two smaller forms of a run, as data.md describes them: `packed` loses nothing that the page shows, `aggregated` bins.

const PACKED_WIDTH = 5;

/** A table of distinct values and their places. */
function table() {
  const places = new Map();
  const values = [];
  const place = (key, value) => {
    if (!places.has(key)) places.set(key, values.push(value) - 1);
    return places.get(key);
  };
  return { values, place };
}

/** The run with `packed` in the place of `phases` and `explain`. */
export function pack(run) {
  const times = [...new Set(run.phases.flatMap((p) => [p.start_s, p.end_s]))].sort((a, b) => a - b);
  const at = new Map(times.map((t, i) => [t, i]));
  const index = new Map(run.transfers.map((t, i) => [t.id, i]));
  const links = new Map(run.links.map((l) => [`${l.from}\0${l.to}`, l.id]));
  const [rates, reasons] = [table(), table()];
  const spans = run.transfers.map(() => []);
  run.phases.forEach((phase, p) => {
    const steps = new Map((run.explain?.[p]?.transfers ?? []).map((t) => [t.id, t.steps.findLast((s) => s.link) ?? t.steps.at(-1)]));
    for (const [id, rate] of Object.entries(phase.rates_Bps)) {
      const step = steps.get(id);
      const link = step?.link ? links.get(`${step.link.from}\0${step.link.to}`) : -1;
      const reason = step && [step.step, together(step.because, id, index)];
      const why = reason ? reasons.place(JSON.stringify(reason), reason) : -1;
      add(spans[index.get(id)], [at.get(phase.start_s), at.get(phase.end_s), rates.place(rate, rate), link, why]);
    }
  });
  const { phases, explain, ...rest } = run;
  return { ...rest, packed: { times_s: times, rates_Bps: rates.values, reasons: reasons.values, spans } };
}

/** Those responsible and the transfer itself, ascending: transfers that share a link then share a reason. */
function together(because, id, index) {
  if (because.length === 0) return [];
  return [...new Set([...because, id])].map((b) => index.get(b)).sort((a, b) => a - b);
}

/** Phases that touch and say the same are one span. */
function add(flat, span) {
  const last = flat.length - PACKED_WIDTH;
  if (last >= 0 && flat[last + 1] === span[0] && [2, 3, 4].every((k) => flat[last + k] === span[k])) flat[last + 1] = span[1];
  else flat.push(...span);
}

/** The run with bins and groups by source, each transfer at its mean rate, and the `most` longest in full. */
export function aggregate(run, { bins = 250, most = 1000 } = {}) {
  const end = run.makespan_s;
  const width = end / bins;
  const loads = new Map();
  const groups = new Map();
  for (const t of run.transfers) {
    const group = groups.get(t.from) ?? emptyGroup(t.from, bins);
    groups.set(t.from, group);
    count(group, t);
    spread(group.waiting, t.ready_s, t.start_s, width, 1);
    const sent = t.start_s + t.bytes / t.mean_Bps;
    spread(group.active, t.start_s, sent, width, 1);
    spread(group.rate_Bps, t.start_s, sent, width, t.mean_Bps);
    for (const link of t.route) {
      if (!loads.has(link)) loads.set(link, new Array(bins).fill(0));
      spread(loads.get(link), t.start_s, sent, width, t.mean_Bps);
    }
  }
  const bandwidth = new Map(run.links.map((l) => [l.id, l.bandwidth_Bps]));
  const links = [...loads].sort((a, b) => a[0] - b[0]).map(([id, load]) => ({ id, permille: load.map((v) => Math.round((1000 * v) / bandwidth.get(id))) }));
  const longest = [...run.transfers].sort((a, b) => b.end_s - b.start_s - (a.end_s - a.start_s)).slice(0, most);
  const short = (list) => list.map((v) => Number(v.toPrecision(4)));
  const { phases, explain, ...rest } = run;
  return {
    ...rest,
    transfers: longest,
    aggregated: {
      transfers: run.transfers.length, kept: `the ${longest.length} longest`, rates: "means",
      from_s: 0, to_s: end, bins, links, by: "source",
      groups: [...groups.values()].map((g) => ({ ...g, rate_Bps: short(g.rate_Bps), active: short(g.active), waiting: short(g.waiting) })),
    },
  };
}

function emptyGroup(name, bins) {
  const zeros = () => new Array(bins).fill(0);
  return { name, count: 0, bytes: 0, start_s: Infinity, end_s: 0, rate_Bps: zeros(), active: zeros(), waiting: zeros() };
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
