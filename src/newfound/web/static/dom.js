// Elements from plain values: texts only ever become text nodes, and nothing is parsed.

const SVG = "http://www.w3.org/2000/svg";

const there = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

const fill = (made, attributes, children) => {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (key === "value") made.value = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...there(children));
  return made;
};

/** Make an element: h("p", { class: "note" }, "text", other). */
export const h = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** Put other children into an element; what is null is left out. */
export const put = (place, ...children) => place.replaceChildren(...there(children));

export const byId = (id) => document.getElementById(id);

/** Give an element a width in per cent; styles are set as properties, which the policy of the page allows. */
export const wide = (made, share) => {
  made.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return made;
};

let next = 0;
export const freshId = (prefix) => `${prefix}-${(next += 1)}`;

/** Say something to people who listen to the page. */
export function say(text) {
  const spoken = byId("spoken");
  spoken.textContent = "";
  requestAnimationFrame(() => { spoken.textContent = text; });
}

/** Show a short message for a while; one about an error stays until it is closed. */
export function notify(text, { kind = "info", action = null } = {}) {
  const close = h("button", { type: "button", class: "quiet icon-button", "aria-label": "Close" }, "\u00d7");
  const extra = action && h("button", { type: "button", class: "quiet", on: { click: () => { note.remove(); action.act(); } } }, action.text);
  const note = h("div", { class: `notice ${kind}`, role: kind === "error" ? "alert" : null }, h("p", {}, text), extra, close);
  close.addEventListener("click", () => note.remove());
  byId("notices").append(note);
  if (kind !== "error") {
    say(text);
    setTimeout(() => note.remove(), 7000);
  }
  return note;
}

export const field = (label, control, help) => {
  const id = control.id || freshId("field");
  control.id = id;
  const about = help ? h("p", { class: "help", id: `${id}-help` }, help) : null;
  if (about) control.setAttribute("aria-describedby", about.id);
  return h("div", { class: "field" }, h("label", { for: id }, label), control, about);
};

export const select = (options, chosen, attributes = {}) =>
  h("select", attributes, ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));

export const pill = (text, kind) => h("span", { class: `pill ${kind}` }, text);

/** What is shown where there is nothing yet. */
export const empty = (title, text, ...more) => h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), h("p", {}, text), ...more);

/** What is shown where something went wrong: what, and what to do about it. */
export function problem(error, retry) {
  const { message, cure } = error.problem ?? { message: error.message };
  return h(
    "div", { class: "doubt problem", role: "alert" },
    h("b", {}, message),
    cure && !message.includes(cure) ? h("p", {}, cure) : null,
    retry ? h("div", { class: "buttons" }, h("button", { type: "button", on: { click: retry } }, "Try again")) : null,
  );
}

/** Ask before something is lost. */
export function confirmed(title, text, yes) {
  return new Promise((resolve) => {
    const dialog = h(
      "dialog", { "aria-labelledby": "dialog-title" },
      h("h2", { id: "dialog-title" }, title),
      h("p", {}, text),
      h(
        "div", { class: "buttons" },
        h("button", { type: "button", class: "quiet", autofocus: true, on: { click: () => dialog.close("") } }, "Keep it"),
        h("button", { type: "button", class: "danger", on: { click: () => dialog.close("yes") } }, yes),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Do something while a button waits, and show what went wrong beside it. */
export async function busy(button, act) {
  if (button.getAttribute("aria-busy") === "true") return undefined;
  button.setAttribute("aria-busy", "true");
  try {
    return await act();
  } catch (error) {
    notify(error.problem?.message ?? error.message, { kind: "error" });
    return undefined;
  } finally {
    button.removeAttribute("aria-busy");
  }
}
