(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  document.querySelector(".theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // paper cannot be opened: galleries that the reader has not filtered out are printed, and closed again afterwards
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all(":is(.gallery, .failing):not([open], [hidden])");
    for (const gallery of opened) gallery.open = true;
  });
  addEventListener("afterprint", () => {
    for (const gallery of opened) gallery.open = false;
  });

  const openDuel = (hash) => {
    const target = /^#(duel|figure)-/.test(hash) && document.getElementById(hash.slice(1));
    if (!target) return;
    const fold = target.closest("details");
    if (fold) {
      fold.hidden = false;
      fold.open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", () => openDuel(location.hash));
  openDuel(location.hash);

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#duel-"], a[href^="#figure-"]');
    if (link) openDuel(link.getAttribute("href"));
    const button = event.target.closest(".filter");
    if (!button) return;
    const inside = button.closest(".inside");
    inside.dataset.show = button.value;
    for (const other of all(".filter", inside)) other.setAttribute("aria-pressed", other === button);
  });

  const finder = document.querySelector(".finder");
  if (!finder) return;
  const ofDuels = all("select:not([data-card])", finder);
  const ofCards = all("select[data-card]", finder);
  const galleries = all(".gallery");
  const fits = (gallery, { value, dataset }) => {
    const pair = gallery.dataset.pair.split(" ");
    return !value || (dataset.by ? pair[dataset.by] === value : pair.includes(value));
  };
  const find = () => {
    let found = 0;
    const asked = ofCards.filter(({ value }) => value).map(({ value, dataset }) => `[data-${dataset.card}="${value}"]`);
    for (const gallery of galleries) {
      let left = asked.length === 0;
      for (const card of ofCards.length ? all("[data-case]", gallery) : []) {
        card.hidden = asked.length > 0 && !card.matches(asked.join(""));
        left ||= !card.hidden;
      }
      gallery.hidden = !left || !ofDuels.every((select) => fits(gallery, select));
      found += !gallery.hidden;
    }
    finder.querySelector("output").textContent = `${found} of ${galleries.length} duels`;
  };
  finder.addEventListener("change", find);
})();
