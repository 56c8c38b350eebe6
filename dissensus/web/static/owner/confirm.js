/* Asks before changing anything about a person's answers; the reason can be edited. If `act(reason)` fails, its message is shown. */

import { one, role } from "../dom.js";

export const confirm = ({ title, words, yes, reason = null, act }) => {
  const dialog = role("confirm");
  role("confirm-title").textContent = title;
  role("confirm-words").textContent = words;
  role("confirm-yes").textContent = yes;
  role("confirm-error").textContent = "";
  role("reason-label").hidden = role("reason").disabled = reason === null;
  role("reason").value = reason ?? "";
  role("confirm-no").onclick = () => dialog.close();
  one("form", dialog).onsubmit = async (event) => {
    event.preventDefault();
    role("confirm-yes").disabled = true;
    try {
      await act(role("reason").value.trim());
      dialog.close();
    } catch (failure) {
      role("confirm-error").textContent = `That failed: ${failure.message}.`;
    } finally {
      role("confirm-yes").disabled = false;
    }
  };
  dialog.showModal();
};
