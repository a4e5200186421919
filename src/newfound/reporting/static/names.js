// Names of classes on the map: where they are written, and that none crosses another.
import { UNIT, clamp } from "./marks.js";

const NAME_SHIFTS = [0, -1.15, 1.15, -2.3, 2.3]; // lines by which a name may move to find room
const MANY_KNOWN = 14; // names of known classes that the map has room for

/** The cell of a square grid around which most rows lie, among cells that are not empty. */
const densest = (counts, side) => {
  let best = 0, most = -1;
  for (let c = 0; c < side * side; c += 1) {
    if (!counts[c]) continue;
    let sum = 0;
    for (let dy = -2; dy <= 2; dy += 1) {
      for (let dx = -2; dx <= 2; dx += 1) {
        const y = Math.floor(c / side) + dy, x = (c % side) + dx;
        if (y >= 0 && y < side && x >= 0 && x < side) sum += counts[y * side + x] / (1 + dx * dx + dy * dy);
      }
    }
    if (sum > most) [best, most] = [c, sum];
  }
  return best;
};

/** Write the names of classes: those of novel ones first, and none across another. */
export function drawNames(context, map) {
  const family = getComputedStyle(map.box).fontFamily, taken = [];
  const manyKnown = map.classes.filter((entry) => !entry.novel).length > MANY_KNOWN;
  const order = map.classes.map((_, j) => j).sort((a, b) => map.classes[b].novel - map.classes[a].novel);
  map.names = [];
  for (const j of order) {
    const entry = map.classes[j], middle = map.middles[j];
    if (middle < 0 || (map.chosen.size && !map.chosen.has(j)) || (!entry.novel && (manyKnown || !map.byClass))) continue;
    const [px, py] = map.place(middle), size = entry.novel ? 15 : 13;
    if (px < 0 || py < 0 || px > map.width || py > map.height) continue;
    context.font = `${entry.novel ? 700 : 500} ${size}px ${family}`;
    const text = entry.name.length > 32 ? `${entry.name.slice(0, 31)}\u2026` : entry.name;
    const wide = context.measureText(text).width / 2, x = clamp(px, wide + 6, Math.max(wide + 6, map.width - wide - 6));
    const spots = NAME_SHIFTS.map((shift) => ({ left: x - wide, right: x + wide, top: py + (shift - 0.6) * size, bottom: py + (shift + 0.6) * size }));
    const clear = (spot) => taken.every((other) => spot.right < other.left || spot.left > other.right || spot.bottom < other.top || spot.top > other.bottom);
    const spot = spots.find((place) => place.top > 0 && place.bottom < map.height && clear(place));
    if (!spot) continue;
    taken.push(spot);
    map.names.push(entry.name);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 5;
    context.strokeStyle = map.css.halo;
    context.fillStyle = entry.novel ? map.css.ink : map.css.muted;
    context.strokeText(text, x, (spot.top + spot.bottom) / 2);
    context.fillText(text, x, (spot.top + spot.bottom) / 2);
  }
}

/** For every class the row in its densest part, where its name is written; -1 for a class without rows. */
export function middlesOf(map) {
  const side = 32, counts = map.classes.map(() => new Int32Array(side * side));
  const cell = (value) => Math.min(side - 1, Math.floor((value / (UNIT + 1)) * side));
  const at = (i) => cell(map.y[i]) * side + cell(map.x[i]);
  for (let i = 0; i < map.n; i += 1) counts[map.codes[i]][at(i)] += 1;
  const best = counts.map((count) => densest(count, side));
  const within = (i) => Math.abs(cell(map.y[i]) - Math.floor(best[map.codes[i]] / side)) <= 2 && Math.abs(cell(map.x[i]) - (best[map.codes[i]] % side)) <= 2;
  const centres = map.classes.map(() => [0, 0, 0]);
  for (let i = 0; i < map.n; i += 1) {
    const j = map.codes[i];
    if (!within(i)) continue;
    centres[j][0] += map.x[i];
    centres[j][1] += map.y[i];
    centres[j][2] += 1;
  }
  const middles = map.classes.map(() => -1), least = map.classes.map(() => Infinity);
  for (let i = 0; i < map.n; i += 1) {
    const j = map.codes[i];
    if (!within(i)) continue;
    const [x, y, n] = centres[j], distance = (map.x[i] - x / n) ** 2 + (map.y[i] - y / n) ** 2;
    if (distance < least[j]) [middles[j], least[j]] = [i, distance];
  }
  return middles;
}
