// The novel classes: what they are, what they are called, which belong together, and which rows to label next.
import { api } from "../api.js";
import { busy, empty, field, freshId, h, notify, problem, say } from "../dom.js";
import { fragment } from "../fragment.js";
import { finishedRun, runHead } from "../results.js";
import { count, listed, percent, sentence } from "../words.js";

const POLL = 900; // milliseconds

export async function show(view, { id, signal, belongs }) {
  const found = await finishedRun(id, belongs);
  if (!found) return;
  const [first, sections] = await Promise.all([api.classes(id), api.sections(id)]);
  const page = new ClassesPage({ id, signal, run: found.run });
  view.replaceChildren(h(
    "div", { class: "wide" },
    runHead(found, "The novel classes", "classes"),
    h("p", { class: "lead" }, "See how each class can be recognised, and name it. Merge what belongs together, split what does not. What you accept is known in the next round."),
    page.bar, page.merges, page.blocks,
    sections.meanings ? h("details", {}, h("summary", {}, "What agreement, stability and sure rows mean"), h("p", {}, sections.meanings)) : null,
    page.labels, page.round,
  ));
  page.sections = sections;
  page.update(first);
  page.suggest();
}

class ClassesPage {
  constructor({ id, signal, run }) {
    Object.assign(this, { id, signal, run, cards: new Map(), turn: Promise.resolve() });
    this.undo = h("button", { type: "button", class: "small", on: { click: () => this.act({ action: "undo" }) } });
    this.redo = h("button", { type: "button", class: "small", on: { click: () => this.act({ action: "redo" }) } });
    this.state = h("span", { class: "muted grow", role: "status" });
    this.bar = h("div", { class: "class-bar" }, this.undo, this.redo, this.state, h("a", { class: "button small", href: `#/run/${id}/explore` }, "See them on the map"), h("a", { class: "button small", href: `#/run/${id}/export` }, "Export"));
    this.merges = h("section", { "aria-label": "Classes that may be one" });
    this.blocks = h("section", { "aria-label": "Novel classes" });
    this.labels = h("section", { "aria-label": "Rows worth a label" });
    this.round = h("section", { class: "panel round-panel", "aria-label": "Next round" });
  }

  /** Do something with the classes, one step after the other. */
  act(action, words) {
    this.turn = this.turn.then(async () => {
      if (this.signal.aborted) return;
      this.state.textContent = "Working\u2026";
      try {
        const before = this.now.classes.map((one) => one.name);
        const answer = await api.curate(this.id, action);
        if (this.signal.aborted) return;
        if (action.action === "rename") {
          for (const [old, fresh] of Object.entries(action.names)) {
            this.cards.set(fresh, this.cards.get(old));
            this.cards.delete(old);
          }
        }
        this.update(answer);
        for (const note of answer.notes ?? []) notify(note);
        const gone = before.filter((name) => !answer.classes.some((one) => one.name === name));
        say(words ?? (gone.length ? `${listed(gone)}: changed` : "Done"));
        if (action.action !== "accept") this.suggest();
      } catch (error) {
        this.state.textContent = "";
        this.update(this.now);
        notify(error.problem?.message ?? error.message, { kind: "error" });
      }
    });
    return this.turn;
  }

  update(now) {
    this.now = now;
    for (const [button, name, text] of [[this.undo, "Undo", now.undo], [this.redo, "Redo", now.redo]]) {
      button.textContent = text ? `${name}: ${text}` : name;
      button.disabled = !text;
    }
    const stale = now.facts_revision !== now.revision;
    this.state.textContent = stale ? "The cards are being written again\u2026" : "";
    if (!stale && this.sections.revision !== undefined && this.sections.revision !== now.revision) this.reload();
    else {
      this.drawBlocks(stale);
      if (stale) this.wait();
    }
    this.drawRound();
  }

  /** Ask until the cards are those of the present classes. */
  wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      if (this.signal.aborted) return;
      try {
        const now = await api.classes(this.id);
        if (now.revision === this.now.revision && now.facts_revision === now.revision) {
          this.now = now;
          await this.reload();
        } else this.wait();
      } catch {
        this.wait();
      }
    }, POLL);
  }

  async reload() {
    this.sections = await api.sections(this.id);
    if (this.signal.aborted) return;
    this.cards.clear();
    this.state.textContent = "";
    this.drawBlocks(false);
  }

  get novel() { return this.now.classes.filter((one) => one.is_novel); }

  // ---- the cards

  drawBlocks(stale) {
    if (!stale || !this.cards.size) for (const card of this.sections.cards) if (!this.cards.has(card.name)) this.cards.set(card.name, cardNode(card.html));
    const active = document.activeElement, focused = active?.closest?.(".class-block")?.dataset.place, control = active?.dataset?.control;
    const blocks = this.novel.map((one, i) => this.block(one, i));
    this.blocks.classList.toggle("stale", stale && blocks.some((block) => block.querySelector(".waiting"))); // other names change no card
    this.blocks.replaceChildren(...(blocks.length ? blocks : [empty("No novel class", "Every unlabelled row was given a known class. Run again with another method, or say how many novel classes there are.", h("p", {}, h("a", { href: `#/table/${this.run.table}/run` }, "Run again")))]));
    if (focused !== undefined && control) this.blocks.querySelector(`[data-place="${focused}"] [data-control="${control}"]`)?.focus();
  }

  block(one, place) {
    const id = freshId("name");
    const name = h("input", { type: "text", id, value: one.name, maxlength: 200, autocomplete: "off", spellcheck: "false", "data-control": "name" });
    name.addEventListener("change", () => {
      const text = name.value.trim();
      if (!text || text === one.name) name.value = one.name;
      else this.act({ action: "rename", names: { [one.name]: text } }, `${one.name} is now called ${text}`);
    });
    name.addEventListener("keydown", (event) => {
      if (event.key === "Enter") name.blur();
      if (event.key === "Escape") name.value = one.name;
    });
    const accept = h("button", { type: "button", class: "small toggle", "aria-pressed": String(one.accepted), "data-control": "accept", title: "An accepted class counts as a known one in the next round" }, one.accepted ? "\u2713 Accepted" : "Accept");
    accept.addEventListener("click", () => this.act({ action: "accept", name: one.name, accepted: !one.accepted }, one.accepted ? `${one.name} is no longer accepted` : `${one.name} is accepted`));
    const others = this.now.classes.filter((other) => other.name !== one.name);
    const merge = h("button", { type: "button", class: "small", "data-control": "merge", disabled: !others.length, on: { click: () => this.askMerge(one, others) } }, "Merge\u2026");
    const split = h("button", { type: "button", class: "small", "data-control": "split", disabled: one.n_rows < 2, on: { click: () => this.askSplit(one) } }, "Split\u2026");
    const card = this.cards.get(one.name) ?? waitingCard(one);
    const title = card.querySelector("h3");
    title.lastChild.textContent = ` ${one.name}`;
    title.classList.add("visually-hidden");
    card.querySelectorAll(".name-row, .class-tools").forEach((old) => old.remove());
    const mark = title.querySelector(".swatch")?.cloneNode(true) ?? null;
    title.after(h("div", { class: "name-row" }, mark ?? "", h("label", { for: id, class: "visually-hidden" }, "Name of the class"), name, h("span", { class: "help pencil", "aria-hidden": "true" }, "\u270e rename")));
    card.querySelector(".card-head").after(h("div", { class: "class-tools" }, accept, merge, split));
    for (const button of card.querySelectorAll(".on-map")) {
      button.title = "Show on the map";
      button.onclick = () => {
        sessionStorage.setItem("newfound-row", button.dataset.row);
        location.hash = `#/run/${this.id}/explore`;
      };
    }
    return h("div", { class: "class-block", "data-place": place, "data-class": one.name }, card);
  }

  askMerge(one, others) {
    const into = h("input", { type: "text", value: one.name, maxlength: 200 });
    const boxes = [...others].sort((a, b) => b.is_novel - a.is_novel).map((other) => {
      const box = h("input", { type: "checkbox", value: other.name, "data-known": !other.is_novel, on: { change: () => named() } });
      return h("label", { class: "choice" }, box, h("span", {}, h("b", {}, other.name), h("span", { class: "help" }, `${count(other.n_rows, "row")}${other.is_novel ? "" : ", known class"}`)));
    });
    const checked = () => boxes.map((box) => box.querySelector("input")).filter((box) => box.checked);
    const named = () => { // a known class keeps its name
      const known = checked().find((box) => box.hasAttribute("data-known"));
      into.value = known?.value ?? one.name;
      into.disabled = Boolean(known);
    };
    dialog(`Merge ${one.name} with`, "Merge", [h("div", { class: "choices scroll-choices" }, ...boxes), field("Name of the merged class", into, "A known class keeps its name.")], () => {
      const chosen = checked().map((box) => box.value);
      if (!chosen.length) return "Choose at least one class.";
      this.act({ action: "merge", classes: [one.name, ...chosen], into: into.disabled ? null : into.value.trim() || null }, `Merged ${listed([one.name, ...chosen])}`);
      return null;
    });
  }

  askSplit(one) {
    const parts = h("input", { type: "number", min: 2, max: 50, value: 2 });
    dialog(`Split ${one.name}`, "Split", [field("Number of parts", parts, "Its rows are parted where they differ most.")], () => {
      if (!(Number(parts.value) >= 2)) return "At least two parts are needed.";
      this.act({ action: "split", name: one.name, parts: Number(parts.value) }, `Split ${one.name}`);
      return null;
    });
  }

  // ---- what could be done

  async suggest() {
    const asked = (this.asked = (this.asked ?? 0) + 1);
    try {
      const [advice, given, facts] = await Promise.all([api.suggestions(this.id), api.labels(this.id), api.facts(this.id)]);
      if (this.signal.aborted || asked !== this.asked) return;
      this.given = new Map(given.labels.map((one) => [one.row, one.label]));
      this.drawMerges(advice.merges);
      await this.drawLabels(advice.rows, facts);
      this.drawRound();
    } catch (error) {
      if (!this.signal.aborted && asked === this.asked) this.labels.replaceChildren(h("h2", {}, "Rows worth a label"), problem(error, () => this.suggest()));
    }
  }

  drawMerges(merges) {
    const likely = merges.filter((one) => one.likely).slice(0, 5);
    if (!likely.length) {
      this.merges.replaceChildren();
      return;
    }
    const line = (one) => {
      const button = h("button", { type: "button", class: "small" }, "Merge them");
      button.addEventListener("click", () => busy(button, () => this.act({ action: "merge", classes: [one.first, one.second], into: one.first })));
      const why = one.overlap >= 0.5 ? `their rows could be of either (overlap ${percent(one.overlap)})` : "they lie closer together than known classes do";
      return h("li", {}, h("p", {}, h("b", {}, one.first), " and ", h("b", {}, one.second), ` may be one class: ${why}.`), button);
    };
    this.merges.replaceChildren(h("h2", {}, "May be one class"), h("ul", { class: "advice" }, ...likely.map(line)));
  }

  async drawLabels(rows, facts) {
    const title = h("h2", {}, "Rows worth a label");
    if (!rows.length) {
      this.labels.replaceChildren(title, empty("No row left to ask about", "All rows have a label."));
      return;
    }
    const { columns, rows: cells } = await api.rows(this.id, rows.map((one) => one.row));
    if (this.signal.aborted) return;
    const telling = new Map(facts.explanation.classes.map((one) => [String(one.name), [...one.rules.flatMap((rule) => rule.conditions.map((condition) => condition.column)), ...one.profile.map((shift) => shift.column)]]));
    const list = h("datalist", { id: "class-names" }, ...this.now.classes.map((one) => h("option", { value: one.name })));
    this.labels.replaceChildren(
      title,
      h("p", {}, "If you know what a row is, say so: the next round learns from it. These rows stand for many others, or the model is unsure of them."),
      list,
      h("div", { class: "label-rows" }, ...rows.map((one, i) => this.labelCard(one, cells[i], columns, telling))),
    );
  }

  labelCard(one, row, columns, telling) {
    const first = [...new Set([...(telling.get(one.class_name) ?? []), ...(telling.get(one.second ?? "") ?? []), ...columns])].filter((name) => columns.includes(name)).slice(0, 6);
    const lines = first.flatMap((name) => { const text = row.cells[columns.indexOf(name)] ?? "missing"; return [h("dt", { title: name }, name), h("dd", { title: text }, text)]; });
    const card = h("article", { class: "label-card", "data-row": one.row }), said = h("p", { class: "help", role: "status" });
    const other = h("input", { type: "text", list: "class-names", placeholder: "another class", "aria-label": `Another class for row ${one.row}`, maxlength: 200 });
    const give = async (label) => {
      try {
        const answer = await api.label(this.id, one.row, label);
        this.given = new Map(answer.labels.map((each) => [each.row, each.label]));
        mark();
        this.drawRound();
      } catch (error) {
        notify(error.message, { kind: "error" });
      }
    };
    const quick = [one.class_name, one.second].filter(Boolean).map((name) => h("button", { type: "button", class: "small toggle", "aria-pressed": "false", "data-label": name, on: { click: () => give(this.given.get(one.row) === name ? null : name) } }, name));
    other.addEventListener("change", () => other.value.trim() && give(other.value.trim()));
    const mark = () => {
      const label = this.given.get(one.row);
      card.classList.toggle("given", label !== undefined && label !== null);
      for (const button of quick) button.setAttribute("aria-pressed", String(button.dataset.label === label));
      said.textContent = label ? `Labelled ${label}.` : "";
    };
    card.append(h("h3", {}, `Row ${one.row}`), h("p", { class: "help" }, `${sentence(one.reason)}. Now ${one.class_name || "no class"}, ${percent(one.probability)}.`), h("dl", {}, ...lines), h("div", { class: "buttons" }, ...quick, other), said);
    mark();
    return card;
  }

  drawRound() {
    const n = this.given?.size ?? 0, accepted = this.now.classes.filter((one) => one.accepted && one.is_novel).length;
    const start = h("button", { type: "button", class: "primary", disabled: !n && !accepted }, "Start the next round");
    start.addEventListener("click", () => busy(start, async () => {
      await api.nextRound(this.id);
      location.hash = `#/table/${this.run.table}/run`;
    }));
    const words = n || accepted ? `${count(n, "label")} given and ${count(accepted, "class", "classes")} accepted: the next round takes them as known, and searches what is left.` : "Accept classes or label rows; the next round then takes them as known, and searches what is left.";
    this.round.replaceChildren(h("p", {}, words), start);
  }
}

const waitingCard = (one) => h("article", { class: "card waiting" }, h("header", { class: "card-head" }, h("div", {}, h("h3", {}, one.name), h("p", { class: "size" }, `${count(one.n_rows, "row")}. Its card is being written\u2026`))));

const cardNode = (html) => {
  const [card] = fragment(html);
  card.removeAttribute("id");
  return card;
};

/** A small form above the page; `done` returns what is wrong, or null. */
function dialog(title, yes, content, done) {
  const wrong = h("p", { class: "doubt", role: "alert", hidden: true }), id = freshId("dialog");
  const form = h("form", { method: "dialog" }, h("h2", { id }, title), ...content, wrong, h("div", { class: "buttons" }, h("button", { type: "button", class: "quiet", on: { click: () => node.close() } }, "Cancel"), h("button", { type: "submit", class: "primary" }, yes)));
  const node = h("dialog", { "aria-labelledby": id }, form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    wrong.textContent = done() ?? "";
    wrong.hidden = !wrong.textContent;
    if (wrong.hidden) node.close();
  });
  node.addEventListener("close", () => node.remove());
  document.body.append(node);
  node.showModal();
}
