// All requests to the server. Each that changes something carries a header that other sites cannot send.

export class ApiError extends Error {
  constructor(problem, status) {
    super(problem.message);
    this.problem = problem;
    this.status = status;
  }
}

const GONE = { message: "The workbench does not answer.", cure: "See whether newfound serve still runs, then try again." };

async function answered(response) {
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  const content = isJson ? await response.json() : null;
  if (response.ok) return content;
  throw new ApiError(content?.error ?? { message: `The server answers with error ${response.status}.` }, response.status);
}

async function request(method, path, body) {
  const headers = method === "GET" ? {} : { "X-Newfound": "1" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new ApiError(GONE, 0);
  }
  return answered(response);
}

const get = (path) => request("GET", path);
const post = (path, body) => request("POST", path, body);

/** Send a file; `tell` hears the share that is on its way. */
function upload(path, file, tell) {
  return new Promise((resolve, reject) => {
    const form = new FormData(), call = new XMLHttpRequest(); // fetch cannot say how far an upload is
    form.append("file", file, file.name);
    call.open("POST", path);
    call.setRequestHeader("X-Newfound", "1");
    call.responseType = "json";
    call.upload.addEventListener("progress", (event) => event.lengthComputable && tell?.(event.loaded / event.total));
    call.addEventListener("error", () => reject(new ApiError(GONE, 0)));
    call.addEventListener("load", () => {
      if (call.status < 300) resolve(call.response);
      else reject(new ApiError(call.response?.error ?? { message: `The server answers with error ${call.status}.` }, call.status));
    });
    call.send(form);
  });
}

let known = null;

export const api = {
  /** What the server offers; asked once. */
  state: () => (known ??= get("/api/state").catch((error) => { known = null; throw error; })),
  tables: () => get("/api/tables"),
  table: (id) => get(`/api/tables/${id}`),
  upload: (file, tell) => upload("/api/tables", file, tell),
  example: (name) => post("/api/tables/example", { name }),
  removeTable: (id) => request("DELETE", `/api/tables/${id}`),
  columns: (id, target, marks) => {
    const query = new URLSearchParams();
    if (target) query.set("target", target);
    for (const mark of marks ?? []) query.append("mark", mark);
    return get(`/api/tables/${id}/columns?${query}`);
  },
  runs: () => get("/api/runs"),
  run: (id) => get(`/api/runs/${id}`),
  start: (options) => post("/api/runs", options),
  cancel: (id) => post(`/api/runs/${id}/cancel`),
  again: (id) => post(`/api/runs/${id}/again`),
  retitle: (id, title) => request("PATCH", `/api/runs/${id}`, { title }),
  removeRun: (id) => request("DELETE", `/api/runs/${id}`),
  curves: (id) => get(`/api/runs/${id}/curves`),
  facts: (id) => get(`/api/runs/${id}/facts`),
  sections: (id) => get(`/api/runs/${id}/sections`),
  map: (id) => get(`/api/runs/${id}/map`),
  column: (id, index) => get(`/api/runs/${id}/columns/${index}`),
  rows: (id, rows) => post(`/api/runs/${id}/rows`, { rows }),
  classes: (id) => get(`/api/runs/${id}/classes`),
  curate: (id, action) => post(`/api/runs/${id}/curation`, action),
  suggestions: (id) => get(`/api/runs/${id}/suggestions`),
  labels: (id) => get(`/api/runs/${id}/labels`),
  label: (id, row, label) => post(`/api/runs/${id}/labels`, { labels: [{ row, label }] }),
  nextRound: (id, title) => post(`/api/runs/${id}/next`, title ? { title } : {}),
  update: (id, table, target) => post(`/api/runs/${id}/batches`, { table, target }),
  exported: (id, what) => `/api/runs/${id}/export/${what}`,
};
