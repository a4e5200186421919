// The first screen: a table to begin with, and what was done before.
import { api } from "../api.js";
import { dropzone } from "../dropzone.js";
import { busy, confirmed, empty, h, notify } from "../dom.js";
import { count, when } from "../words.js";
import { statusPill } from "../runs.js";

export async function show(view, { signal }) {
  const [state, tables, runs] = await Promise.all([api.state(), api.tables(), api.runs()]);
  const examples = state.examples.map((one) => {
    const button = h(
      "button", { type: "button", class: "example" },
      h("b", {}, one.title), h("span", {}, one.about), h("span", { class: "example-go", "aria-hidden": "true" }, "Try it \u2192"),
    );
    button.addEventListener("click", () => busy(button, async () => {
      const table = await api.example(one.name);
      if (!signal.aborted) location.hash = `#/table/${table.id}`;
    }));
    return button;
  });
  const places = { runs: h("div", {}), tables: h("div", {}) };
  fillRuns(places.runs, runs);
  fillTables(places.tables, tables, runs, () => show(view, { signal }));
  view.replaceChildren(
    h(
      "section", { class: "hero" },
      h(
        "div", { class: "wide" },
        h("h1", {}, "Find the classes nobody has labelled yet"),
        h("p", { class: "lead" }, "Bring a table with a column that names the class of some rows and is empty for the others. The workbench looks for new classes among the others, shows how to recognise them, and lets you name them."),
        dropzone({ title: "Begin with a table", formats: state.formats, limits: state.limits, done: (table) => { location.hash = `#/table/${table.id}`; } }),
        h("h2", { class: "small-title" }, "No table at hand?"),
        h("div", { class: "examples" }, ...examples),
      ),
    ),
    h(
      "div", { class: "wide two" },
      h("section", { "aria-label": "Runs" }, h("h2", {}, "Runs"), places.runs),
      h("section", { "aria-label": "Tables" }, h("h2", {}, "Tables"), places.tables),
    ),
  );
}

const target = (run) => (run.status === "done" ? `#/run/${run.id}/explore` : `#/table/${run.table}/run`);

function fillRuns(place, runs) {
  if (!runs.length) {
    place.replaceChildren(empty("No run yet", "A run is one search for novel classes. Runs are kept here, also when the workbench is closed."));
    return;
  }
  const remove = (run) => {
    const button = h("button", { type: "button", class: "quiet small", "aria-label": `Delete the run ${run.title}` }, "Delete");
    button.addEventListener("click", async () => {
      if (!(await confirmed("Delete this run?", `${run.title}: its classes, names and labels are lost.`, "Delete"))) return;
      await busy(button, async () => {
        await api.removeRun(run.id);
        fillRuns(place, runs.filter((one) => one !== run));
        notify("The run is deleted.");
      });
    });
    return button;
  };
  place.replaceChildren(h(
    "ul", { class: "list" },
    ...runs.map((run) => h(
      "li", {},
      h("div", { class: "list-main" }, h("a", { href: target(run) }, run.title), h("p", { class: "muted" }, `${run.table_name}, ${when(run.created)}${run.status === "done" && run.n_novel_classes !== null ? `, ${count(run.n_novel_classes, "novel class", "novel classes")}` : ""}`)),
      statusPill(run), remove(run),
    )),
  ));
}

function fillTables(place, tables, runs, again) {
  if (!tables.length) {
    place.replaceChildren(empty("No table yet", "Tables that you bring are kept here until you delete them."));
    return;
  }
  const remove = (table) => {
    const n = runs.filter((run) => run.table === table.id).length;
    const button = h("button", { type: "button", class: "quiet small", "aria-label": `Delete the table ${table.name}` }, "Delete");
    button.addEventListener("click", async () => {
      if (n) {
        notify(`Delete the ${count(n, "run")} of ${table.name} first.`);
        return;
      }
      if (!(await confirmed("Delete this table?", `${table.name} is removed from the workbench.`, "Delete"))) return;
      await busy(button, async () => {
        await api.removeTable(table.id);
        await again();
        notify("The table is deleted.");
      });
    });
    return button;
  };
  place.replaceChildren(h(
    "ul", { class: "list" },
    ...tables.map((table) => h(
      "li", {},
      h("div", { class: "list-main" }, h("a", { href: `#/table/${table.id}` }, table.name), h("p", { class: "muted" }, `${count(table.n_rows, "row")}, ${count(table.n_columns, "column")}, ${when(table.created)}`)),
      remove(table),
    )),
  ));
}
