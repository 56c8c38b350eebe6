/* All requests of both pages. A failure has a status (0: no reply) and a one-line message. */

export class Failure extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

const PATIENCE = 20000; // milliseconds: a hanging server must not block the page forever
const LARGEST_KEPT_ALIVE = 60000; // browsers reject larger bodies for requests that may outlive the page

const requestOf = (method, body, cache) => {
  const request = { method, cache, credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE) };
  if (body === undefined) return request;
  const text = JSON.stringify(body);
  return { ...request, body: text, headers: { "Content-Type": "application/json" }, keepalive: text.length < LARGEST_KEPT_ALIVE };
};

export const ask = async (method, path, body, cache = "no-store") => {
  let response;
  try {
    response = await fetch(path, requestOf(method, body, cache));
  } catch {
    throw new Failure(0, "the server cannot be reached");
  }
  if (response.status === 204) return null;
  // A network's login page also returns 200: only JSON comes from our server.
  const content = await response.json().catch(() => null);
  if (response.ok && content) return content;
  throw new Failure(response.ok ? 0 : response.status, content?.reason ?? `the server answered ${response.status}`);
};

/* Ends early when the network comes back. Random, so that a team's pages do not all return at once after a restart. */
export const pause = (milliseconds) =>
  new Promise((done) => {
    const timer = setTimeout(end, milliseconds * (0.75 + Math.random() / 2));
    addEventListener("online", end, { once: true });
    function end() {
      clearTimeout(timer);
      removeEventListener("online", end);
      done();
    }
  });

/* Retries until the server replies; a refusal (4xx) is a reply and is thrown. `waiting` is called with each failure. */
export const askPatiently = async (method, path, body, waiting = () => {}, cache = "no-store") => {
  for (let delay = 1000; ; delay = Math.min(2 * delay, 30000)) {
    try {
      return await ask(method, path, body, cache);
    } catch (failure) {
      if (failure.status >= 400 && failure.status < 500 && failure.status !== 429) throw failure;
      waiting(failure);
      await pause(delay);
    }
  }
};
