// Runs while they go on: how far they are, what they lose, and what can be done with them.
import { api } from "./api.js";
import { busy, confirmed, h, notify, pill, problem, say, wide } from "./dom.js";
import { fragment } from "./fragment.js";
import { count, duration, percent, when } from "./words.js";

const STATUS = { queued: ["waiting", "plain"], running: ["running", "active"], done: ["done", "good"], failed: ["failed", "bad"], cancelled: ["cancelled", "plain"], interrupted: ["interrupted", "bad"] };
const POLL = 800; // milliseconds

export const isActive = (run) => run.status === "queued" || run.status === "running";
export const statusPill = (run) => pill(...(STATUS[run.status] ?? [run.status, "plain"]));

/** Ask for runs again and again, sooner while one is active, until the screen ends. */
export function watch(signal, load, tell) {
  let timer = null, lost = null;
  const turn = async () => {
    if (signal.aborted) return;
    let active = false;
    try {
      if (!document.hidden) {
        active = tell(await load());
        lost = lost?.remove() ?? null;
      }
    } catch (error) {
      active = true; // the server may be back soon
      if (!signal.aborted) lost ??= notify([error.message, error.problem?.cure].filter(Boolean).join(" "), { kind: "error" });
    }
    if (!signal.aborted) timer = setTimeout(turn, active || document.hidden ? POLL : 6 * POLL);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  turn();
  return () => {
    clearTimeout(timer);
    return turn();
  };
}

/** A card of one run, which `update` keeps true without being made anew: what is focused stays focused. */
export class RunCard {
  constructor(run, { changed, names }) {
    Object.assign(this, { changed, names });
    this.title = h("h3", {});
    this.state = h("span", {});
    this.about = h("p", { class: "muted run-about" });
    this.bar = h("div", { class: "bar-fill" });
    this.progress = h("div", { class: "bar-track", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 }, this.bar);
    this.phase = h("p", { class: "run-phase" });
    this.curves = h("div", { class: "run-curves" });
    this.losses = h("details", { hidden: true }, h("summary", {}, "Losses"), this.curves);
    this.losses.addEventListener("toggle", () => this.drawCurves());
    this.trouble = h("div", {});
    this.buttons = h("div", { class: "buttons" });
    this.node = h("article", { class: "run-card", "data-run": run.id }, h("header", {}, this.title, this.state), this.about, this.progress, this.phase, this.losses, this.trouble, this.buttons);
    this.update(run);
  }

  update(run) {
    const before = this.run;
    this.run = run;
    if (before && JSON.stringify(before) === JSON.stringify(run)) return;
    this.title.textContent = run.title;
    this.about.textContent = [this.names?.get(run.options.method) ?? run.options.method, `started ${when(run.created)}`, run.round > 1 ? `round ${run.round}` : null].filter(Boolean).join(", ");
    this.node.dataset.status = run.status;
    const active = isActive(run);
    this.progress.hidden = !active;
    wide(this.bar, run.share_done);
    this.progress.setAttribute("aria-valuenow", Math.round(100 * run.share_done));
    this.bar.classList.toggle("unsure", run.status === "running" && !run.share_done);
    this.phase.textContent = this.#words(run);
    this.phase.hidden = run.status === "failed"; // which its problem says
    this.losses.hidden = !active || !(run.losses?.length || before?.losses?.length);
    if (run.losses?.length !== before?.losses?.length) this.drawCurves();
    if (run.status === before?.status) return;
    this.state.replaceChildren(statusPill(run));
    this.trouble.replaceChildren(...(run.error ? [problem({ problem: run.error })] : []), ...(run.notes ?? []).map((note) => h("p", { class: "help" }, note)));
    this.#fillButtons(run);
    if (before) say(`${run.title}: ${STATUS[run.status][0]}`);
  }

  #words(run) {
    if (run.status === "queued") return "Waits for a free place.";
    if (run.status === "done" && run.kind === "update") return `Updated${run.seconds ? ` in ${duration(run.seconds)}` : ""}.`;
    if (run.status === "done") return `Found ${count(run.n_novel_classes ?? 0, "novel class", "novel classes")}${run.seconds ? ` in ${duration(run.seconds)}` : ""}.`;
    if (run.status === "interrupted") return "The workbench was closed while it ran.";
    if (run.status === "cancelled") return "You cancelled it.";
    if (run.status !== "running") return "";
    const time = [run.seconds ? duration(run.seconds) : null, run.seconds_left ? `about ${duration(run.seconds_left)} left` : null].filter(Boolean).join(", ");
    return [run.phase || "Begins", run.share_done ? percent(run.share_done) : null, time || null].filter(Boolean).join(" \u00b7 ");
  }

  #fillButtons(run) {
    const button = (text, kind, act) => {
      const made = h("button", { type: "button", class: kind }, text);
      made.addEventListener("click", () => busy(made, act));
      return made;
    };
    const made = [];
    if (run.status === "done") {
      if (run.n_novel_classes) made.push(h("a", { class: "button primary", href: `#/run/${run.id}/classes` }, "Name the classes"));
      made.push(h("a", { class: "button", href: `#/run/${run.id}/explore` }, "Explore the map"));
    }
    if (isActive(run)) made.push(button("Cancel", null, async () => { await api.cancel(run.id); this.changed(); }));
    if (["failed", "cancelled", "interrupted"].includes(run.status)) made.push(button("Start again", null, async () => { await api.again(run.id); this.changed(); }));
    if (!isActive(run)) {
      made.push(button("Delete", "quiet", async () => {
        if (!(await confirmed("Delete this run?", `${run.title}: its classes, names and labels are lost.`, "Delete"))) return;
        await api.removeRun(run.id);
        notify("The run is deleted.");
        this.changed();
      }));
    }
    this.buttons.replaceChildren(...made);
  }

  async drawCurves() {
    if (!this.losses.open || this.drawing) return;
    this.drawing = true;
    try {
      const { html } = await api.curves(this.run.id);
      this.curves.replaceChildren(...fragment(html));
    } catch {
      this.curves.replaceChildren(h("p", { class: "muted" }, "The losses cannot be drawn now."));
    }
    this.drawing = false;
  }
}

/** Cards of several runs, the newest first. */
export class RunList {
  constructor(place, changed, names) {
    Object.assign(this, { place, changed, names, cards: new Map() });
  }

  /** Show runs; returns whether one is active. */
  update(runs) {
    const ids = new Set(runs.map((run) => run.id));
    for (const [id, card] of this.cards) {
      if (ids.has(id)) continue;
      card.node.remove();
      this.cards.delete(id);
    }
    runs.forEach((run, i) => {
      const card = this.cards.get(run.id);
      if (card) card.update(run);
      else this.cards.set(run.id, new RunCard(run, this));
      const { node } = this.cards.get(run.id);
      if (this.place.children[i] !== node) this.place.insertBefore(node, this.place.children[i] ?? null);
    });
    return runs.some(isActive);
  }
}
