(() => {
  for (const table of document.querySelectorAll(".sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    const sort = (head, column) => {
      const isText = head.dataset.sort === "text";
      const isUp = head.ariaSort ? head.ariaSort === "descending" : isText;
      const value = (row) => row.cells[column].dataset.value;
      const order = (one, other) => {
        const [a, b] = [value(one), value(other)];
        if (a === "" || b === "") return (a === "") - (b === "");
        return (isUp ? 1 : -1) * (isText ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
      };
      body.append(...[...body.rows].sort(order));
      for (const one of heads) one.ariaSort = one === head ? (isUp ? "ascending" : "descending") : null;
    };
    heads.forEach((head, column) => {
      if (!head.dataset.sort) return;
      const button = document.createElement("button");
      button.className = "sort";
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(head, column));
      head.append(button);
    });
  }
})();
