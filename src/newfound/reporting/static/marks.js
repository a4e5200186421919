// Marks as pixels: a hundred thousand calls that draw a shape each are too slow to pan smoothly, and this is not.

export const UNIT = 1e4; // coordinates of rows go from 0 to this
const SPARE = 0.35; // of the frame, that is painted beyond each of its sides
const CELLS = 96; // of the grid in which rows are looked up, along each side

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** Resolve colours of the style sheet, which may depend on light and dark, to [red, green, blue]. */
export function resolveColours(box, names) {
  const probe = document.createElement("span");
  probe.hidden = true;
  box.append(probe);
  const found = names.map((name) => {
    probe.style.color = name.startsWith("--") ? `var(${name})` : name;
    return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  });
  probe.remove();
  return found;
}

export const mixed = (colour, other, share) => colour.map((c, k) => Math.round(c * share + other[k] * (1 - share)));
export const packed = ([r, g, b]) => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;

const halfOf = (radius) => Math.ceil(1.3 * radius + 1.5); // pixels from the middle of a mark to its edge

export class MarkPainter {
  /** @param outlines shapes of the marks, as SVG paths of radius 10 */
  constructor(canvas, outlines) {
    Object.assign(this, { canvas, outlines });
  }

  /** The pixels of each mark around its middle, with and without a thin rim: those it covers, and those at its edge. */
  stampsOf(radius, rimmed, stride) {
    const key = `${radius.toFixed(1)} ${rimmed} ${stride}`;
    if (this.stamps?.key === key) return this.stamps;
    const half = halfOf(radius), side = 2 * half + 1;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const stamp = (outline, rim) => {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, side, side);
      context.setTransform(radius / 10, 0, 0, radius / 10, half + 0.5, half + 0.5);
      const path = new Path2D(outline);
      context.fill(path);
      if (rim) {
        context.lineWidth = 20 / radius;
        context.stroke(path);
      }
      const shares = context.getImageData(0, 0, side, side).data.filter((_, k) => k % 4 === 3);
      const pixels = [...shares.keys()].filter((k) => shares[k] > 4);
      const offset = (k) => (Math.floor(k / side) - half) * stride + (k % side) - half;
      const edge = pixels.filter((k) => shares[k] <= 250);
      return { solid: Int32Array.from(pixels.filter((k) => shares[k] > 250), offset), edge: Int32Array.from(edge, offset), shares: Uint8Array.from(edge, (k) => shares[k]) };
    };
    this.stamps = {
      key,
      marks: this.outlines.map((outline) => stamp(outline, false)),
      rims: rimmed ? this.outlines.map((outline) => stamp(outline, true)) : null,
    };
    return this.stamps;
  }

  /**
   * Draw rows as marks. More than the frame is painted, so that most steps of a drag only move what is there.
   * @param rows    {x, y, order, shapes, paint}: coordinates; rows in the order of drawing; mark and colour of each row
   * @param frame   {left, top, across, down}: pixel of the origin, and pixels for one unit of x and y
   * @param colours {ground, bright, faint}: packed colours; the first `nFaint` rows in the order are drawn faint
   */
  paint(rows, { left, top, across, down }, colours, radius, rimmed) {
    const context = this.canvas.getContext("2d", { willReadFrequently: true }), { width, height } = this.canvas;
    const { x, y, order, shapes, paint } = rows, key = [x, y, order, shapes, paint, colours, across, down, radius, rimmed, width, height];
    // Rounded apart from the rows' own places: while the map is dragged, all marks move by the same whole pixels.
    const originX = Math.round(left), originY = Math.round(top);
    const near = this.drawn && Math.abs(originX - this.drawn.x) <= this.drawn.spareX && Math.abs(originY - this.drawn.y) <= this.drawn.spareY;
    if (!near || key.some((part, k) => part !== this.drawn.key[k])) {
      const spareX = Math.ceil(SPARE * width), spareY = Math.ceil(SPARE * height);
      this.drawn = { key, x: originX, y: originY, spareX, spareY };
      this.#paintAll(context, rows, { across, down }, colours, radius, rimmed);
    }
    const { marginX, marginY } = this, fromX = marginX - originX + this.drawn.x, fromY = marginY - originY + this.drawn.y;
    context.putImageData(this.image, -fromX, -fromY, fromX, fromY, width, height);
  }

  #paintAll(context, { x, y, order, shapes, paint, nFaint }, { across, down }, { ground, bright, faint }, radius, rimmed) {
    // Besides what a drag may bring into view, room for a whole mark: no pixel has to be checked against the border.
    const half = halfOf(radius), marginX = this.drawn.spareX + 2 * half, marginY = this.drawn.spareY + 2 * half;
    const stride = this.canvas.width + 2 * marginX, rows = this.canvas.height + 2 * marginY;
    Object.assign(this, { marginX, marginY });
    const { marks, rims } = this.stampsOf(radius, rimmed, stride);
    if (this.image?.width !== stride || this.image?.height !== rows) {
      this.image = context.createImageData(stride, rows);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels } = this;
    pixels.fill(ground);
    const ox = this.drawn.x + marginX, oy = this.drawn.y + marginY, right = stride - half, bottom = rows - half;
    const stamp = ({ solid, edge, shares }, at, colour) => {
      for (let k = 0; k < solid.length; k += 1) pixels[at + solid[k]] = colour;
      for (let k = 0; k < edge.length; k += 1) {
        const share = shares[k], rest = 255 - share, old = pixels[at + edge[k]];
        const redBlue = (((colour & 0xff00ff) * share + (old & 0xff00ff) * rest) >>> 8) & 0xff00ff;
        const green = (((colour & 0xff00) * share + (old & 0xff00) * rest) >>> 8) & 0xff00;
        pixels[at + edge[k]] = (0xff000000 | redBlue | green) >>> 0;
      }
    };
    for (let k = 0; k < order.length; k += 1) {
      const i = order[k];
      const px = ((x[i] * across + 0.5) | 0) + ox, py = ((y[i] * down + 0.5) | 0) + oy;
      if (px < half || py < half || px >= right || py >= bottom) continue;
      const shape = shapes[i], at = py * stride + px;
      if (rims !== null && k >= nFaint) stamp(rims[shape], at, ground);
      stamp(marks[shape], at, (k < nFaint ? faint : bright)[paint[i]]);
    }
  }
}

/** Rows in cells of a grid, so that the nearest one is found without looking at all of them. */
export class Grid {
  constructor(x, y) {
    this.x = x;
    this.y = y;
    const n = x.length, cells = new Int32Array(n);
    this.starts = new Int32Array(CELLS * CELLS + 1);
    for (let i = 0; i < n; i += 1) {
      cells[i] = Grid.cell(y[i]) * CELLS + Grid.cell(x[i]);
      this.starts[cells[i] + 1] += 1;
    }
    for (let c = 0; c < CELLS * CELLS; c += 1) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice();
    this.rows = new Int32Array(n);
    for (let i = 0; i < n; i += 1) this.rows[next[cells[i]]++] = i;
  }

  static cell(value) {
    return clamp(Math.floor((value / (UNIT + 1)) * CELLS), 0, CELLS - 1);
  }

  /** Call `visit` with every row whose cell touches a rectangle. */
  within(left, top, right, bottom, visit) {
    const first = Grid.cell(left), last = Grid.cell(right);
    for (let row = Grid.cell(top); row <= Grid.cell(bottom); row += 1) {
      for (let k = this.starts[row * CELLS + first]; k < this.starts[row * CELLS + last + 1]; k += 1) visit(this.rows[k]);
    }
  }
}
