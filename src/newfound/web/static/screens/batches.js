// A further batch of rows: what is known, what has moved, what is new.
import { api } from "../api.js";
import { dropzone } from "../dropzone.js";
import { busy, empty, field, h, select } from "../dom.js";
import { finishedRun, runHead } from "../results.js";
import { RunList, watch } from "../runs.js";
import { count, listed, percent } from "../words.js";

export async function show(view, { id, signal, belongs }) {
  const found = await finishedRun(id, belongs);
  if (!found) return;
  const state = await api.state();
  const ask = h("div", {}), place = h("div", { class: "run-list" });
  const nothing = empty("No batch yet", "Bring rows with the same columns, such as those of the next month. Known and novel classes keep their names; rows that fit none are searched for new ones.");
  const list = new RunList(place, () => again(), new Map(state.discoverers.map((one) => [one.method, one.name])));
  const written = new Set();
  const update = (runs) => {
    const mine = runs.filter((run) => run.kind === "update" && run.parent === id);
    nothing.hidden = mine.length > 0;
    const active = list.update(mine);
    for (const run of mine) {
      if (run.status !== "done" || written.has(run.id)) continue;
      written.add(run.id);
      api.sections(run.id).then(({ workbench }) => workbench?.update && list.cards.get(run.id)?.buttons.before(outcome(workbench.update)));
    }
    return active;
  };
  const again = watch(signal, api.runs, update);
  const chosen = async (table) => {
    const { columns } = await api.columns(table.id);
    const target = select([["", "none of them"], ...columns.map((one) => [one.name, one.name])], columns.some((one) => one.name === found.run.options.target) ? found.run.options.target : "");
    const go = h("button", { type: "button", class: "primary" }, "Update the classes");
    go.addEventListener("click", () => busy(go, async () => {
      await api.update(id, table.id, target.value || null);
      ask.replaceChildren();
      again();
    }));
    ask.replaceChildren(h("div", { class: "panel" }, h("h2", {}, `${table.name}: ${count(table.n_rows, "row")}`), field("Column of labels", target, "Labels of the new rows are used where there are some. It may be empty."), go));
    go.focus();
  };
  view.replaceChildren(h(
    "div", { class: "wide" },
    runHead(found, "Come back with new rows", "batches"),
    dropzone({ title: "Bring the next batch", formats: state.formats, limits: state.limits, done: chosen }),
    ask,
    h("section", { "aria-label": "Batches" }, h("h2", {}, "Batches"), nothing, place),
  ));
}

function outcome(update) {
  const drifting = update.drifting, absent = update.absent.map((one) => one.class);
  const rows = update.classes.map((one) => h(
    "tr", {},
    h("th", { scope: "row" }, String(one.class)), h("td", {}, one.kind), h("td", {}, count(one.rows)), h("td", {}, percent(one.share)),
    h("td", {}, one.note === "drifts" ? `moved, most in ${one.column}` : one.kind === "new" && one.nearest !== null ? `nearest to ${one.nearest}` : one.note ?? ""),
  ));
  return h(
    "div", { class: "outcome" },
    h("ul", {},
      h("li", {}, update.new_classes.length ? `New: ${listed(update.new_classes.map(String))}.` : "No new class."),
      h("li", {}, drifting.length ? `Moved: ${listed(drifting.map(String))}.` : "No class has moved."),
      absent.length ? h("li", {}, `Without a row in this batch: ${listed(absent.map(String))}.`) : null,
      ...(update.doubts || []).map((doubt) => h("li", { class: "doubt" }, doubt)),
      update.share_unexplained ? h("li", {}, `${percent(update.share_unexplained)} of the rows fit no class.`) : null,
    ),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Classes of the batch" }, h("table", {}, h("thead", {}, h("tr", {}, ...["class", "kind", "rows", "share", ""].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows))),
  );
}
