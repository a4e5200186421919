// The map of a report: pointing, choosing classes, the keyboard, and the same rows as a table.
// Texts of the table's owner only ever become text nodes.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const { map: rows, classes, frame: [WIDTH, HEIGHT, EDGE] } = data;
  const n = rows.rows.length;
  const xs = rows.x.map((x) => EDGE + (x / 1e4) * (WIDTH - 2 * EDGE));
  const ys = rows.y.map((y) => EDGE + (1 - y / 1e4) * (HEIGHT - 2 * EDGE));
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const box = byId("map"), svg = box.querySelector("svg"), ring = box.querySelector(".ring");
  const tip = box.querySelector(".tip"), panel = byId("row"), status = byId("map-status");
  const help = [...panel.childNodes];
  const picks = all(".pick[data-class]"), everything = document.querySelector(".pick.all");
  const NEAR = 16; // pixels within which a mark counts as pointed at
  const chosen = new Set();
  let current = -1;

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
  const shown = (i) => chosen.size === 0 || chosen.has(rows.classes[i]);

  // ---- one row

  const describe = (i) =>
    `Row ${rows.rows[i]}, ${kind(i)} ${className(i)}, ${percent(rows.probabilities[i])}. ` +
    telling(i).map((column) => `${column.name} ${cell(column, i)}`).join(", ");

  const fillTip = (i) => {
    const list = element("dl");
    for (const column of telling(i)) list.append(element("dt", column.name), element("dd", cell(column, i)));
    tip.replaceChildren(element("b", `${className(i)}, ${percent(rows.probabilities[i])}`), element("span", `row ${rows.rows[i]}`), list);
    tip.hidden = false;
    const scale = svg.clientWidth / WIDTH;
    const x = xs[i] * scale, y = ys[i] * scale, gap = 14;
    const left = x + gap + tip.offsetWidth > svg.clientWidth ? x - gap - tip.offsetWidth : x + gap;
    const top = Math.min(y + gap, svg.clientHeight - tip.offsetHeight - 4);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
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
    current = i;
    ring.setAttribute("cx", xs[i]);
    ring.setAttribute("cy", ys[i]);
    ring.setAttribute("visibility", "visible");
    fillTip(i);
    fillPanel(i);
    if (speak) status.textContent = describe(i);
  };

  const deselect = () => {
    current = -1;
    ring.setAttribute("visibility", "hidden");
    tip.hidden = true;
    panel.replaceChildren(...help);
  };

  // ---- choosing classes

  const refresh = () => {
    for (const mark of svg.querySelectorAll("[data-class]")) {
      mark.classList.toggle("dim", chosen.size > 0 && !chosen.has(Number(mark.dataset.class)));
    }
    for (const pick of picks) pick.setAttribute("aria-pressed", String(chosen.has(Number(pick.dataset.class))));
    everything.setAttribute("aria-pressed", String(chosen.size === 0));
    if (current >= 0 && !shown(current)) deselect();
    placeNames();
    fillTable(0);
    const names = [...chosen].map((j) => classes[j].name).join(", ");
    const count = rows.classes.filter((_, i) => shown(i)).length;
    status.textContent = chosen.size ? `Shown: ${names}; ${count} rows on the map.` : `All classes shown; ${count} rows on the map.`;
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

  // ---- pointing

  const pointed = (event) => {
    const area = svg.getBoundingClientRect(), scale = WIDTH / area.width;
    const x = (event.clientX - area.left) * scale, y = (event.clientY - area.top) * scale;
    let best = -1, least = (NEAR * scale) ** 2;
    for (let i = 0; i < n; i += 1) {
      const distance = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
      if (distance <= least && shown(i)) [best, least] = [i, distance];
    }
    return best;
  };
  let latest = "mouse";
  box.addEventListener("pointerdown", (event) => { latest = event.pointerType; });
  box.addEventListener("pointermove", (event) => {
    const i = pointed(event);
    if (i >= 0 && i !== current) select(i);
    else if (i < 0) tip.hidden = true;
    else tip.hidden = false;
  });
  box.addEventListener("pointerleave", () => { tip.hidden = true; });
  box.addEventListener("click", (event) => {
    const i = pointed(event);
    if (i < 0) {
      if (chosen.size) showAll();
    } else if (latest === "touch" && i !== current) {
      select(i, { speak: true }); // a finger cannot hover: the first tap shows the row, the second chooses its class
    } else {
      only(rows.classes[i]);
      if (shown(i)) select(i);
    }
  });

  // ---- the keyboard

  const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

  const neighbour = (i, [dx, dy]) => {
    let best = -1, least = Infinity;
    for (let j = 0; j < n; j += 1) {
      const along = (xs[j] - xs[i]) * dx + (ys[j] - ys[i]) * dy;
      if (along <= 0.5 || !shown(j)) continue;
      const aside = Math.abs((xs[j] - xs[i]) * dy) + Math.abs((ys[j] - ys[i]) * dx);
      const cost = along + 2.5 * aside;
      if (cost < least) [best, least] = [j, cost];
    }
    return best;
  };
  const firstShown = () => {
    const novel = rows.classes.findIndex((j, i) => classes[j].novel && shown(i));
    return novel >= 0 ? novel : rows.classes.findIndex((_, i) => shown(i));
  };

  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STEPS) {
      const next = current < 0 ? firstShown() : neighbour(current, STEPS[event.key]);
      if (next >= 0) select(next, { speak: true });
    } else if ((event.key === "Enter" || event.key === " ") && current >= 0) {
      const kept = current;
      only(rows.classes[kept]);
      select(kept);
    } else if (event.key === "Escape") {
      deselect();
      showAll();
    } else {
      return;
    }
    event.preventDefault();
  });

  // ---- from a card to the map

  const placeOf = new Map(rows.rows.map((row, i) => [row, i]));
  for (const button of all(".on-map")) {
    const i = placeOf.get(Number(button.dataset.row));
    if (i === undefined) continue;
    button.title = "Show on the map";
    button.addEventListener("click", () => {
      if (!shown(i)) showAll();
      box.focus({ preventScroll: true });
      box.scrollIntoView({ block: "center" });
      select(i, { speak: true });
    });
  }

  // ---- names on the map: those of novel classes first, and none across another

  const placeNames = () => {
    const texts = [...svg.querySelectorAll(".map-name")];
    texts.sort((a, b) => b.classList.contains("novel") - a.classList.contains("novel"));
    const taken = [], area = svg.getBoundingClientRect();
    for (const text of texts) {
      text.classList.remove("hidden");
      text.removeAttribute("dy");
      if (text.classList.contains("dim")) continue;
      text.setAttribute("dx", 0);
      const now = text.getBoundingClientRect();
      const over = Math.max(0, area.left + 4 - now.left) - Math.max(0, now.right - area.right + 4);
      if (over) text.setAttribute("dx", (over * WIDTH) / area.width);
      const free = [0, -1.1, 1.1, -2.2, 2.2].some((shift) => {
        text.setAttribute("dy", `${shift}em`);
        const spot = text.getBoundingClientRect();
        const clear = taken.every((other) => spot.right < other.left || spot.left > other.right || spot.bottom < other.top || spot.top > other.bottom);
        if (clear) taken.push(spot);
        return clear;
      });
      text.classList.toggle("hidden", !free);
    }
  };

  // ---- the same rows as a table

  const PAGE = 25;
  const details = byId("map-rows"), place = byId("map-table");

  const fillTable = (page) => {
    if (!details.open) return;
    const found = rows.rows.map((_, i) => i).filter(shown);
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
  };
  details.addEventListener("toggle", () => fillTable(0));

  // ---- paper shows everything

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = all("details:not([open])").filter((one) => one !== details);
    for (const one of closed) one.open = true;
  });
  window.addEventListener("afterprint", () => { for (const one of closed) one.open = false; });

  placeNames();
  new ResizeObserver(placeNames).observe(svg);
})();
