(() => {
  const sieve = document.querySelector(".sieve");
  if (!sieve) return;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const cards = all(".failure");
  const value = (name) => sieve.elements[name]?.value ?? "";
  const order = (name) => (one, other) =>
    name === "severity"
      ? other.dataset.severity - one.dataset.severity
      : one.dataset[name].localeCompare(other.dataset[name], undefined, { numeric: true }) ||
        other.dataset.severity - one.dataset.severity;
  const sift = () => {
    for (const model of all(".failing")) {
      const list = model.querySelector(".cards");
      const mine = all(".failure", model).sort(order(value("order")));
      for (const card of mine) {
        const isOfClass = !value("class") || JSON.parse(card.dataset.classes).includes(value("class"));
        card.hidden = !isOfClass || card.dataset.severity < Number(value("least"));
      }
      list?.append(...mine);
      model.hidden = Boolean(value("model")) && model.dataset.model !== value("model");
    }
    const shown = cards.filter((card) => !card.hidden && !card.closest(".failing").hidden).length;
    sieve.querySelector("output").textContent = `${shown} of ${cards.length} failures`;
  };
  sieve.addEventListener("change", sift);
  sift();
})();
