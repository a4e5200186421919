// The map of a run: look around, choose classes and rows, colour by anything.
import { RowMap } from "/shared/map.js";
import { api } from "../api.js";
import { byNumbers, byTexts } from "../colouring.js";
import { field, h, notify, say, select } from "../dom.js";
import { fragment } from "../fragment.js";
import { finishedRun, lookedClasses, rowsTable, runHead, swatch } from "../results.js";
import { count, percent } from "../words.js";

const PAGE = 50;
const HELP = "Drag to move, use the wheel to look closer, click on a mark to see its row. To choose several rows, press \u201cDraw around rows\u201d or hold Shift while you drag. With the keyboard: arrow keys go from mark to mark, Enter shows its row, plus and minus zoom, Escape shows all again.";

export async function show(view, { id, signal, belongs, place }) {
  const found = await finishedRun(id, belongs);
  if (!found) return;
  const [data, sections, table] = await Promise.all([api.map(id), api.sections(id), api.columns(found.run.table)]);
  const classes = lookedClasses(data.class_names, data.is_novel, sections.looks);
  const rowOf = (i) => (data.rows === null ? i : data.rows[i]);
  const placeOf = (row) => (data.rows === null ? row : data.rows.indexOf(row));
  // Rows that fit no class of an update are shown as a class of their own.
  const codes = Int32Array.from(data.classes, (code) => (code < 0 ? classes.length : code));
  if (data.classes.some((code) => code < 0)) classes.push({ name: "fits no class", novel: false, ...sections.looks.known });

  const box = h("div", { class: "map", id: "map", tabindex: "0", role: "application", "aria-roledescription": "map of rows", "aria-label": `Map of ${count(data.n)} rows in ${count(classes.length, "class", "classes")}`, "aria-describedby": "map-help" });
  const inner = h("div", { class: "row-panel-inner", tabindex: "0" }), about = h("p", { class: "muted", id: "map-help" }, HELP);
  inner.append(about);
  const legend = h("div", { class: "legend", role: "group", "aria-label": "Classes shown on the map" });
  const chosenRows = h("section", { class: "chosen-rows", "aria-label": "Chosen rows", hidden: true });
  const colour = select([["class", "class"], ["confidence", "confidence"], ["label", "label"], ...table.columns.map((one) => [`column ${one.index}`, one.name])], "class");
  const lasso = h("button", { type: "button", class: "toggle", "aria-pressed": "false" }, "Draw around rows");
  const list = h("button", { type: "button" }, "List the rows shown");
  let values = null; // of the column that colours the rows

  view.replaceChildren(h(
    "div", { class: "wide" },
    runHead(found, sections.headline, "explore"),
    h("p", { class: "summary-line" }, sections.sentences.slice(0, 3).join(" ")),
    rehearsal(sections.workbench?.rehearsal),
    doubts(sections.doubts),
    h("div", { class: "map-bar" }, field("Colour by", colour), lasso, list, h("a", { class: "button primary", href: `#/run/${id}/classes` }, "Name the classes")),
    legend,
    h("div", { class: "explore-grid" }, box, h("aside", { class: "row-panel", "aria-label": "The row that was clicked" }, inner)),
    epochs(data, (frame) => map.setRows(frame)),
    h("p", { class: "help" }, `${data.n === data.n_rows ? `All ${count(data.n, "row")}` : `${count(data.n)} of ${count(data.n_rows)} rows`}, counted from 0. Rows that the model finds similar lie together; laid out by ${data.method}: only who is near whom counts, not distances or directions.`),
    chosenRows,
    h("section", { class: "found-how", "aria-label": "How it was found" }, h("h2", {}, "How it was found"), ...["count", "candidates", "known", "training", "batches", "making"].filter((name) => sections.sections[name]).map((name) => folded(sections.sections[name]))),
  ));

  place();
  if (signal.aborted) return;

  // ---- one row

  const describe = (i) => `Row ${rowOf(i)}, ${classes[codes[i]].novel ? "novel" : "known"} class ${classes[codes[i]].name}, ${percent(data.probabilities[i] / 1000)}`;
  const tip = (i) => {
    const lines = [h("b", {}, `${classes[codes[i]].name}, ${percent(data.probabilities[i] / 1000)}`), h("span", {}, `row ${rowOf(i)}${data.labels[i] >= 0 ? `, labelled ${data.label_names[data.labels[i]]}` : ""}`)];
    if (values) lines.push(h("dl", {}, h("dt", {}, values.name), h("dd", {}, values.text(i))));
    return lines;
  };
  let waiting = null;
  const showRow = (i, { speak = false } = {}) => {
    map.select(i);
    if (speak) say(describe(i));
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      try {
        const { columns, rows: [row] } = await api.rows(id, [rowOf(i)]);
        if (signal.aborted || map.current !== i) return;
        const line = (name, text, missing) => h("tr", {}, h("th", { scope: "row", title: name }, name), h("td", { class: missing ? "missing" : null, title: text }, text));
        inner.replaceChildren(h("table", {}, h("caption", {}, `Row ${row.row}`), h("tbody", {}, line("class", row.class_name || "none"), line("probability", percent(row.probability)), line("label", row.label ?? "unlabelled", row.label === null), ...columns.map((name, k) => line(name, row.cells[k] ?? "missing", row.cells[k] === null)))));
      } catch (error) {
        notify(error.message, { kind: "error" });
      }
    }, speak ? 200 : 0);
  };

  const map = new RowMap(box, {
    rows: { x: data.x, y: data.y, codes },
    classes,
    outlines: sections.outlines,
    wheel: true,
    on: {
      tip,
      click: (i) => (i >= 0 ? showRow(i) : release()),
      step: (i) => showRow(i, { speak: true }),
      lasso: (rows) => {
        listRows(rows, "drawn around");
        setLasso(false);
      },
      escape: () => { release(); choose([]); },
    },
  });
  const release = () => { map.select(-1); inner.replaceChildren(about); };
  signal.addEventListener("abort", () => map.destroy());

  // ---- classes and colours

  const choose = (chosen) => {
    map.choose(chosen);
    drawLegend();
    const shown = chosen.length ? chosen.map((j) => classes[j].name).join(", ") : "all classes";
    say(`Shown: ${shown}`);
  };
  const sizes = classes.map(() => 0);
  for (const code of codes) sizes[code] += 1;
  const order = classes.map((_, j) => j).filter((j) => sizes[j]).sort((a, b) => classes[b].novel - classes[a].novel);
  const drawLegend = () => {
    const focused = [...legend.children].indexOf(document.activeElement);
    const pick = (text, pressed, act, ...more) => h("button", { type: "button", class: "pick", "aria-pressed": String(pressed), on: { click: act } }, ...more, h("span", { class: "pick-name" }, text));
    legend.replaceChildren(
      pick("All classes", map.chosen.size === 0, () => choose([])),
      ...order.map((j) => {
        const made = pick(classes[j].name, map.chosen.has(j), () => choose(map.chosen.has(j) ? [...map.chosen].filter((one) => one !== j) : [...map.chosen, j]), swatch(classes[j], sections.outlines));
        made.append(h("span", { class: "visually-hidden" }, classes[j].novel ? " novel class, " : " known class, "), h("span", { class: "pick-size" }, count(sizes[j])));
        return made;
      }),
    );
    legend.children[focused]?.focus();
  };
  const key = h("div", { class: "map-key", hidden: true });
  box.append(key);
  const recolour = async () => {
    const by = colour.value;
    map.tip.hidden = true; // it tells of the column before
    try {
      if (by === "class") {
        values = null;
        key.hidden = true;
        map.paintClasses();
      } else {
        const painted = await painting(by);
        if (signal.aborted || colour.value !== by) return;
        key.replaceChildren(painted.legend);
        key.hidden = false;
        map.paintBy(painted.paint, painted.palette);
      }
    } catch (error) {
      notify(error.message, { kind: "error" });
      colour.value = "class";
    }
  };
  const painting = async (by) => {
    if (by === "confidence") {
      values = null;
      return byNumbers(box, [...data.probabilities].map((one) => one / 1000), { low: 0, high: 1, show: percent });
    }
    if (by === "label") {
      values = null;
      return byTexts([...data.labels].map((code) => (code < 0 ? null : code)), data.label_names);
    }
    const column = await api.column(id, Number(by.split(" ")[1]));
    values = { name: column.name, text: (i) => (column.cells[i] === null ? "missing" : column.texts ? column.texts[column.cells[i]] : String(column.cells[i])) };
    return column.texts ? byTexts(column.cells, column.texts) : byNumbers(box, column.cells);
  };
  colour.addEventListener("change", recolour);
  window.addEventListener("newfound-theme", () => { map.refresh(); recolour(); }, { signal });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour, { signal });
  drawLegend();

  // ---- several rows

  const setLasso = (on) => {
    map.lassoing = on;
    lasso.setAttribute("aria-pressed", String(on));
    box.classList.toggle("lassoing", on);
    map.draw();
  };
  lasso.addEventListener("click", () => setLasso(!map.lassoing));
  list.addEventListener("click", () => listRows([...codes.keys()].filter((i) => map.shown(i)), "shown on the map"));

  const listRows = async (places, how, page = 0) => {
    chosenRows.hidden = false;
    if (!places.length) {
      chosenRows.replaceChildren(h("h2", {}, "No row was drawn around"), h("p", { class: "muted" }, "Draw a line around some marks."));
      return;
    }
    const n = classes.map(() => 0);
    for (const i of places) n[codes[i]] += 1;
    const parts = classes.map((_, j) => j).filter((j) => n[j]).sort((a, b) => n[b] - n[a]).map((j) => `${classes[j].name} ${count(n[j])}`);
    const head = h("h2", { tabindex: "-1" }, `${count(places.length, "row")} ${how}`);
    const body = h("div", {}, h("p", { class: "muted" }, "Reading the rows\u2026"));
    chosenRows.replaceChildren(head, h("p", {}, parts.slice(0, 12).join(", "), parts.length > 12 ? " and more" : ""), body);
    say(head.textContent);
    if (page === 0) chosenRows.scrollIntoView({ block: "nearest" });
    try {
      const answer = await api.rows(id, places.slice(page * PAGE, (page + 1) * PAGE).map(rowOf));
      if (signal.aborted) return;
      const pages = Math.ceil(places.length / PAGE);
      const turn = (text, to) => h("button", { type: "button", disabled: to < 0 || to >= pages, on: { click: () => listRows(places, how, to) } }, text);
      body.replaceChildren(rowsTable(answer), h("div", { class: "pager" }, turn("Previous", page - 1), h("span", {}, `Page ${page + 1} of ${count(pages)}`), turn("Next", page + 1)));
    } catch (error) {
      notify(error.message, { kind: "error" });
    }
  };

  const asked = sessionStorage.getItem("newfound-row"); // a row of a card, to be shown here
  sessionStorage.removeItem("newfound-row");
  if (asked !== null && placeOf(Number(asked)) >= 0) {
    requestAnimationFrame(() => {
      const i = placeOf(Number(asked));
      map.reveal(i);
      showRow(i, { speak: true });
      box.focus();
    });
  }
}

function rehearsal(found) {
  if (!found) return null;
  const lines = found.table.slice(0, 12).map((one) => h("tr", {}, h("th", { scope: "row" }, one.hidden), h("td", {}, one.found), h("td", {}, count(one.rows))));
  return h(
    "details", { class: "panel rehearsal" },
    h("summary", {}, `Rehearsal: ${percent(found.scores.acc)} of the rows of the hidden classes were found together`),
    h("table", { class: "known-table" }, h("thead", {}, h("tr", {}, ...["hidden class", "found as", "rows"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...lines)),
  );
}

function doubts(found) {
  if (!found?.length) return null;
  return h("details", { class: "doubt explore-doubts" }, h("summary", {}, `Before you rely on it: ${count(found.length, "reason")} for doubt`), h("ul", {}, ...found.map(([name, text]) => h("li", {}, name ? h("b", {}, `${name}: `) : null, text))));
}

function epochs(data, move) {
  if (!data.frames?.length) return null;
  const frames = [...data.frames, { epoch: null, x: data.x, y: data.y }];
  const words = h("span", {}, "at the end"), slider = h("input", { type: "range", min: 0, max: frames.length - 1, step: 1, value: frames.length - 1, "aria-label": "Epoch of the training" });
  slider.addEventListener("input", () => {
    const frame = frames[Number(slider.value)];
    words.textContent = frame.epoch === null ? "at the end" : `after epoch ${frame.epoch}`;
    slider.setAttribute("aria-valuetext", words.textContent);
    move(frame);
  });
  return h("div", { class: "epochs" }, h("span", {}, "The rows"), slider, words);
}

/** A section of the report, folded under its heading. */
function folded(html) {
  const nodes = fragment(html), section = nodes[0], heading = section.querySelector("h2");
  heading.remove();
  return h("details", { class: "folded" }, h("summary", {}, heading.textContent), ...section.childNodes);
}
