// The columns of a table: which one holds the classes, which ones to learn from, and what they hold.
import { api } from "../api.js";
import { histogram, levels } from "../charts.js";
import { choicesOf, keepChoices } from "../choices.js";
import { field, h, notify, problem, put, say, select, wide } from "../dom.js";
import { count, listed, percent } from "../words.js";

const KINDS = [["numeric", "numbers"], ["categorical", "categories"], ["boolean", "yes or no"], ["date", "dates"], ["time", "times of day"]];
const PAGE = 60;

export async function show(view, { id, signal, belongs }) {
  const [table, runs] = await Promise.all([api.table(id), api.runs()]);
  belongs({ run: runs.find((run) => run.table === id && run.status === "done")?.id });
  const choices = await choicesOf(id, runs);
  let found = await api.columns(id, choices.target, choices.marks);
  const advice = found.suggested_target;
  const reasons = new Map(found.suggested_ignored.map((one) => [one.name, one.reason]));
  const unused = new Set(choices.unused);
  const keep = () => keepChoices(id, { ...choices, unused: [...unused] });
  keep();

  const target = select([["", "Choose a column"], ...found.columns.map((one) => [one.name, one.name])], choices.target ?? "");
  const why = advice ? `Suggested: ${advice.name} (${advice.reason}).` : "A column that names the class of some rows, and is empty for the others.";
  const classes = h("div", { class: "classes-found" }), next = h("a", { class: "button primary", href: `#/table/${id}/run` }, "Continue");
  const summary = h("p", { class: "bottom-words" });

  const refresh = () => {
    fillTarget(classes, found, choices, async (marks) => {
      choices.marks = marks;
      await reload();
    }, () => { keep(); refresh(); });
    const used = found.columns.filter((one) => one.name !== choices.target && !unused.has(one.name)).length;
    const searched = found.target ? found.target.n_unlabelled + nHidden(found, choices) : 0, ready = searched && used;
    summary.textContent = !choices.target
      ? "Choose the column that holds the classes."
      : !found.target ? "This column cannot hold the classes." : !searched ? "Every row has a label." : `${count(searched, "row")} to search, ${count(used, "column")} to learn from`;
    next.classList.toggle("off", !ready);
    next.setAttribute("aria-disabled", String(!ready)); // a click then leads to the choice above
  };
  const reload = async () => {
    try {
      found = await api.columns(id, choices.target, choices.marks);
    } catch (error) {
      notify(error.message, { kind: "error" });
      return;
    }
    if (signal.aborted) return;
    keep();
    refresh();
    list.redraw();
    say(summary.textContent);
  };
  target.addEventListener("change", () => {
    Object.assign(choices, { target: target.value || null, hide: [], marks: null });
    reload();
  });
  next.addEventListener("click", (event) => {
    if (next.getAttribute("aria-disabled") !== "true") return;
    event.preventDefault();
    target.focus();
    say(summary.textContent);
  });
  const list = columnList({ found: () => found, choices, unused, reasons, table, changed: () => { keep(); refresh(); } });
  refresh();
  view.replaceChildren(
    h(
      "div", { class: "wide" },
      h("h1", {}, "What does the table hold?"),
      h("p", { class: "lead" }, h("b", {}, table.name), `: ${count(table.n_rows, "row")}, ${count(table.n_columns, "column")}.`),
      ...table.notes.map((note) => h("p", { class: "help" }, note)),
      h("section", { class: "panel target-panel", "aria-label": "The classes" }, field("Which column holds the classes?", target, why), classes),
      h("section", { "aria-label": "Columns" }, h("h2", {}, "Columns to learn from"), h("p", {}, "Leave out what cannot tell classes apart, such as numbers of rows or names of people, and correct a kind that was guessed wrong."), list.node),
    ),
    h("div", { class: "bottom" }, h("div", { class: "wide bottom-inner" }, summary, next)),
  );
}

// ---- the classes

/** Rows of the classes that are hidden on purpose. */
const nHidden = (found, choices) => found.target.classes.filter((one) => choices.hide.includes(one.name)).reduce((sum, one) => sum + one.count, 0);

const ROLES = [["known", "known"], ["hide", "hide, to rehearse"], ["mark", "means: no label"]];

const FEW = 20; // rows to search among which hardly a class can be found

/** What speaks against a search with these labels; null if nothing does. */
function doubt(known, searched) {
  const said = !searched
    ? ["Every row has a label", "There is nothing to search. Below, hide a known class to rehearse, or say which text means that a row has no label."]
    : !known ? ["No row has a label", "Auto learns from known classes. Choose another column, label some rows in your file and bring it again, or choose K-means or Spectral in the next step: they need no label."]
      : searched < FEW ? [`Only ${count(searched, "row")} to search`, "A class is found where dozens of rows are alike. Expect little from so few."] : null;
  return said && h("div", { class: "doubt" }, h("b", {}, said[0]), h("p", {}, said[1]));
}

function fillTarget(place, found, choices, setMarks, changed) {
  if (found.target_problem) {
    place.replaceChildren(problem({ problem: found.target_problem }));
    return;
  }
  if (!found.target) {
    place.replaceChildren(h("p", { class: "muted" }, "The classes and the unlabelled rows show up here."));
    return;
  }
  const { target } = found, marks = choices.marks ?? [], hidden = nHidden(found, choices);
  const known = target.n_labelled - hidden, searched = target.n_unlabelled + hidden, total = known + searched;
  const nKnown = target.classes.length - choices.hide.length, wasOpen = place.querySelector("details")?.open, focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  const rows = target.classes.slice(0, 50).map((one) => {
    const role = select(ROLES, choices.hide.includes(one.name) ? "hide" : "known", { "aria-label": `What ${one.name} is`, class: "small" });
    role.addEventListener("change", () => {
      choices.hide = choices.hide.filter((name) => name !== one.name);
      if (role.value === "hide") choices.hide.push(one.name);
      if (role.value === "mark") return setMarks([...marks, one.name]);
      return changed();
    });
    return h("tr", {}, h("th", { scope: "row" }, one.name), h("td", {}, count(one.count)), h("td", { class: "share-cell" }, h("div", { class: "bar-track", "aria-hidden": "true" }, wide(h("div", { class: "bar-fill" }), one.count / total))), h("td", {}, role));
  });
  const hint = h("p", { class: "help" }, choices.hide.length
    ? `A rehearsal: the labels of ${listed(choices.hide)} are hidden from the search. Afterwards you see how well they are found again.`
    : "To see how well this works on your table, hide a class that you know: the search then has to find it again.");
  const reset = marks.length && h("button", { type: "button", class: "quiet small", on: { click: () => setMarks(null) } }, `Cells that mean \u201cno label\u201d: ${marks.join(", ")}. Take back`);
  put(
    place,
    h("div", { class: "split-bar", role: "img", "aria-label": `${count(known)} labelled, ${count(searched)} to be searched` }, wide(h("span", { class: "split-known" }), known / total), wide(h("span", { class: "split-novel" }), searched / total)),
    h("p", { class: "split-words" }, h("span", {}, h("span", { class: "key known" }), ` ${count(known, "labelled row")} in ${count(nKnown, "known class", "known classes")}`), h("span", {}, h("span", { class: "key c0" }), ` ${count(searched, hidden ? "row" : "unlabelled row")} to be searched${hidden ? `, ${count(hidden)} of hidden classes` : ""}`)),
    ...target.notes.map((note) => h("p", { class: "help" }, note)),
    doubt(known, searched),
    h("details", {}, h("summary", {}, "Known classes"), h("table", { class: "known-table" }, h("thead", {}, h("tr", {}, ...["class", "rows", "", "in this run"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows)), target.classes.length > 50 ? h("p", { class: "help" }, `and ${count(target.classes.length - 50)} more`) : null, hint, reset || null),
  );
  if (wasOpen || choices.hide.length || target.n_unlabelled === 0) place.querySelector("details").open = true;
  if (focused) place.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
}

// ---- the columns

function columnList({ found, choices, unused, reasons, table, changed }) {
  const body = h("tbody", {}), more = h("button", { type: "button", class: "quiet" }), search = h("input", { type: "search", placeholder: "Find a column", "aria-label": "Find a column" });
  let limit = PAGE;
  const line = (one) => {
    const isTarget = one.name === choices.target, reason = reasons.get(one.name);
    const use = h("input", { type: "checkbox", "aria-label": `Use ${one.name}` });
    use.checked = !isTarget && !unused.has(one.name);
    use.disabled = isTarget;
    const guessed = one.kind === "ignored" ? (one.histogram ? "numeric" : "categorical") : one.kind;
    const kind = select(KINDS, choices.kinds[one.name] ?? guessed, { "aria-label": `Kind of ${one.name}`, class: "small" });
    kind.disabled = isTarget;
    const row = h(
      "tr", { class: use.checked ? "" : "unused" },
      h("td", { class: "use" }, use),
      h("th", { scope: "row" }, h("span", { class: "column-name" }, one.name), isTarget ? h("p", { class: "help" }, "holds the classes") : reason ? h("p", { class: "help" }, reason) : null),
      h("td", {}, kind),
      h("td", { class: "missing-cell" }, one.missing_share ? percent(one.missing_share) : "none", one.missing_share ? h("div", { class: "bar-track", "aria-hidden": "true" }, wide(h("div", { class: "bar-fill warn" }), one.missing_share)) : null),
      h("td", { class: "spread" }, one.histogram ? histogram(one.histogram) : one.levels ? levels(one.levels, one.n_levels, table.n_rows) : h("span", { class: "muted" }, "empty")),
      h("td", { class: "cells" }, one.examples.join(", ")),
    );
    const needsKind = () => {
      if (one.kind === "ignored" && use.checked) choices.kinds[one.name] = kind.value; // nobody would guess it otherwise
      else if (kind.value === one.kind) delete choices.kinds[one.name];
    };
    use.addEventListener("change", () => {
      if (use.checked) unused.delete(one.name);
      else unused.add(one.name);
      row.classList.toggle("unused", !use.checked);
      needsKind();
      changed();
    });
    kind.addEventListener("change", () => {
      choices.kinds[one.name] = kind.value;
      needsKind();
      changed();
    });
    return row;
  };
  const redraw = () => {
    const wanted = search.value.trim().toLowerCase();
    const all = found().columns.filter((one) => one.name.toLowerCase().includes(wanted));
    body.replaceChildren(...all.slice(0, limit).map(line));
    if (!all.length) body.replaceChildren(h("tr", {}, h("td", { colspan: 6, class: "muted" }, "No column has this in its name.")));
    more.hidden = all.length <= limit;
    more.textContent = `Show ${count(Math.min(PAGE, all.length - limit))} more of ${count(all.length)}`;
  };
  more.addEventListener("click", () => { limit += PAGE; redraw(); });
  search.addEventListener("input", redraw);
  redraw();
  const heads = ["use", "column", "kind", "missing", "what it holds", "for example"];
  const node = h("div", {}, found().columns.length > 12 ? h("div", { class: "field" }, search) : null, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns" }, h("table", { class: "columns-table" }, h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))), body)), more);
  return { node, redraw };
}
