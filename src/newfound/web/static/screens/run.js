// How to search, and the runs of this table side by side.
import { api } from "../api.js";
import { choicesOf } from "../choices.js";
import { busy, empty, field, freshId, h, say } from "../dom.js";
import { RunList, watch } from "../runs.js";
import { count, listed, sentence } from "../words.js";

const UNLABELLED = [
  ["auto", "Find out", "The search decides from the table."],
  ["novel", "All of novel classes", "No unlabelled row is of a known class."],
  ["mixed", "Of known and novel classes", "Rows of known classes get their known class; the others are searched."],
];
const MAIN = "auto"; // the method for everybody
const KNOBS = { n_members: "Networks", n_views: "Looks", n_init: "Starts", n_neighbors: "Neighbours", k_neighbors: "Neighbours", w1: "Weight of known classes", self_training: "Rounds of self-training" };

export async function show(view, { id, signal, belongs }) {
  const [state, table, runs] = await Promise.all([api.state(), api.table(id), api.runs()]);
  const choices = await choicesOf(id, runs);
  const place = h("div", { class: "run-list" }), nothing = empty("No run of this table yet", "Start one: it appears here with its progress, and you can go on working meanwhile.");
  const names = new Map(state.discoverers.map((one) => [one.method, one.name]));
  const list = new RunList(place, () => again(), names);
  const mine = (all) => all.filter((run) => run.table === id && run.kind === "discovery");
  const update = (all) => {
    const found = mine(all);
    nothing.hidden = found.length > 0;
    belongs({ run: found.find((run) => run.status === "done")?.id });
    return list.update(found);
  };
  update(runs);
  // The list has no losses: those of runs that are under way are asked for one by one.
  const load = async () => Promise.all((await api.runs()).map((run) => (run.table === id && run.status === "running" ? api.run(run.id) : run)));
  const again = watch(signal, load, update);

  const form = runForm({ state, table, choices, started: async () => { await again(); place.firstElementChild?.scrollIntoView({ block: "nearest" }); } });
  const start = h("button", { type: "submit", form: form.id, class: "primary" }, "Find novel classes");
  form.start = start;
  view.replaceChildren(
    h(
      "div", { class: "wide" },
      h("h1", {}, "Search for novel classes"),
      h("p", { class: "lead" }, h("b", {}, table.name), `: ${count(table.n_rows, "row")}; the classes are in `, h("b", {}, choices.target ?? "a column that is not chosen yet"), choices.hide.length ? `; a rehearsal without ${listed(choices.hide)}` : "", ". ", h("a", { href: `#/table/${id}` }, "Change")),
      h("div", { class: "run-grid" }, form, h("section", { "aria-label": "Runs of this table" }, h("h2", {}, "Runs of this table"), nothing, place)),
    ),
    h("div", { class: "bottom" }, h("div", { class: "wide bottom-inner" }, h("p", { class: "bottom-words" }, choices.target ? "You can go on working while it runs." : "First choose the column that holds the classes."), start)),
  );
}

function radios(name, options, chosen, changed) {
  return options.map(([value, text, help]) => {
    const input = h("input", { type: "radio", name, value });
    input.checked = value === chosen;
    input.addEventListener("change", () => changed(value));
    return h("label", { class: "choice" }, input, h("span", {}, h("b", {}, text), help ? h("span", { class: "help" }, help) : null));
  });
}

function runForm({ state, table, choices, started }) {
  const wanted = { method: MAIN, unlabelled: null, settings: {} };
  const knobs = h("div", { class: "knobs" });
  const methods = [...state.discoverers].sort((a, b) => (b.method === MAIN) - (a.method === MAIN));
  const choose = (method) => {
    wanted.method = method;
    wanted.settings = {};
    const one = methods.find((other) => other.method === method);
    knobs.replaceChildren(...one.knobs.map((knob) => knobField(knob, wanted.settings)));
    knobs.hidden = !one.knobs.length || method === MAIN;
    if (!knobs.hidden) pick[methods.indexOf(one)].after(knobs);
  };
  const options = methods.map((one) => [one.method, one.method === MAIN ? `${one.name} (recommended)` : one.name, one.summary]);
  const pick = radios("method", options, MAIN, choose);
  choose(MAIN);

  const number = h("input", { type: "number", min: 1, max: 1000, value: "", placeholder: "find out", inputmode: "numeric" });
  const minutes = h("input", { type: "number", min: 0.1, step: "any", value: "", placeholder: "no limit", inputmode: "decimal" });
  const title = h("input", { type: "text", maxlength: 200, value: "", placeholder: "made of the method" });
  const form = h(
    "form", { class: "run-form", id: freshId("form") },
    h("fieldset", {}, h("legend", {}, "Method"), pick[0], h("details", {}, h("summary", {}, "Other methods"), ...pick.slice(1))),
    h("fieldset", {}, h("legend", {}, "The unlabelled rows are"), h("div", { class: "choices" }, ...radios("unlabelled", UNLABELLED, "auto", (value) => { wanted.unlabelled = value; }))),
    h(
      "fieldset", { class: "pair" }, h("legend", { class: "visually-hidden" }, "Number and time"),
      field("Number of novel classes", number, "Leave it empty if you do not know."),
      field("Time limit in minutes", minutes, "For Auto: it keeps the best result so far."),
    ),
    h("details", {}, h("summary", {}, "Name of this run"), field("Name", title, "Helps to tell runs apart.")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(form.start, async () => {
      const options = {
        table: table.id,
        target: choices.target ?? "",
        ignore: (choices.unused ?? []).filter((name) => name !== choices.target),
        kinds: Object.fromEntries(Object.entries(choices.kinds).filter(([name]) => name !== choices.target && !choices.unused?.includes(name))),
        hide: choices.hide,
        method: wanted.method,
        settings: wanted.settings,
        n_novel_classes: number.value ? Number(number.value) : "auto",
      };
      options.unlabelled = wanted.unlabelled ?? (wanted.method === MAIN ? null : "auto");
      if (choices.marks) options.marks = choices.marks;
      if (minutes.value) options.time_limit = 60 * Number(minutes.value);
      if (title.value.trim()) options.title = title.value.trim();
      await api.start(options);
      say("The run has started.");
      await started();
    });
  });
  return form;
}

function knobField(knob, settings) {
  const id = freshId("knob");
  const control = knob.kind === "choice"
    ? h("select", { id }, ...knob.choices.map((one) => h("option", { value: one, selected: one === knob.default }, one)))
    : h("input", { id, type: "number", min: knob.low, max: knob.high, step: knob.kind === "whole" ? 1 : "any", value: knob.default ?? "" });
  control.addEventListener("change", () => {
    if (knob.kind === "choice") settings[knob.name] = control.value;
    else if (control.value === "") delete settings[knob.name];
    else settings[knob.name] = Number(control.value);
  });
  return field(KNOBS[knob.name] ?? sentence(knob.name.replaceAll("_", " ")), control, knob.help);
}
