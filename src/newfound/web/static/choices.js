// What somebody chose for a table, kept while the browser is open: it survives a reload and a look at another screen.
import { api } from "./api.js";

const key = (table) => `newfound-table-${table}`;
const NOTHING = { target: null, unused: null, kinds: {}, hide: [], marks: null };

function kept(table) {
  try {
    return JSON.parse(sessionStorage.getItem(key(table)) ?? "null");
  } catch {
    return null;
  }
}

/** Choices for a table: those made before, else those of its latest run, else what the server suggests. */
export async function choicesOf(table, runs) {
  const before = kept(table);
  if (before?.target) return { ...NOTHING, ...before };
  const run = runs.find((one) => one.table === table && one.kind === "discovery");
  if (run) {
    const { target, ignore, kinds, hide, marks } = run.options;
    return { target, unused: ignore, kinds, hide, marks };
  }
  const { suggested_target: target, suggested_ignored: ignored } = await api.columns(table);
  return { ...NOTHING, kinds: {}, hide: [], target: target?.name ?? null, unused: ignored.map((one) => one.name) };
}

export const keepChoices = (table, choices) => sessionStorage.setItem(key(table), JSON.stringify(choices));
