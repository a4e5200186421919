// The workbench: which screen is shown, the steps above it, light and dark.
import { byId, h, problem } from "./dom.js";

const SCREENS = [
  [/^#\/$/, "./screens/home.js", "table"],
  [/^#\/table\/([0-9a-f]+)$/, "./screens/columns.js", "columns"],
  [/^#\/table\/([0-9a-f]+)\/run$/, "./screens/run.js", "run"],
  [/^#\/run\/([0-9a-f]+)\/explore$/, "./screens/explore.js", "explore"],
  [/^#\/run\/([0-9a-f]+)\/classes$/, "./screens/classes.js", "classes"],
  [/^#\/run\/([0-9a-f]+)\/batches$/, "./screens/batches.js", "batches"],
  [/^#\/run\/([0-9a-f]+)\/export$/, "./screens/export.js", "export"],
];
const STEPS = [
  ["table", "Table", () => "#/"],
  ["columns", "Columns", ({ table }) => table && `#/table/${table}`],
  ["run", "Run", ({ table }) => table && `#/table/${table}/run`],
  ["explore", "Explore", ({ run }) => run && `#/run/${run}/explore`],
  ["classes", "Classes", ({ run }) => run && `#/run/${run}/classes`],
  ["batches", "Come back", ({ run }) => run && `#/run/${run}/batches`],
  ["export", "Export", ({ run }) => run && `#/run/${run}/export`],
];

let shown = null; // ends the screen that is shown

function showSteps(current, context) {
  const items = STEPS.map(([name, text, link], i) => {
    const to = link(context), number = h("span", { class: "step-number", "aria-hidden": "true" }, String(i + 1));
    const words = h("span", { class: "step-name" }, text);
    const here = name === current ? "step" : null;
    return h("li", {}, to ? h("a", { href: to, "aria-current": here }, number, words) : h("span", { class: "step-off", "aria-disabled": "true", "aria-current": here }, number, words));
  });
  byId("steps").replaceChildren(h("ol", {}, ...items));
  byId("steps").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

async function route() {
  const hash = location.hash || "#/";
  if (hash === "#main") return byId("main").focus();
  const found = SCREENS.find(([pattern]) => pattern.test(hash));
  if (!found) return location.replace("#/");
  shown?.abort();
  shown = new AbortController();
  const { signal } = shown, [pattern, module, name] = found, id = pattern.exec(hash)[1];
  const main = byId("main");
  main.setAttribute("aria-busy", "true");
  const view = h("div", { class: `screen screen-${name}` });
  const context = name === "columns" || name === "run" ? { table: id } : { run: id };
  try {
    const { show } = await import(module);
    // A screen says what it belongs to once it knows: a run of its table, a table its last run.
    const belongs = (more) => !signal.aborted && showSteps(name, Object.assign(context, more));
    const place = () => !signal.aborted && main.replaceChildren(view); // for what has to know its size
    await show(view, { id, signal, belongs, place });
  } catch (error) {
    const gone = error.status === 404; // so are its other steps
    view.replaceChildren(h("div", { class: "wide" }, h("h1", {}, gone ? "This is no longer here" : "This cannot be shown"), problem(error, gone ? null : route), h("p", {}, h("a", { href: "#/" }, "Back to the start"))));
    if (gone) Object.assign(context, { table: null, run: null });
  }
  if (signal.aborted) return undefined;
  showSteps(name, context);
  if (view.parentNode !== main) main.replaceChildren(view);
  main.removeAttribute("aria-busy");
  const title = view.querySelector("h1");
  document.title = title ? `${title.textContent} \u00b7 newfound` : "newfound";
  if (hash !== route.last) {
    byId("notices").querySelectorAll(".error").forEach((notice) => notice.remove()); // they are about the screen before
    window.scrollTo(0, 0);
    title?.setAttribute("tabindex", "-1");
    if (route.last !== undefined) title?.focus({ preventScroll: true });
  }
  route.last = hash;
  return undefined;
}

// ---- light and dark

const THEMES = { auto: ["\u25d0", "as the system has it"], light: ["\u2600", "light"], dark: ["\u263e", "dark"] };

function setTheme(theme) {
  const [sign, words] = THEMES[theme];
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  localStorage.setItem("newfound-theme", theme);
  byId("theme").textContent = sign;
  byId("theme").title = `Colours: ${words}`;
  byId("theme").setAttribute("aria-label", `Colours: ${words}. Change`);
  window.dispatchEvent(new Event("newfound-theme"));
}
byId("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES), now = document.documentElement.dataset.theme ?? "auto";
  setTheme(names[(names.indexOf(now) + 1) % names.length]);
});
setTheme(localStorage.getItem("newfound-theme") in THEMES ? localStorage.getItem("newfound-theme") : "auto");

window.addEventListener("hashchange", route);
// A file that misses its place must not replace the page.
for (const event of ["dragover", "drop"]) window.addEventListener(event, (one) => one.preventDefault());
route();
