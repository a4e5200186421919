// Colours of rows by something else than their class: confidence, or any column.
import { resolveColours } from "/shared/marks.js";
import { h } from "./dom.js";
import { count, number } from "./words.js";

const STEPS = 32;
const STOPS = ["--ramp-0", "--ramp-1", "--ramp-2", "--ramp-3", "--ramp-4"];
const N_COLOURS = 7;

const ramp = (box) => {
  const stops = resolveColours(box, STOPS);
  return Array.from({ length: STEPS }, (_, k) => {
    const at = (k / (STEPS - 1)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at)), share = at - i;
    return `rgb(${stops[i].map((c, j) => Math.round(c * (1 - share) + stops[i + 1][j] * share)).join(" ")})`;
  });
};

const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))];

/** Numbers: a ramp of colours from the lowest to the highest; the outermost hundredths share the last colours. */
export function byNumbers(box, values, { low, high, show = number } = {}) {
  const there = Float64Array.from(values.filter((value) => value !== null)).sort();
  const from = low ?? quantile(there, 0.01) ?? 0, to = high ?? quantile(there, 0.99) ?? 1, span = to - from || 1;
  const paint = Uint8Array.from(values, (value) => (value === null ? STEPS : Math.round(Math.min(1, Math.max(0, (value - from) / span)) * (STEPS - 1))));
  const colours = ramp(box), nMissing = values.length - there.length;
  const steps = h("span", { class: "ramp-steps", "aria-hidden": "true" }, ...colours.map((colour) => {
    const step = h("span", {});
    step.style.background = colour;
    return step;
  }));
  const legend = h("div", { class: "ramp" }, h("span", {}, show(from)), steps, h("span", {}, show(to)), nMissing ? h("span", {}, h("span", { class: "key missing-key" }), ` missing (${count(nMissing)})`) : null);
  return { paint, palette: [...colours, "--missing-mark"], legend };
}

/** Texts: a colour for each of the most frequent, one for all others. */
export function byTexts(cells, texts) {
  const counts = texts.map(() => 0);
  let nMissing = 0;
  for (const cell of cells) {
    if (cell === null) nMissing += 1;
    else counts[cell] += 1;
  }
  const order = texts.map((_, j) => j).sort((a, b) => counts[b] - counts[a]), place = new Map(order.slice(0, N_COLOURS).map((j, k) => [j, k]));
  const paint = Uint8Array.from(cells, (cell) => (cell === null ? N_COLOURS + 1 : place.get(cell) ?? N_COLOURS));
  const rest = order.slice(N_COLOURS).reduce((sum, j) => sum + counts[j], 0);
  const key = (kind, text) => h("span", {}, h("span", { class: `key ${kind}` }), ` ${text}`);
  const legend = h("div", { class: "ramp" }, ...order.slice(0, N_COLOURS).map((j, k) => key(`c${k}`, `${texts[j]} (${count(counts[j])})`)), rest ? key("known", `others (${count(rest)})`) : null, nMissing ? key("missing-key", `missing (${count(nMissing)})`) : null);
  return { paint, palette: [...Array.from({ length: N_COLOURS }, (_, k) => `--c${k}`), "--known-mark", "--missing-mark"], legend };
}
