/* The name of the class under the pointer, read from the overlay's own pixels. */
(() => {
  const names = JSON.parse(document.getElementById("page-data").textContent).classes;
  const tip = Object.assign(document.createElement("div"), { className: "map-tip", hidden: true });
  tip.setAttribute("aria-hidden", "true"); // the names are part of every map's label
  const seen = new Map(); // an overlay's address → its pixels

  const addressOf = (over) => over.src ?? getComputedStyle(over).backgroundImage.slice(5, -2);

  const read = (address) => {
    if (!seen.has(address)) {
      seen.set(address, null);
      const image = new Image();
      image.src = address;
      image.decode().then(() => {
        const pen = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext("2d", { willReadFrequently: true });
        pen.drawImage(image, 0, 0);
        seen.set(address, pen.getImageData(0, 0, image.naturalWidth, image.naturalHeight));
      }, () => {});
    }
    return seen.get(address);
  };

  const nameAt = (over, x, y) => {
    const pixels = read(addressOf(over));
    if (!pixels) return "";
    const box = over.getBoundingClientRect();
    const scale = Math.min(box.width / pixels.width, box.height / pixels.height);
    const place = [(x - box.left - box.width / 2) / scale + pixels.width / 2, (y - box.top - box.height / 2) / scale + pixels.height / 2];
    const [column, row] = place.map(Math.floor);
    if (column < 0 || row < 0 || column >= pixels.width || row >= pixels.height) return "";
    const [r, g, b, alpha] = pixels.data.subarray(4 * (row * pixels.width + column));
    return alpha ? names[`${r},${g},${b}`] ?? "" : "background";
  };

  const show = ({ target, clientX, clientY }) => {
    const over = target.closest?.(".view, .frame")?.querySelector(".over");
    const name = over?.checkVisibility({ visibilityProperty: true }) ? nameAt(over, clientX, clientY) : "";
    tip.hidden = !name;
    if (!name) return;
    tip.textContent = name;
    (target.closest("dialog") ?? document.body).append(tip);
    tip.style.translate = `${Math.min(clientX + 14, innerWidth - tip.offsetWidth - 4)}px ${clientY + 14}px`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
})();
