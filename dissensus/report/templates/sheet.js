(() => {
  const store = JSON.parse(document.getElementById("store").textContent);
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const keys = { y: "yes", n: "no", u: "unsure", x: "unfit" };
  const words = { yes: "yes", no: "no", unsure: "hard to tell", unfit: "unsuitable" };
  let annotator = "";
  let given = []; // [question, answer, time], in the order of answering
  let kept = true;

  /* Answers are stored per annotator, so that two people can share one browser. */
  const place = () => `${store.key}:${annotator}`;
  const read = (key) => { try { return localStorage.getItem(key); } catch { kept = false; return null; } };
  const write = (key, value) => { try { localStorage.setItem(key, value); kept = true; } catch { kept = false; } };

  const open = () => {
    const answered = new Set(given.map(([question]) => question));
    return store.questions.findIndex((_, question) => !answered.has(question));
  };

  const begin = (name) => {
    annotator = name;
    document.activeElement?.blur(); // otherwise the hidden field would swallow the first keystroke
    try { given = JSON.parse(read(place()) || "[]"); } catch { given = []; }
    write(`${store.key}-annotator`, annotator);
    draw();
  };

  const draw = () => {
    const question = annotator ? open() : -1;
    const total = store.questions.length;
    one(".start").hidden = Boolean(annotator);
    one(".ask").hidden = question < 0;
    one(".done").hidden = !annotator || question >= 0;
    one(".who").hidden = !annotator;
    one(".who").textContent = annotator;
    one(".count").textContent = `${given.length.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    one(".bar").setAttribute("aria-valuemax", total);
    one(".bar").setAttribute("aria-valuenow", given.length);
    one(".bar i").style.width = total ? `${(100 * given.length) / total}%` : "100%";
    for (const button of [...all(".undo"), ...all(".save")]) button.disabled = !given.length;
    one(".warning").hidden = kept;
    one(".warning").textContent = "This browser cannot store answers: download them before you close the page.";
    if (question >= 0) show(question);
    else if (annotator) finish();
  };

  const show = (question) => {
    const [item, label] = store.questions[question];
    const [image, pixelated] = store.pictures[item];
    const [, name, gloss, article] = store.labels[label];
    const picture = one(".stage img");
    picture.hidden = !image;
    if (image) picture.src = image;
    else picture.removeAttribute("src");
    picture.classList.toggle("pixels", pixelated);
    one(".lack").hidden = Boolean(image);
    one(".lack code").textContent = store.items[item];
    one(".does").textContent = ["Does this show", article].filter(Boolean).join(" ");
    one(".name").textContent = `${name}?`;
    one(".gloss").textContent = gloss;
    const before = given.at(-1);
    one(".last").textContent = before ? `last: ${store.labels[store.questions[before[0]][1]][1]}, ${words[before[1]]}` : "";
  };

  const finish = () => {
    if (!store.questions.length) one(".done h2").textContent = "There are no open questions.";
    const many = (answer) => given.filter((row) => row[1] === answer).length;
    one(".tally").textContent = Object.keys(words).map((answer) => `${many(answer)} ${words[answer]}`).join(" · ");
    one(".file").textContent = file();
  };

  const answer = (value) => {
    const question = open();
    if (!annotator || question < 0) return;
    given.push([question, value, new Date().toISOString()]);
    write(place(), JSON.stringify(given));
    draw();
  };

  const undo = () => {
    if (!annotator || !given.length) return;
    given.pop();
    write(place(), JSON.stringify(given));
    draw();
  };

  const file = () => `answers-${annotator.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "sheet"}.csv`;
  const field = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const download = () => {
    const rows = given.map(([question, value, time]) => {
      const [item, label] = store.questions[question];
      return [store.items[item], store.labels[label][1], annotator, value, time];
    });
    const text = [["item", "label", "annotator", "answer", "time"], ...rows].map((row) => row.map(field).join(",")).join("\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${text}\r\n`], { type: "text/csv" }));
    link.download = file();
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  one(".start").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = event.target.annotator.value.trim();
    if (name) begin(name);
  });
  one(".who").addEventListener("click", () => {
    one(".start").annotator.value = annotator;
    annotator = "";
    given = [];
    draw();
    one(".start").annotator.select();
  });
  for (const button of all(".answers button")) button.addEventListener("click", () => { answer(button.value); button.blur(); });
  for (const button of all(".undo")) button.addEventListener("click", undo);
  for (const button of all(".save")) button.addEventListener("click", download);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.matches("input")) return;
    const key = event.key.toLowerCase();
    if (keys[key]) answer(keys[key]);
    else if (key === "z" || key === "backspace") undo();
    else return;
    event.preventDefault();
  });
  addEventListener("beforeunload", (event) => { if (!kept && given.length) event.preventDefault(); });

  addEventListener("storage", (event) => { if (annotator && event.key === place()) begin(annotator); });

  const before = read(`${store.key}-annotator`);
  if (before) begin(before);
  else { draw(); one(".start").annotator.focus(); }
})();
