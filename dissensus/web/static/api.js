/* Every request of both pages. A failure has a status (0: nobody answered) and one line for a person. */

export class Failure extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

const PATIENCE = 20000; // a server that hangs must not hold the page for ever
const LARGEST_KEPT_ALIVE = 60000; // browsers refuse larger bodies for requests that may outlive the page

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
  // A network's login page also says 200: only what reads as JSON came from our server.
  const content = await response.json().catch(() => null);
  if (response.ok && content) return content;
  throw new Failure(response.ok ? 0 : response.status, content?.reason ?? `the server answered ${response.status}`);
};

/* Shorter when the network comes back. The odds keep the pages of a team from coming all at once after a restart. */
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

/* Asks until somebody answers; a refusal (4xx) is an answer and is thrown. `waiting` hears of each failure. */
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
