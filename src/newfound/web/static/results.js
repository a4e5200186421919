// What the screens of a finished run share: its head, and looks of its classes.
import { api } from "./api.js";
import { h, select, svg } from "./dom.js";

/** Return a finished run; one that is not finished is shown with its progress instead. */
export async function finishedRun(id, belongs) {
  const [run, all] = await Promise.all([api.run(id), api.runs()]);
  if (run.status !== "done") {
    location.replace(`#/table/${run.table}/run`);
    return null;
  }
  belongs({ run: id, table: run.table });
  return { run, others: all.filter((one) => one.status === "done" && (one.table === run.table || one.parent === id || one.id === run.parent || one.id === id)) };
}

/** Title of a screen, what it is about, and a way to the other runs of the table. */
export function runHead({ run, others }, title, screen) {
  const pick = select(others.map((one) => [one.id, one.title]), run.id);
  pick.addEventListener("change", () => { location.hash = `#/run/${pick.value}/${screen}`; });
  return h("div", { class: "run-head" }, h("h1", {}, title), others.length > 1 ? h("label", { class: "run-pick" }, "Run", pick) : h("p", { class: "muted" }, run.title));
}

/** Classes of a map with their colours and marks. */
export function lookedClasses(names, isNovel, looks) {
  let n = 0;
  return names.map((name, j) => ({ name, novel: isNovel[j], ...(isNovel[j] ? looks.novel[n++ % looks.novel.length] : looks.known) }));
}

export const swatch = (one, outlines) => svg("svg", { class: `swatch ${one.colour}`, viewBox: "-13 -13 26 26", "aria-hidden": "true" }, svg("path", { d: outlines[one.mark] }));

/** A table of rows with their cells; texts stay texts. */
export function rowsTable({ columns, rows }, first = []) {
  const order = [...first.filter((name) => columns.includes(name)), ...columns.filter((name) => !first.includes(name))];
  const places = order.map((name) => columns.indexOf(name));
  const cell = (text) => (text === null ? h("td", { class: "missing" }, "missing") : h("td", { title: text.length > 30 ? text : null }, text));
  return h(
    "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows" },
    h(
      "table", {},
      h("thead", {}, h("tr", {}, ...["row", "class", "probability", "label", ...order].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, h("th", { scope: "row" }, String(row.row)), h("td", {}, row.class_name || "none"), h("td", {}, `${Math.round(100 * row.probability)}\u00a0%`), row.label === null ? h("td", { class: "missing" }, "unlabelled") : h("td", {}, row.label), ...places.map((k) => cell(row.cells[k]))))),
    ),
  );
}
