// Numbers, shares and times as text, in the same words as the report.

export const count = (n, one, many = `${one}s`) => {
  const text = n.toLocaleString("en-US");
  return one === undefined ? text : `${text} ${n === 1 ? one : many}`;
};

/** Never 0 or 100 for what is not quite that. */
export const percent = (share) => {
  const whole = Math.round(100 * share);
  const text = whole === 100 && share < 1 ? ">99" : whole === 0 && share > 0 ? "<1" : String(whole);
  return `${text}\u00a0%`;
};

export const duration = (seconds) => {
  if (seconds < 1) return "under a second";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
};

export const bytes = (n) => {
  for (const [size, unit] of [[2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "kB"]]) if (n >= size) return `${(n / size).toFixed(n / size < 10 ? 1 : 0)} ${unit}`;
  return `${n} bytes`;
};

export const when = (text) => {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  const today = time.toDateString() === new Date().toDateString();
  return time.toLocaleString("en-GB", today ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
};

export const number = (value) => {
  if (!Number.isFinite(value)) return "missing";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e7) ? value.toExponential(2) : Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
};

/** A sentence of its own from words that were part of another. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);
