// The map of rows, for the report and the workbench: marks on a canvas, names of classes above them, a ring around one row.
import { Grid, MarkPainter, UNIT, clamp, mixed, packed, resolveColours } from "./marks.js";

const EDGE = 26; // pixels between the outermost marks and the frame
const NEAR = 16; // pixels within which a mark counts as pointed at
const MOST_ZOOM = 200;
const NAME_SHIFTS = [0, -1.15, 1.15, -2.3, 2.3]; // lines by which a name may move to find room
const MANY_KNOWN = 14; // names of known classes that the map has room for
const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

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

export class RowMap {
  /**
   * @param box      element that holds the map; it gets the keyboard's focus
   * @param rows     {x, y, codes}: coordinates from 0 to 10000, y upwards, and the class of each row
   * @param classes  [{name, novel, colour, mark}]: `colour` is the name of a class of the style sheet (c0, known)
   * @param outlines shapes of the marks, as SVG paths of radius 10
   * @param on       callbacks: tip(i) gives nodes, point(i), click(i, event), step(i), lasso(rows), escape()
   * @param wheel    whether the wheel zooms by itself; else only with the control key, and the page scrolls
   */
  constructor(box, { rows, classes, outlines, on = {}, wheel = false }) {
    Object.assign(this, { box, classes, on, wheel });
    this.chosen = new Set();
    this.current = -1;
    this.hovered = -1;
    this.lassoing = false;
    this.polygon = null;
    this.view = { zoom: 1, x: 0, y: 0 };
    this.canvas = document.createElement("canvas");
    this.painter = new MarkPainter(this.canvas, outlines);
    this.overlay = document.createElement("canvas");
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    for (const canvas of [this.canvas, this.overlay]) canvas.setAttribute("aria-hidden", "true");
    box.replaceChildren(this.canvas, this.overlay, this.#tools(), this.tip);
    this.setRows(rows);
    this.paintClasses();
    this.#listen();
    this.resize();
  }

  get n() { return this.codes.length; }

  /** Give the rows other places, such as those of another epoch; `codes` may change as well. */
  setRows({ x, y, codes = this.codes }) {
    this.codes = codes;
    this.x = Float32Array.from(x);
    this.y = Float32Array.from(y, (value) => UNIT - value);
    this.grid = new Grid(this.x, this.y);
    this.middles = this.#middles();
    this.#order();
    this.draw();
  }

  setClasses(classes, codes = this.codes) {
    this.classes = classes;
    this.codes = codes;
    for (const j of [...this.chosen]) if (j >= classes.length) this.chosen.delete(j);
    this.middles = this.#middles();
    this.#order();
  }

  /** Colour every row by its class. */
  paintClasses() {
    this.paint = this.codes;
    this.palette = this.classes.map((one) => (one.novel ? `--${one.colour}` : "--known-mark"));
    this.byClass = true;
    this.refresh();
  }

  /** Colour rows by anything else: the place of each row's colour in a list of colours. */
  paintBy(paint, palette) {
    Object.assign(this, { paint, palette, byClass: false });
    this.refresh();
  }

  /** Read the colours again, as after a change between light and dark. */
  refresh() {
    const [ground, ink, muted, halo] = resolveColours(this.box, ["--card", "--ink", "--muted", "--halo"]);
    this.css = Object.fromEntries(Object.entries({ ink, muted, halo }).map(([key, c]) => [key, `rgb(${c.join(" ")})`]));
    const colours = resolveColours(this.box, this.palette);
    this.colours = {
      ground: packed(ground),
      bright: Uint32Array.from(colours, packed),
      faint: Uint32Array.from(colours, (colour) => packed(mixed(colour, ground, 0.1))),
    };
    this.draw();
  }

  choose(chosen) {
    this.chosen = new Set(chosen);
    this.#order();
    if (this.current >= 0 && !this.shown(this.current)) this.select(-1);
    this.draw();
  }

  shown(i) { return this.chosen.size === 0 || this.chosen.has(this.codes[i]); }

  /** Ring one row, or none (-1). */
  select(i) {
    this.current = i;
    if (i < 0) this.tip.hidden = true;
    else this.showTip(i);
    this.draw();
  }

  // ---- what lies where

  place(i) {
    const { zoom, x, y } = this.view;
    const [across, down] = this.#spans();
    return [EDGE + (this.x[i] / UNIT) * across * zoom + x, EDGE + (this.y[i] / UNIT) * down * zoom + y];
  }

  nearest(px, py) {
    const [across, down] = this.#spans(), { zoom, x, y } = this.view;
    const unit = (value, shift, span) => ((value - EDGE - shift) / (span * zoom)) * UNIT;
    const reach = NEAR + this.radius();
    let best = -1, least = reach * reach;
    this.grid.within(
      unit(px - reach, x, across), unit(py - reach, y, down), unit(px + reach, x, across), unit(py + reach, y, down),
      (i) => {
        if (!this.shown(i)) return;
        const [left, top] = this.place(i), distance = (left - px) ** 2 + (top - py) ** 2;
        if (distance <= least) [best, least] = [i, distance];
      },
    );
    return best;
  }

  inside(polygon) {
    const found = [];
    const xs = polygon.map((point) => point[0]), ys = polygon.map((point) => point[1]);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    for (let i = 0; i < this.n; i += 1) {
      if (!this.shown(i)) continue;
      const [px, py] = this.place(i);
      if (px < left || px > right || py < top || py > bottom) continue;
      let within = false;
      for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a, a += 1) {
        if (ys[a] > py !== ys[b] > py && px < ((xs[b] - xs[a]) * (py - ys[a])) / (ys[b] - ys[a]) + xs[a]) within = !within;
      }
      if (within) found.push(i);
    }
    return found;
  }

  /** The row next to another in one direction, for the arrow keys. */
  neighbour(i, [dx, dy]) {
    let best = -1, least = Infinity;
    const [x, y] = this.place(i);
    for (let j = 0; j < this.n; j += 1) {
      if (!this.shown(j)) continue;
      const [px, py] = this.place(j), along = (px - x) * dx + (py - y) * dy;
      if (along <= 0.5) continue;
      const cost = along + 2.5 * (Math.abs((px - x) * dy) + Math.abs((py - y) * dx));
      if (cost < least) [best, least] = [j, cost];
    }
    return best;
  }

  firstShown() {
    const novel = this.codes.findIndex((j, i) => this.classes[j].novel && this.shown(i));
    return novel >= 0 ? novel : this.codes.findIndex((_, i) => this.shown(i));
  }

  /** Radius of the marks: smaller where there are many, larger the closer one looks. */
  radius() {
    const [across, down] = this.#spans(), room = Math.sqrt((across * down) / Math.max(this.n, 1));
    return clamp(0.32 * room * Math.sqrt(this.view.zoom), 1.3, 4.2 * Math.min(1.6, Math.sqrt(this.view.zoom)));
  }

  // ---- moving about

  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const { zoom, x, y } = this.view, next = clamp(zoom * factor, 1, MOST_ZOOM), ratio = next / zoom;
    this.view = { zoom: next, x: (px - EDGE) * (1 - ratio) + x * ratio, y: (py - EDGE) * (1 - ratio) + y * ratio };
    this.#bound();
    this.tip.hidden = true;
    this.draw();
  }

  panBy(dx, dy) {
    this.view.x += dx;
    this.view.y += dy;
    this.#bound();
    this.draw();
  }

  home() {
    this.view = { zoom: 1, x: 0, y: 0 };
    this.draw();
  }

  /** Bring a row into view, and ring it. */
  reveal(i) {
    const [px, py] = this.place(i);
    if (px < EDGE || py < EDGE || px > this.width - EDGE || py > this.height - EDGE) this.panBy(this.width / 2 - px, this.height / 2 - py);
    this.select(i);
  }

  #bound() {
    const [across, down] = this.#spans(), { zoom } = this.view;
    this.view.x = clamp(this.view.x, -across * (zoom - 0.5), across / 2);
    this.view.y = clamp(this.view.y, -down * (zoom - 0.5), down / 2);
    if (zoom === 1) Object.assign(this.view, { x: 0, y: 0 });
  }

  #tools() {
    const tools = document.createElement("div");
    tools.className = "map-tools";
    for (const [sign, name, act] of [
      ["+", "Zoom in", () => this.zoomBy(1.6)],
      ["\u2212", "Zoom out", () => this.zoomBy(1 / 1.6)],
      ["\u2302", "Show the whole map", () => this.home()],
    ]) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: sign, title: name, onclick: act });
      button.setAttribute("aria-label", name);
      tools.append(button);
    }
    return tools;
  }

  // ---- drawing

  resize() {
    const width = this.box.clientWidth, height = this.box.clientHeight, ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (!width || !height || (width === this.width && height === this.height && ratio === this.ratio)) return;
    Object.assign(this, { width, height, ratio });
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.#bound();
    this.paintNow();
  }

  draw() {
    if (this.waiting || !this.width) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paintNow();
    });
  }

  paintNow() {
    if (!this.width || !this.colours) return;
    this.box.classList.toggle("close", this.view.zoom > 1 || this.lassoing);
    this.#drawMarks();
    this.#drawOverlay();
    this.frames = (this.frames ?? 0) + 1;
  }

  #spans() { return [this.width - 2 * EDGE, this.height - 2 * EDGE]; }

  /** Rows in the order in which they are drawn: dimmed ones first, then known classes, then novel ones. */
  #order() {
    const rank = this.classes.map((one, j) => (this.chosen.size && !this.chosen.has(j) ? 0 : 2) + (one.novel ? 1 : 0));
    const counts = [0, 0, 0, 0, 0];
    for (let i = 0; i < this.n; i += 1) counts[rank[this.codes[i]] + 1] += 1;
    for (let k = 0; k < 4; k += 1) counts[k + 1] += counts[k];
    this.nFaint = counts[2];
    this.order = new Int32Array(this.n);
    for (let i = 0; i < this.n; i += 1) this.order[counts[rank[this.codes[i]]]++] = i;
    this.shapes = Uint8Array.from(this.codes, (j) => this.classes[j].mark);
  }

  #drawMarks() {
    const { ratio, view } = this, [across, down] = this.#spans(), radius = this.radius();
    this.painter.paint(
      this,
      {
        left: (EDGE + view.x) * ratio,
        top: (EDGE + view.y) * ratio,
        across: (across * view.zoom * ratio) / UNIT,
        down: (down * view.zoom * ratio) / UNIT,
      },
      this.colours,
      radius * ratio,
      radius >= 3,
    );
  }

  #drawOverlay() {
    const context = this.overlay.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.#drawNames(context);
    context.strokeStyle = this.css.ink;
    context.lineWidth = 2.5;
    if (this.current >= 0) {
      context.beginPath();
      context.arc(...this.place(this.current), this.radius() + 6, 0, 2 * Math.PI);
      context.stroke();
    }
    if (this.polygon) {
      context.beginPath();
      for (const [px, py] of this.polygon) context.lineTo(px, py);
      context.closePath();
      context.setLineDash([6, 4]);
      context.lineWidth = 2;
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 0.08;
      context.fillStyle = this.css.ink;
      context.fill();
      context.globalAlpha = 1;
    }
  }

  /** Write the names of classes: those of novel ones first, and none across another. */
  #drawNames(context) {
    const family = getComputedStyle(this.box).fontFamily, taken = [];
    const manyKnown = this.classes.filter((one) => !one.novel).length > MANY_KNOWN;
    const order = this.classes.map((_, j) => j).sort((a, b) => this.classes[b].novel - this.classes[a].novel);
    this.names = [];
    for (const j of order) {
      const one = this.classes[j], middle = this.middles[j];
      if (middle < 0 || (this.chosen.size && !this.chosen.has(j)) || (!one.novel && (manyKnown || !this.byClass))) continue;
      const [px, py] = this.place(middle), size = one.novel ? 15 : 13;
      if (px < 0 || py < 0 || px > this.width || py > this.height) continue;
      context.font = `${one.novel ? 700 : 500} ${size}px ${family}`;
      const text = one.name.length > 32 ? `${one.name.slice(0, 31)}\u2026` : one.name;
      const wide = context.measureText(text).width / 2, x = clamp(px, wide + 6, Math.max(wide + 6, this.width - wide - 6));
      const spots = NAME_SHIFTS.map((shift) => ({ left: x - wide, right: x + wide, top: py + (shift - 0.6) * size, bottom: py + (shift + 0.6) * size }));
      const clear = (spot) => taken.every((other) => spot.right < other.left || spot.left > other.right || spot.bottom < other.top || spot.top > other.bottom);
      const spot = spots.find((one) => one.top > 0 && one.bottom < this.height && clear(one));
      if (!spot) continue;
      taken.push(spot);
      this.names.push(one.name);
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.lineJoin = "round";
      context.lineWidth = 5;
      context.strokeStyle = this.css.halo;
      context.fillStyle = one.novel ? this.css.ink : this.css.muted;
      context.strokeText(text, x, (spot.top + spot.bottom) / 2);
      context.fillText(text, x, (spot.top + spot.bottom) / 2);
    }
  }

  /** For every class the row in its densest part, where its name is written; -1 for a class without rows. */
  #middles() {
    const side = 32, counts = this.classes.map(() => new Int32Array(side * side));
    const cell = (value) => Math.min(side - 1, Math.floor((value / (UNIT + 1)) * side));
    const at = (i) => cell(this.y[i]) * side + cell(this.x[i]);
    for (let i = 0; i < this.n; i += 1) counts[this.codes[i]][at(i)] += 1;
    const best = counts.map((count) => densest(count, side));
    const within = (i) => Math.abs(cell(this.y[i]) - Math.floor(best[this.codes[i]] / side)) <= 2 && Math.abs(cell(this.x[i]) - (best[this.codes[i]] % side)) <= 2;
    const centres = this.classes.map(() => [0, 0, 0]);
    for (let i = 0; i < this.n; i += 1) {
      const j = this.codes[i];
      if (!within(i)) continue;
      centres[j][0] += this.x[i];
      centres[j][1] += this.y[i];
      centres[j][2] += 1;
    }
    const middles = this.classes.map(() => -1), least = this.classes.map(() => Infinity);
    for (let i = 0; i < this.n; i += 1) {
      const j = this.codes[i];
      if (!within(i)) continue;
      const [x, y, n] = centres[j], distance = (this.x[i] - x / n) ** 2 + (this.y[i] - y / n) ** 2;
      if (distance < least[j]) [middles[j], least[j]] = [i, distance];
    }
    return middles;
  }

  showTip(i) {
    if (!this.on.tip) return;
    this.tip.replaceChildren(...this.on.tip(i));
    this.tip.hidden = false;
    const [x, y] = this.place(i), gap = 14;
    const left = x + gap + this.tip.offsetWidth > this.width ? x - gap - this.tip.offsetWidth : x + gap;
    const top = Math.min(y + gap, this.height - this.tip.offsetHeight - 4);
    this.tip.style.left = `${Math.max(4, left)}px`;
    this.tip.style.top = `${Math.max(4, top)}px`;
  }

  // ---- pointer and keyboard

  #listen() {
    const { box } = this, pointers = new Map();
    let start = null, moved = false;
    const at = (event) => {
      const area = box.getBoundingClientRect();
      return [event.clientX - area.left - box.clientLeft, event.clientY - area.top - box.clientTop];
    };
    const hover = (event) => {
      const i = this.nearest(...at(event));
      if (i === this.hovered) {
        if (i >= 0 && this.tip.hidden) this.showTip(i);
        return;
      }
      this.hovered = i;
      if (i < 0) this.tip.hidden = true;
      else {
        this.showTip(i);
        this.on.point?.(i);
      }
    };
    box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target.closest("button")) return;
      pointers.set(event.pointerId, at(event));
      this.pointerType = event.pointerType;
      moved = pointers.size > 1;
      start = at(event);
      if (this.lassoing || event.shiftKey) this.polygon = [start];
    });
    box.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId), now = at(event);
      if (!before) return hover(event);
      if (!moved && Math.hypot(now[0] - start[0], now[1] - start[1]) < 4) return undefined;
      if (!moved) box.setPointerCapture?.(event.pointerId);
      moved = true;
      this.tip.hidden = true;
      pointers.set(event.pointerId, now);
      if (this.polygon) {
        this.polygon.push(now);
        this.draw();
      } else if (pointers.size === 2) {
        const [a, b] = [...pointers.values()], other = a === now ? b : a;
        const ratio = Math.hypot(now[0] - other[0], now[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
        this.zoomBy(ratio, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else this.panBy(now[0] - before[0], now[1] - before[1]);
      return undefined;
    });
    const release = (event) => {
      if (!pointers.delete(event.pointerId) || !this.polygon) return;
      const { polygon } = this;
      this.polygon = null;
      if (event.type === "pointerup" && polygon.length > 2) this.on.lasso?.(this.inside(polygon));
      this.draw();
    };
    box.addEventListener("pointerup", release);
    box.addEventListener("pointercancel", release);
    box.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      this.hovered = -1;
    });
    box.addEventListener("click", (event) => {
      if (moved || event.target.closest("button")) return;
      this.on.click?.(this.nearest(...at(event)), event, this.pointerType);
    });
    box.addEventListener("wheel", (event) => {
      if (!this.wheel && !event.ctrlKey) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-clamp(event.deltaY, -200, 200) / 300), ...at(event));
    }, { passive: false });
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target !== box) return;
      if (event.key in STEPS) {
        const next = this.current < 0 ? this.firstShown() : this.neighbour(this.current, STEPS[event.key]);
        if (next >= 0) {
          this.reveal(next);
          this.on.step?.(next);
        }
      } else if ((event.key === "Enter" || event.key === " ") && this.current >= 0) this.on.click?.(this.current, event, "keyboard");
      else if (event.key === "Escape") this.on.escape?.();
      else if (event.key === "+" || event.key === "=") this.zoomBy(1.5);
      else if (event.key === "-") this.zoomBy(1 / 1.5);
      else if (event.key === "0") this.home();
      else return;
      event.preventDefault();
    });
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(box);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.recolour = () => this.refresh();
    this.scheme.addEventListener("change", this.recolour);
  }

  destroy() {
    this.watch.disconnect();
    this.scheme.removeEventListener("change", this.recolour);
  }
}
