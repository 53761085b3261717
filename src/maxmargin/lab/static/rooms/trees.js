// Decision trees: the partition, the tree, and every candidate of the split at hand.
import { select, slider } from "../controls.js";
import { clear, h, latest, s, shown } from "../dom.js";
import { chart, range } from "../plot.js";
import { plane as makePlane } from "../points.js";
import { HINT, facts, requestOf, samplePanel } from "../samples.js";
import { stepper } from "../stepper.js";
import { treePicture } from "../treepicture.js";

const ROWS = 12;
const name = (feature) => (feature === 0 ? "x₁" : "x₂");

export function mount(root, lab) {
  const state = lab.state;
  let found = null;
  let picked = null;

  const plane = makePlane({ label: "Leaves as boxes, coloured by their class", onEdit: lab.recorded ? null : (points) => panel.edited(points) });
  const panel = samplePanel({ lab, plane, onChange: ask, most: 200, usual: 40 });
  const change = (key) => (value) => {
    lab.keep({ [key]: value });
    ask();
  };
  const controls = h(
    "div",
    { class: "controls", role: "group", "aria-label": "tree" },
    select({ label: "criterion", options: [["gini", "Gini"], ["entropy", "entropy"]], value: state.criterion ?? "gini", onChange: change("criterion") }),
    slider({ label: "depth up to", low: 1, high: 8, step: 1, value: state.max_depth ?? 4, onChange: change("max_depth") }),
    slider({ label: "samples a leaf", low: 1, high: 20, step: 1, value: state.min_leaf ?? 1, onChange: change("min_leaf") }),
    select({
      label: "growth",
      options: [["", "depth first"], ["4", "best first, 4 leaves"], ["8", "best first, 8 leaves"], ["16", "best first, 16 leaves"]],
      value: state.max_leaves ? String(state.max_leaves) : "",
      onChange: (value) => change("max_leaves")(value ? Number(value) : null),
    }),
  );
  const steps = stepper({ onStep: (k) => { picked = null; lab.keep({ step: k }); draw(); }, stopName: "Pruning", perSecond: 2 });
  const said = h("p", { class: "said", role: "status", "aria-live": "polite" });
  const numbers = facts("the tree at this step");
  const tree = treePicture((node) => { picked = node; draw(); });
  const gains = chart({ label: "Gain c_T − c_L − c_R of every candidate", xLabel: "threshold", yLabel: "gain" });
  const caption = h("h2");
  const body = h("tbody");
  const table = h(
    "table",
    { class: "listing" },
    h("thead", {}, h("tr", {}, ["split", "c_L", "c_R", "gain"].map((text) => h("th", { scope: "col" }, text)))),
    body,
  );
  root.append(
    ...(lab.recorded ? [] : [panel, controls]), steps, said,
    h("div", { class: "columns" },
      h("section", { class: "panel" }, plane, lab.recorded ? null : h("p", { class: "note" }, HINT)),
      h("section", { class: "panel" }, numbers, tree),
      h("section", { class: "panel" }, caption, h("div", { class: "scroll" }, table), gains),
    ),
  );

  const put = latest((request) => lab.ask("trees", request), take, (error) => lab.tell(error.message));
  function ask() {
    put(requestOf(lab.state));
  }

  function take(answer) {
    lab.tell(null);
    found = answer;
    picked = null;
    panel.take(found.points);
    lab.code(found.code);
    steps.setLast(found.frames.length - 1, [found.frames.findIndex((frame) => frame.kind === "prune")]);
    steps.go(Math.min(lab.state.step ?? 1, found.frames.length - 1));
  }

  function draw() {
    const frame = found.frames[steps.step];
    const leaves = new Set(frame.leaves);
    const next = found.frames[steps.step + 1];
    const own = frame.kind === "root" ? (next?.node ?? null) : frame.node;
    const node = picked ?? own;
    said.textContent = sentence(frame, next);
    numbers.show([
      ["leaves", "leaves", frame.leaves.length],
      ["errors", "training errors", frame.errors],
      ["risk", "cost of the leaves, R", frame.risk],
      ["alpha", "pruned from α =", frame.alpha],
    ]);
    plane.show(found.points);
    clear(plane.back, frame.leaves.map((leaf) => box(found.nodes[leaf], "leaf")));
    clear(plane.front, node === null ? [] : [box(found.nodes[node], "node"), ...splitLine(node)]);
    tree.draw(found.nodes, leaves, node, nodesShown(leaves));
    drawTable(node);
  }

  function nodesShown(leaves) {
    const shownNodes = new Set();
    const waiting = [0];
    while (waiting.length) {
      const node = waiting.pop();
      shownNodes.add(node);
      if (!leaves.has(node)) waiting.push(found.nodes[node].left, found.nodes[node].right);
    }
    return shownNodes;
  }

  function sentence(frame, next) {
    const record = found.nodes[frame.node];
    const rule = `${name(record.feature)} ≤ ${shown(record.threshold)}`;
    if (frame.kind === "root") return next ? "The root alone: all samples in one box." : "The root is pure or may not be split: the tree is done.";
    if (frame.kind === "split") {
      const split = found.splits[frame.node];
      return `Node ${frame.node} (${record.samples} samples) is split at ${rule}: of ${split.gain.length} candidates the largest gain, ${shown(split.gain[split.chosen])}.`;
    }
    return `From α = ${shown(frame.alpha)} on, the split of node ${frame.node} (${rule}) costs more leaves than it is worth: it is taken back.`;
  }

  function box(record, kind) {
    const [x0, x1, y0, y1] = plane.box;
    const [a, b, c, d] = record.box;
    const left = plane.x(a ?? x0);
    const right = plane.x(b ?? x1);
    const bottom = plane.y(c ?? y0);
    const top = plane.y(d ?? y1);
    const colour = kind === "leaf" ? (record.label > 0 ? "region plus" : "region minus") : "outline";
    return s("rect", { class: colour, x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) });
  }

  function splitLine(node, feature = found.nodes[node].feature, threshold = found.nodes[node].threshold, extra = "split") {
    if (feature < 0) return [];
    const [x0, x1, y0, y1] = plane.box;
    const [a, b, c, d] = found.nodes[node].box;
    const ends = feature === 0 ? [threshold, threshold, c ?? y0, d ?? y1] : [a ?? x0, b ?? x1, threshold, threshold];
    return [s("line", { class: extra, x1: plane.x(ends[0]), x2: plane.x(ends[1]), y1: plane.y(ends[2]), y2: plane.y(ends[3]) })];
  }

  function drawTable(node) {
    const split = node === null ? null : found.splits[node];
    if (!split) {
      caption.textContent = node === null ? "No split" : `Node ${node} is a leaf: no candidates`;
      clear(body);
      gains.draw({ x: [0, 1], y: [0, 1] });
      return;
    }
    caption.textContent = `Node ${node}: ${split.samples.length} samples, c_T = ${shown(split.cost)}, ${split.gain.length} candidates`;
    const hint = (k) => clear(plane.front, box(found.nodes[node], "node"), splitLine(node), splitLine(node, split.feature[k], split.threshold[k], "hint"));
    clear(body, split.gain.slice(0, ROWS).map((gain, k) => {
      const chosen = k === split.chosen;
      return h(
        "tr",
        { class: chosen ? "chosen" : split.allowed[k] ? "" : "barred", tabindex: "0", "data-own-keys": true, onmouseenter: () => hint(k), onfocus: () => hint(k) },
        h("td", {}, `${chosen ? "★ " : ""}${name(split.feature[k])} ≤ ${shown(split.threshold[k])}`),
        h("td", {}, shown(split.cost_left[k])),
        h("td", {}, shown(split.cost_right[k])),
        h("td", { "data-gain": k, "data-value": String(gain) }, shown(gain)),
      );
    }));
    const line = (feature) => split.gain.map((gain, k) => [split.threshold[k], gain, k]).filter(([, , k]) => split.feature[k] === feature).sort((p, q) => p[0] - q[0]);
    gains.draw({
      x: range(split.threshold),
      y: range([0, ...split.gain]),
      series: [
        { name: "x₁", class: "extra", points: line(0) },
        { name: "x₂", class: "third", points: line(1), dashed: true },
      ],
      marks: [...split.gain.map((gain, k) => ({ x: split.threshold[k], y: gain, class: split.feature[k] === 0 ? "extra" : "third", r: 2 })), { x: split.threshold[split.chosen], y: split.gain[split.chosen], class: "gold", r: 6, title: "the split that is made" }],
    });
  }

  ask();
  return () => steps.close();
}
