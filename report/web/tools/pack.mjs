// Phases and explanations of a run in tables, as data.md describes `packed`: nothing is lost that the page shows.

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
    const steps = new Map(
      (run.explain?.[p]?.transfers ?? []).map((t) => [t.id, t.steps.findLast((s) => s.link) ?? t.steps.at(-1)]),
    );
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
  if (last >= 0 && flat[last + 1] === span[0] && [2, 3, 4].every((k) => flat[last + k] === span[k]))
    flat[last + 1] = span[1];
  else flat.push(...span);
}
