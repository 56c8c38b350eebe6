/* Creates a new personal link, which only this page ever sees. */

import { ask } from "../api.js";
import { role } from "../dom.js";

/* navigator.clipboard does not exist on plain http; the old way of copying works there. */
const copy = async (field) => {
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
};

export const wireInvitation = (changed) => {
  const form = role("add");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = form.elements.name.value.trim();
    if (!name) return;
    role("add-error").textContent = "";
    role("made").hidden = true;
    try {
      const { link } = await ask("POST", "/api/owner/annotators", { name, is_trusted: form.elements.trusted.checked });
      role("link").value = link;
      role("made-words").textContent = `Link for ${name}:`;
      role("copy").textContent = "Copy";
      role("made").hidden = false;
      form.elements.name.value = "";
      form.elements.trusted.checked = false;
      role("copy").focus();
      changed();
    } catch (failure) {
      role("add-error").textContent = `No link was created: ${failure.message}.`;
    }
  });
  role("copy").onclick = async () => { role("copy").textContent = (await copy(role("link"))) ? "Copied" : "Press Ctrl+C"; };
};
