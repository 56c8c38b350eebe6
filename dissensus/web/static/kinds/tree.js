/* The taxonomy as a tree to browse by mouse, touch and keyboard (the ARIA tree pattern: ↑ ↓ ← → Home End Enter).
 * Branches are drawn only when opened: a taxonomy may have tens of thousands of nodes. More rows than anybody would scroll
 * through are grouped by their first letters. */

import { make } from "../dom.js";

const FEW_ROWS = 6;
const MANY_ROWS = 20;
const MOST_ROWS = 200; // that are drawn at once
const GROUP = 50; // names in a group, at most

const alphabetical = new Intl.Collator().compare;

/* The nodes from which an offered class can be reached. */
const reaching = ({ children, classes, root }, offered) => {
  const known = new Map();
  const visit = (node) => {
    if (!known.has(node)) {
      known.set(node, false); // breaks cycles, should there be any
      const below = children[node].map(visit); // no short-circuit: every node must be visited
      known.set(node, offered.has(classes[node]) || below.some(Boolean));
    }
    return known.get(node);
  };
  visit(root);
  return (node) => known.get(node) === true;
};

/* How many offered classes are below a node, or in a group of nodes; one that is reachable in two ways counts once. */
const sizeOf = ({ children, classes }, offered, node) => {
  const seen = new Set();
  const visit = (here) => {
    if (here.nodes) return here.nodes.forEach(visit);
    if (seen.has(here)) return;
    seen.add(here);
    children[here].forEach(visit);
  };
  visit(node);
  return [...seen].filter((here) => offered.has(classes[here])).length;
};

/* Skips a chain of nodes that offer no choice. */
const shortened = (taxonomy, isUseful, node) => {
  const open = (parent) => taxonomy.children[parent].filter(isUseful);
  let here = node;
  while (taxonomy.classes[here] === null && open(here).length === 1) [here] = open(here);
  return here;
};

const flat = (classes, options) => ({
  names: [...options.map((value) => classes.names[value]), ""],
  children: [...options.map(() => []), options.map((_, i) => i)],
  classes: [...options, null],
  root: options.length,
});

/* The shortest beginning of a name that the other one does not have. */
const beginning = (name, other) => {
  let same = 0;
  while (same < name.length && name[same].toLowerCase() === other[same]?.toLowerCase()) same += 1;
  return name.slice(0, same + 1) + (same + 1 < name.length ? "…" : "");
};

/* Nodes in alphabetical order, where there are too many as groups { name, nodes }, of groups if need be, of about equal size. */
const grouped = (nodes, nameOf) => {
  if (nodes.length <= MOST_ROWS) return nodes;
  const levels = Math.ceil(Math.log(nodes.length) / Math.log(GROUP));
  const size = Math.ceil(nodes.length / Math.ceil(nodes.length ** (1 / levels)));
  const groups = [];
  for (let start = 0; start < nodes.length; start += size) {
    const part = nodes.slice(start, start + size);
    const [before, after] = [nodes[start - 1], nodes[start + size]].map((node) => (node === undefined ? "" : nameOf(node)));
    groups.push({ name: `${beginning(nameOf(part[0]), before)} – ${beginning(nameOf(part.at(-1)), after)}`, nodes: grouped(part, nameOf) });
  }
  return groups;
};

const remembered = (worked) => {
  const results = new Map();
  return (node) => {
    if (!results.has(node)) results.set(node, worked(node));
    return results.get(node);
  };
};

const known = new WeakMap();

/* What is worked out once for the same list of options, as it takes long among tens of thousands. */
const preparedFor = (classes, options) => {
  if (!known.has(options)) {
    const taxonomy = classes.tree ?? flat(classes, options);
    const offered = new Set(options);
    const isUseful = reaching(taxonomy, offered);
    const valueOf = (node) => (offered.has(taxonomy.classes[node]) ? taxonomy.classes[node] : null);
    const nameOf = (node) => node.name ?? (valueOf(node) === null ? taxonomy.names[node] : classes.names[valueOf(node)]);
    const byName = (nodes) => [...new Set(nodes)].sort((a, b) => alphabetical(nameOf(a), nameOf(b)));
    const below = (node) => grouped(byName(taxonomy.children[node].filter(isUseful).map((child) => shortened(taxonomy, isUseful, child))), nameOf);
    known.set(options, {
      taxonomy, offered, isUseful, valueOf, nameOf, byName,
      size: remembered((node) => sizeOf(taxonomy, offered, node)),
      branches: remembered((node) => node.nodes ?? below(node)),
      isBranch: (node) => Boolean(node.nodes) || taxonomy.children[node].some(isUseful),
    });
  }
  return known.get(options);
};

/* hands: choose(value, event) and look(value), as in chooser.js. */
export const tree = (classes, options, hands) => {
  const { taxonomy, offered, isUseful, size, branches, isBranch: hasBranches, valueOf, nameOf, byName } = preparedFor(classes, options);

  const item = (node, level) => {
    const isBranch = hasBranches(node);
    const value = valueOf(node);
    const name = nameOf(node);
    const many = isBranch ? size(node).toLocaleString("en") : "";
    const row = make(
      "div",
      { class: "twig" },
      make("span", { class: "mark", "aria-hidden": "true" }, isBranch ? "›" : ""),
      make("span", { class: "twig-name" }, name),
      make("span", { class: "many" }, many),
    );
    const element = make("li", {
      role: "treeitem",
      tabindex: "-1",
      "aria-level": level,
      "aria-label": isBranch ? `${name}, ${many} names` : name, // otherwise screen readers would read everything below as its name
      "aria-expanded": isBranch ? "false" : null,
      "data-answer": value,
    }, row);
    element.node = node;
    return element;
  };

  const toggle = (element, isOpen) => {
    if (!element.hasAttribute("aria-expanded")) return;
    element.setAttribute("aria-expanded", String(isOpen));
    const group = element.querySelector(":scope > ul");
    if (group) group.hidden = !isOpen;
    else if (isOpen) element.append(make("ul", { role: "group" }, branches(element.node).map((child) => item(child, Number(element.getAttribute("aria-level")) + 1))));
  };

  const isOpen = (element) => element.getAttribute("aria-expanded") === "true";
  const act = (element, event) => {
    const value = valueOf(element.node);
    if (value === null) toggle(element, !isOpen(element));
    else hands.choose(value, event);
  };

  // The top nodes of a taxonomy ('physical entity') help nobody: they are replaced by their children.
  const topRows = () => {
    let rows = branches(shortened(taxonomy, isUseful, taxonomy.root));
    const fits = (node) => {
      const isDominant = rows.length < FEW_ROWS || size(node) > 0.4 * offered.size;
      if (!isDominant || node.nodes || valueOf(node) !== null) return false;
      const many = branches(node).length;
      return many > 0 && rows.length + many <= MANY_ROWS;
    };
    for (;;) {
      const [largest] = rows.filter(fits).sort((a, b) => size(b) - size(a));
      if (largest === undefined) return rows;
      rows = byName([...rows.filter((node) => node !== largest), ...branches(largest)]);
    }
  };

  const root = make("ul", { class: "tree", role: "tree", "aria-label": "All names, in groups" }, topRows().map((node) => item(node, 1)));
  root.firstElementChild?.setAttribute("tabindex", "0");

  const seen = () => [...root.querySelectorAll("[role=treeitem]")].filter((element) => !element.closest("ul[hidden]"));
  const focus = (element) => {
    if (!element) return;
    for (const other of root.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
    element.setAttribute("tabindex", "0");
    element.focus();
  };

  const KEYS = {
    ArrowDown: (element) => focus(seen()[seen().indexOf(element) + 1]),
    ArrowUp: (element) => focus(seen()[seen().indexOf(element) - 1]),
    ArrowRight: (element) => (isOpen(element) ? focus(element.querySelector("[role=treeitem]")) : toggle(element, true)),
    ArrowLeft: (element) => (isOpen(element) ? toggle(element, false) : focus(element.parentElement.closest("[role=treeitem]"))),
    Home: () => focus(seen()[0]),
    End: () => focus(seen().at(-1)),
    Enter: act,
    " ": act,
  };
  root.addEventListener("keydown", (event) => {
    const move = KEYS[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey || (event.repeat && move === act)) return;
    move(event.target.closest("[role=treeitem]"), event);
    event.preventDefault();
    event.stopPropagation();
  });
  root.addEventListener("click", (event) => {
    const element = event.target.closest("[role=treeitem]");
    if (!element) return;
    focus(element);
    if (event.target.closest(".mark")) toggle(element, !isOpen(element));
    else act(element, event);
  });
  const looked = (event) => {
    const element = event.target.closest("[role=treeitem]");
    const value = element ? valueOf(element.node) : null;
    if (value !== null) hands.look(value);
  };
  root.addEventListener("focusin", looked);
  if (hands.follows) root.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") looked(event); });
  return root;
};
