(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  document.querySelector(".theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  const openDuel = (hash) => {
    const target = hash.startsWith("#duel-") && document.getElementById(hash.slice(1));
    if (!target) return;
    target.hidden = false;
    target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", () => openDuel(location.hash));
  openDuel(location.hash);

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#duel-"]');
    if (link) openDuel(link.hash);
    const button = event.target.closest(".filter");
    if (!button) return;
    const inside = button.closest(".inside");
    inside.dataset.show = button.value;
    for (const other of all(".filter", inside)) other.setAttribute("aria-pressed", other === button);
  });

  const finder = document.querySelector(".finder");
  if (!finder) return;
  const [one, two] = all("select", finder);
  const galleries = all(".gallery");
  const find = () => {
    let found = 0;
    for (const gallery of galleries) {
      const pair = gallery.dataset.pair.split(" ");
      gallery.hidden = ![one.value, two.value].every((place) => !place || pair.includes(place));
      found += !gallery.hidden;
    }
    finder.querySelector("output").textContent = `${found} of ${galleries.length} duels`;
  };
  finder.addEventListener("change", find);
})();
