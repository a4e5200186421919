// A place to drop a file, or to choose one.
import { h, problem, say, wide } from "./dom.js";
import { api } from "./api.js";
import { bytes, count, percent } from "./words.js";

const FAMILIES = [[/csv|tsv|txt|data/, "CSV"], [/xlsx/, "Excel"], [/parquet/, "Parquet"], [/feather|arrow/, "Feather"], [/json/, "JSON lines"]];
const families = (formats) => FAMILIES.filter(([pattern]) => formats.some((ending) => pattern.test(ending))).map(([, name]) => name);

/** Make it; `done` gets the table that the server made of the file. */
export function dropzone({ title, formats, limits, done }) {
  const input = h("input", { type: "file", class: "visually-hidden", accept: formats.join(","), "aria-label": title });
  const bar = wide(h("div", { class: "bar-fill" }), 0);
  const words = h("p", { class: "drop-words" }), trouble = h("div", {});
  const idle = h(
    "div", { class: "drop-idle" },
    h("p", { class: "drop-title" }, title),
    h("p", {}, h("span", { class: "button" }, "Choose a file"), " or drop it here"),
    h("p", { class: "help" }, `${families(formats).join(", ")}; up to ${bytes(limits.upload_bytes)} and ${count(limits.rows, "row")}. It stays on this machine.`),
  );
  const active = h("div", { class: "drop-active", hidden: true }, words, h("div", { class: "bar-track" }, bar));
  const zone = h("label", { class: "drop" }, input, idle, active);

  const take = async (file) => {
    if (!file || !active.hidden) return;
    trouble.replaceChildren();
    if (file.size > limits.upload_bytes) {
      trouble.replaceChildren(problem({ problem: { message: `${file.name} has ${bytes(file.size)}; at most ${bytes(limits.upload_bytes)} are accepted.`, cure: "Take a sample of its rows." } }));
      return;
    }
    [idle.hidden, active.hidden] = [true, false];
    words.textContent = `Sending ${file.name}`;
    say(`Sending ${file.name}`);
    try {
      const table = await api.upload(file, (share) => {
        wide(bar, share);
        words.textContent = share < 1 ? `Sending ${file.name}, ${percent(share)}` : `Reading ${file.name}`;
      });
      await done(table);
    } catch (error) {
      trouble.replaceChildren(problem(error));
    }
    [idle.hidden, active.hidden] = [false, true];
    input.value = "";
  };

  input.addEventListener("change", () => take(input.files[0]));
  for (const event of ["dragenter", "dragover"]) zone.addEventListener(event, () => zone.classList.add("over"));
  for (const event of ["dragleave", "drop"]) zone.addEventListener(event, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  return h("div", {}, zone, trouble);
}
