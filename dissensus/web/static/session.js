/* Signing in: the token of the personal link is exchanged for a cookie and removed from the address bar. */

import { askPatiently } from "./api.js";

/* `mine` is the role this page is for; the other role is redirected to its own page and this never returns. */
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
    // Only now: a reload while the server is down still finds the token, and a refused token is useless.
    history.replaceState(null, "", location.pathname + location.search);
  }
};

/* Opening another link in the same tab changes only the fragment, which does not reload the page. */
export const watchLinks = () => addEventListener("hashchange", () => { if (location.hash.length > 1) location.reload(); });
