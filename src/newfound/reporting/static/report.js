// The map of a report: pointing, choosing classes, the keyboard, and the same rows as a table.
// Texts of the table's owner only ever become text nodes.
import { RowMap } from "./map.js";

const data = JSON.parse(document.getElementById("report-data").textContent);
const { map: rows, classes, outlines } = data;
const byId = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];
const box = byId("map"), panel = byId("row"), spoken = byId("map-status");
const help = [...panel.childNodes];
const picks = all(".pick[data-class]"), everything = document.querySelector(".pick.all");
const chosen = new Set();

const element = (name, text, attributes = {}) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const percent = (share) => { // as in the cards: never 0 or 100 for what is not quite that
  const whole = Math.round(100 * share);
  const text = whole === 100 && share < 1 ? ">99" : whole === 0 && share > 0 ? "<1" : String(whole);
  return `${text}\u00a0%`;
};
const parted = (made, text) => { // may break after the signs that join words, before any word is broken
  const parts = text.match(/[^_./-]*[_./-]+|[^_./-]+/g) || [];
  made.replaceChildren(...parts.flatMap((part) => [part, element("wbr")]).slice(0, -1));
  return made;
};
const cell = (column, i) => {
  const value = column.cells[i];
  if (value === null) return "missing";
  return column.texts ? column.texts[value] : String(value);
};
const className = (i) => classes[rows.classes[i]].name;
const kind = (i) => (classes[rows.classes[i]].novel ? "novel class" : "known class");
const label = (i) => (rows.labels === null ? null : rows.labels[i] < 0 ? "unlabelled" : rows.label_names[rows.labels[i]]);
const telling = (i) => (rows.telling[rows.classes[i]] || []).map((j) => rows.columns[j]);

// ---- one row

const describe = (i) =>
  `Row ${rows.rows[i]}, ${kind(i)} ${className(i)}, ${percent(rows.probabilities[i])}. ` +
  telling(i).map((column) => `${column.name} ${cell(column, i)}`).join(", ");

const tip = (i) => {
  const list = element("dl");
  for (const column of telling(i)) list.append(element("dt", column.name), element("dd", cell(column, i)));
  return [element("b", `${className(i)}, ${percent(rows.probabilities[i])}`), element("span", `row ${rows.rows[i]}`), list];
};

const fillPanel = (i) => {
  const body = element("tbody");
  const line = (name, text) => {
    const row = element("tr");
    row.append(parted(element("th", name, { scope: "row", title: name }), name), element("td", text, { title: text }));
    body.append(row);
  };
  line(kind(i), className(i));
  line("probability", percent(rows.probabilities[i]));
  if (label(i) !== null) line("label", label(i));
  const first = telling(i);
  for (const column of [...first, ...rows.columns.filter((column) => !first.includes(column))]) line(column.name, cell(column, i));
  const table = element("table");
  table.append(element("caption", `Row ${rows.rows[i]}`), body);
  const parts = [table];
  if (rows.n_columns_left_out) parts.push(element("p", `and ${rows.n_columns_left_out} more columns`, { class: "muted" }));
  panel.replaceChildren(...parts);
};

const select = (i, { speak = false } = {}) => {
  map.select(i);
  fillPanel(i);
  if (speak) spoken.textContent = describe(i);
};

// ---- choosing classes

const refresh = () => {
  map.choose(chosen);
  for (const pick of picks) pick.setAttribute("aria-pressed", String(chosen.has(Number(pick.dataset.class))));
  everything.setAttribute("aria-pressed", String(chosen.size === 0));
  if (map.current < 0) panel.replaceChildren(...help);
  fillTable(0);
  const names = [...chosen].map((j) => classes[j].name).join(", ");
  const count = rows.classes.filter((_, i) => map.shown(i)).length;
  spoken.textContent = chosen.size ? `Shown: ${names}; ${count} rows on the map.` : `All classes shown; ${count} rows on the map.`;
};

const toggle = (j) => {
  if (!chosen.delete(j)) chosen.add(j);
  refresh();
};
const only = (j) => {
  const alone = chosen.size === 1 && chosen.has(j);
  chosen.clear();
  if (!alone) chosen.add(j);
  refresh();
};
const showAll = () => {
  chosen.clear();
  refresh();
};

for (const pick of picks) pick.addEventListener("click", () => toggle(Number(pick.dataset.class)));
everything.addEventListener("click", showAll);

// ---- pointer and keyboard

const map = new RowMap(box, {
  rows: { x: rows.x, y: rows.y, codes: rows.classes },
  classes,
  outlines,
  on: {
    tip,
    point: (i) => select(i),
    step: (i) => select(i, { speak: true }),
    click: (i, event, by) => {
      if (i < 0) {
        if (chosen.size) showAll();
      } else if (by === "touch" && i !== map.current) {
        select(i, { speak: true }); // a finger cannot hover: the first tap shows the row, the second chooses its class
      } else {
        only(rows.classes[i]);
        if (map.shown(i)) select(i);
      }
    },
    escape: () => {
      map.select(-1);
      showAll();
    },
  },
});

// ---- from a card to the map

const placeOf = new Map(rows.rows.map((row, i) => [row, i]));
for (const button of all(".on-map")) {
  const i = placeOf.get(Number(button.dataset.row));
  if (i === undefined) continue;
  button.title = "Show on the map";
  button.addEventListener("click", () => {
    if (!map.shown(i)) showAll();
    box.focus({ preventScroll: true });
    box.scrollIntoView({ block: "center" });
    map.reveal(i);
    select(i, { speak: true });
  });
}

// ---- the same rows as a table

const PAGE = 25;
const details = byId("map-rows"), place = byId("map-table");

function fillTable(page) {
  if (!details.open) return;
  const found = rows.rows.map((_, i) => i).filter((i) => map.shown(i));
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const columns = (rows.telling[chosen.size === 1 ? [...chosen][0] : data.first_novel] || rows.telling[0] || []).map((j) => rows.columns[j]);
  const head = element("tr");
  const names = ["row", "class", "probability", ...(rows.labels === null ? [] : ["label"]), ...columns.map((column) => column.name)];
  for (const name of names) head.append(element("th", name, { scope: "col" }));
  const body = element("tbody");
  for (const i of found.slice(page * PAGE, (page + 1) * PAGE)) {
    const line = element("tr");
    line.append(element("th", String(rows.rows[i]), { scope: "row" }), element("td", className(i)), element("td", percent(rows.probabilities[i])));
    if (rows.labels !== null) line.append(element("td", label(i)));
    for (const column of columns) line.append(element("td", cell(column, i)));
    body.append(line);
  }
  const table = element("table"), thead = element("thead");
  thead.append(head);
  table.append(thead, body);
  const scroll = element("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows of the map" });
  scroll.append(table);
  const pager = element("div", undefined, { class: "pager" });
  const turn = (text, to) => {
    const button = element("button", text, { type: "button" });
    button.disabled = to < 0 || to >= pages;
    button.addEventListener("click", () => {
      fillTable(to);
      const again = [...place.querySelectorAll(".pager button")].find((other) => other.textContent === text);
      (again && !again.disabled ? again : place.querySelector(".pager button:not(:disabled)"))?.focus();
    });
    return button;
  };
  pager.append(turn("Previous", page - 1), element("span", `Page ${page + 1} of ${pages}, ${found.length} rows`), turn("Next", page + 1));
  place.replaceChildren(scroll, pager);
}
details.addEventListener("toggle", () => fillTable(0));

// ---- paper shows everything, and is always light

let closed = [];
const onPaper = (now) => {
  if (now) closed = all("details:not([open])").filter((other) => other !== details);
  for (const hidden of closed) hidden.open = now;
  if (now) document.documentElement.dataset.theme = "light";
  else delete document.documentElement.dataset.theme;
  map.refresh();
  map.paintNow();
};
window.addEventListener("beforeprint", () => onPaper(true));
window.addEventListener("afterprint", () => onPaper(false));
