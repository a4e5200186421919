// The map of rows, for the report and the workbench: marks on a canvas, names of classes above them, a ring around one row.
import { listen } from "./gestures.js";
import { Grid, MarkPainter, UNIT, clamp, mixed, packed, resolveColours } from "./marks.js";
import { drawNames, middlesOf } from "./names.js";

const EDGE = 26; // pixels between the outermost marks and the frame
const NEAR = 16; // pixels within which a mark counts as pointed at
const MOST_ZOOM = 200;

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
    listen(this);
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(box);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.recolour = () => this.refresh();
    this.scheme.addEventListener("change", this.recolour);
    this.resize();
  }

  get n() { return this.codes.length; }

  /** Give the rows other places, such as those of another epoch; `codes` may change as well. */
  setRows({ x, y, codes = this.codes }) {
    this.codes = codes;
    this.x = Float32Array.from(x);
    this.y = Float32Array.from(y, (value) => UNIT - value);
    this.grid = new Grid(this.x, this.y);
    this.middles = middlesOf(this);
    this.#order();
    this.draw();
  }

  setClasses(classes, codes = this.codes) {
    this.classes = classes;
    this.codes = codes;
    for (const j of [...this.chosen]) if (j >= classes.length) this.chosen.delete(j);
    this.middles = middlesOf(this);
    this.#order();
  }

  /** Colour every row by its class. */
  paintClasses() {
    this.paint = this.codes;
    this.palette = this.classes.map((entry) => (entry.novel ? `--${entry.colour}` : "--known-mark"));
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
    const rank = this.classes.map((entry, j) => (this.chosen.size && !this.chosen.has(j) ? 0 : 2) + (entry.novel ? 1 : 0));
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
    drawNames(context, this);
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

  destroy() {
    this.watch.disconnect();
    this.scheme.removeEventListener("change", this.recolour);
  }
}
