// The service, asked with the key if there is one. The key lives here and nowhere else.

import { readEvents } from "/static/events.js";

export class ApiError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

let key = "";

export function useKey(given) {
  key = given;
}

export function hasKey() {
  return key !== "";
}

async function ask(path, { body, signal } = {}) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  if (body) headers["Content-Type"] = "application/json";
  const asked = { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal, credentials: "omit" };
  let answer;
  try {
    answer = await fetch(path, asked);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("unreachable", "The service does not answer.");
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => null);
  throw new ApiError(told?.error?.code ?? "failed", told?.error?.message ?? `The service answered ${answer.status}.`);
}

export async function askJson(path, options) {
  return (await ask(path, options)).json();
}

export async function askPicture(path, options) {
  return (await ask(path, options)).blob();
}

export async function* askStream(path, options) {
  yield* readEvents(await ask(path, options));
}
