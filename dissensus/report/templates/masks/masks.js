(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  document.addEventListener("input", ({ target }) => {
    if (target.matches(".opacity input")) {
      document.documentElement.style.setProperty("--overlay", target.value / 100);
      for (const label of all(".opacity")) {
        label.querySelector("input").value = target.value;
        label.querySelector("output").textContent = `${target.value}\u202f%`;
      }
    }
    for (const kind of [".photo-only", ".with-names"]) {
      if (target.matches(kind)) for (const box of all(kind)) box.checked = target.checked;
    }
  });

  const button = document.querySelector(".open-all");
  if (!button) return;
  button.addEventListener("click", () => {
    const found = all(".gallery:not([hidden])");
    const opens = found.some((gallery) => !gallery.open);
    for (const gallery of found) gallery.open = opens;
    button.textContent = opens ? "Close all" : "Open all";
  });
})();
