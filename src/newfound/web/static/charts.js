// Small pictures of columns, which the report does not have.
import { h, svg, wide } from "./dom.js";
import { count, percent } from "./words.js";

const WIDE = 120, HIGH = 34;

/** How the numbers or dates of a column are spread. */
export function histogram({ counts, low, high }) {
  const most = Math.max(1, ...counts), step = WIDE / counts.length;
  const bars = counts.map((n, i) => {
    const height = n ? Math.max(1.5, (n / most) * HIGH) : 0;
    return svg("rect", { class: "bar level", x: (i * step + 0.5).toFixed(2), y: (HIGH - height).toFixed(2), width: Math.max(0.5, step - 1).toFixed(2), height: height.toFixed(2) });
  });
  const picture = svg("svg", { class: "mini", viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": `From ${low} to ${high}` }, ...bars);
  return h("div", { class: "mini-box" }, picture, h("div", { class: "ends" }, h("span", {}, low), h("span", {}, high)));
}

/** The most frequent texts of a column. */
export function levels(found, total, nRows) {
  const most = Math.max(1, ...found.map((one) => one.count)), shown = found.slice(0, 3);
  const lines = shown.map((one) => h(
    "li", {},
    h("span", { class: "level-bar", "aria-hidden": "true" }, wide(h("span", { class: "level-fill" }), one.count / most)),
    h("span", { class: "level-text", title: one.text }, one.text),
    h("span", { class: "level-count" }, percent(one.count / nRows)),
  ));
  return h("div", { class: "mini-box" }, h("ul", { class: "levels" }, ...lines), total > shown.length ? h("p", { class: "help" }, `and ${count(total - shown.length)} more`) : null);
}

/** A share as a thin bar with its words. */
export const shareBar = (share, text) => h("div", { class: "share-bar" }, h("span", {}, text), h("div", { class: "bar-track", "aria-hidden": "true" }, wide(h("div", { class: "bar-fill" }), share)));
