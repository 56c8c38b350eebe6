/* Who is here: the personal link's token is exchanged for a cookie and leaves the address bar. */

import { askPatiently } from "./api.js";

/* `mine` is the role this page is for; the other role is sent to its own page and this never returns. */
export const enter = async (mine, waiting) => {
  const token = location.hash.slice(1);
  if (!token) return;
  try {
    const { role } = await askPatiently("POST", "/api/enter", { token }, waiting);
    if (role !== mine) {
      location.replace(role === "owner" ? "/owner" : "/");
      await new Promise(() => {});
    }
  } finally {
    // Only now: a reload while the server is away still finds the token. Refused, it is of no use to anybody.
    history.replaceState(null, "", location.pathname);
  }
};

/* Another link opened in the same tab changes only the fragment, which loads nothing by itself. */
export const watchLinks = () => addEventListener("hashchange", () => { if (location.hash.length > 1) location.reload(); });
