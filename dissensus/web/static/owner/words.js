/* Numbers and times in readable form. */

export const number = (value) => value.toLocaleString("en");
export const share = (value) => (value === null ? "–" : `${Math.round(100 * value)}%`);
export const outOf = (part, of) => (of ? `${number(part)} of ${number(of)}` : "–");
export const seconds = (value) => (value === null ? "–" : value < 10 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`);

const STEPS = [[60, "minute"], [3600, "hour"], [86400, "day"]];

/* How long ago, by the server's clock, since this machine's may be wrong. */
export const ago = (time, now) => {
  if (!time) return "never";
  const past = Math.max(0, (Date.parse(now) - Date.parse(time)) / 1000);
  if (past < 90) return "just now";
  const [size, unit] = STEPS.findLast(([least]) => past >= least);
  const many = Math.round(past / size);
  return `${many} ${unit}${many === 1 ? "" : "s"} ago`;
};

export const clock = (time) => new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
export const day = (time) => new Date(time).toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short" });

/* The server's phrases may be part of a sentence elsewhere; here they stand alone. */
export const sentence = (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?…]$/.test(words) || !words ? "" : "."}`;
