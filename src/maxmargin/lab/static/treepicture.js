// A binary tree as a picture: splits as rules, leaves by class and size.
import { clear, h, s, shown } from "./dom.js";

const WIDE = 46;
const HIGH = 58;

/** `.draw(nodes, leaves, current, visible)`; `onPick(node)` when a node is clicked or chosen by Enter. */
export function treePicture(onPick) {
  const root = s("svg", { class: "chart tree", role: "group", "aria-label": "the tree" });
  const element = h("div", { class: "scroll" }, root);

  element.draw = (nodes, leaves, current, visible) => {
    const places = layout(nodes, visible);
    const all = [...visible].map((node) => places[node]);
    const width = WIDE * Math.max(4, ...all.map((place) => place.x + 1)) + 10;
    const height = HIGH * (1 + Math.max(...all.map((place) => place.depth))) + 6;
    const at = (node) => [WIDE * (places[node].x + 0.5) + 5, HIGH * places[node].depth + 24];
    const lines = [];
    const marks = [];
    for (const node of visible) {
      const [x, y] = at(node);
      const record = nodes[node];
      const leaf = leaves.has(node);
      if (!leaf) {
        for (const child of [record.left, record.right]) {
          const [cx, cy] = at(child);
          lines.push(s("path", { class: "branch", d: `M${x} ${y}C${x} ${y + 30} ${cx} ${cy - 30} ${cx} ${cy}` }));
        }
      }
      marks.push(mark(node, record, leaf, node === current, x, y, onPick));
    }
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    root.style.maxWidth = `${Math.max(width, 240) * 1.25}px`;
    root.style.minWidth = `${Math.min(width, 900)}px`;
    clear(root, lines, marks);
  };
  return element;
}

function mark(node, record, leaf, current, x, y, onPick) {
  const side = record.label > 0 ? "plus" : "minus";
  const rule = leaf ? `n ${record.samples}` : `${record.feature === 0 ? "x₁" : "x₂"} ≤ ${shown(record.threshold, 3)}`;
  const title = `node ${node}: ${leaf ? `leaf of class ${record.label > 0 ? "+1" : "−1"}` : rule}, ${record.samples} samples, cost ${shown(record.cost)}`;
  const shape = record.label < 0 ? s("circle", { class: `mark ${side}`, cx: x, cy: y, r: leaf ? 8 : 5 }) : s("rect", { class: `mark ${side}`, x: x - (leaf ? 7 : 4.5), y: y - (leaf ? 7 : 4.5), width: leaf ? 14 : 9, height: leaf ? 14 : 9 });
  return s(
    "g",
    {
      class: `treenode ${current ? "current" : ""}`, tabindex: "0", role: "button", "aria-label": title, "data-node": node, "data-own-keys": true,
      onclick: () => onPick(node),
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onPick(node);
      },
    },
    current ? s("circle", { class: "halo", cx: x, cy: y, r: 13 }) : null,
    shape,
    s("text", { class: "rule", x, y: leaf ? y + 22 : y - 11, "text-anchor": "middle" }, rule),
    s("title", {}, title),
  );
}

/** Leaves side by side, parents above the middle of their children. */
function layout(nodes, visible) {
  const places = [];
  let next = 0;
  function visit(node, depth) {
    const { left, right } = nodes[node];
    if (left < 0 || !visible.has(left)) {
      places[node] = { x: next++, depth };
      return;
    }
    visit(left, depth + 1);
    visit(right, depth + 1);
    places[node] = { x: (places[left].x + places[right].x) / 2, depth };
  }
  visit(0, 0);
  return places;
}
