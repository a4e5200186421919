// Take it with you: labels, model, report, code.
import { api } from "../api.js";
import { h, notify, problem } from "../dom.js";
import { finishedRun, runHead } from "../results.js";

const FILES = [
  ["labels", "labels.csv", "The labelled table", "Your table with the class of every row, how probable it is, and which rows to look at. For a spreadsheet, or to go on with."],
  ["report", "report.html", "The report", "Everything about the classes in one file that opens anywhere, without a network. To send to somebody."],
  ["model", "model.newfound", "The model", ["Names the class of new rows, by this command: ", h("code", {}, "newfound predict model.newfound new_rows.csv")]],
  ["code", "reproduce.py", "The Python code", "What was done here, from the table to the named classes, as a program that does it again."],
];

export async function show(view, { id, signal, belongs }) {
  const found = await finishedRun(id, belongs);
  if (!found) return;
  const code = h("div", {}, h("p", { class: "muted" }, "Writing the code\u2026"));
  view.replaceChildren(h(
    "div", { class: "wide" },
    runHead(found, "Take it with you", "export"),
    h("p", { class: "lead" }, "Names, merged and split classes are as you have made them."),
    h("div", { class: "exports" }, ...FILES.map(([what, name, title, about]) => h("section", { class: "export-card" }, h("h2", {}, title), h("p", {}, about), h("a", { class: "button", href: api.exported(id, what), download: name, "data-export": what }, `Download ${name}`)))),
    h("section", {}, h("h2", {}, "The code"), code),
  ));
  fetch(api.exported(id, "code")).then(async (response) => {
    if (!response.ok) throw new Error("The code cannot be written now.");
    const text = await response.text();
    if (signal.aborted) return;
    const copy = h("button", { type: "button", class: "small", on: { click: async () => { await navigator.clipboard.writeText(text); notify("The code is copied."); } } }, "Copy");
    code.replaceChildren(h("pre", { tabindex: "0" }, h("code", {}, text)), copy);
  }).catch((error) => code.replaceChildren(problem(error)));
}
