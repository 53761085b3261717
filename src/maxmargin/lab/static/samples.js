// Which points a room works on: an example by name, or points put down by hand. Facts in a table.
import { button, choice, select, slider } from "./controls.js";
import { clear, h, shown } from "./dom.js";

const EXAMPLES = [
  ["blobs", "two blobs"],
  ["moons", "two moons"],
  ["xor", "XOR"],
  ["chess", "chess board"],
  ["own", "my points"],
];

/**
 * Controls for the points of `lab.state`. `plane` is edited by hand; `onChange()` asks anew. The
 * answer's points are to be handed to `.take(rows)`.
 */
export function samplePanel({ lab, plane, onChange, most, usual }) {
  const state = lab.state;
  let rows = state.points ?? [];
  const change = (patch) => {
    lab.keep(patch);
    which.value = lab.state.points ? "own" : (lab.state.example ?? "blobs");
    onChange();
  };
  const which = select({
    label: "points",
    options: EXAMPLES,
    value: state.points ? "own" : (state.example ?? "blobs"),
    onChange: (name) => (name === "own" ? change({ points: rows }) : change({ points: null, example: name })),
  });
  const size = slider({ label: "number", low: 4, high: most, step: 1, value: state.size ?? usual, onChange: (value) => change({ points: null, size: value, example: lab.state.example ?? "blobs" }) });
  const again = button("Draw again", () => change({ points: null, seed: ((lab.state.seed ?? 0) + 1) % 1000 }), { title: "other points of the same kind" });
  const pen = choice({
    label: "what a click does",
    options: [[1, "■ +1", "clicks put down points of class +1"], [-1, "● −1", "clicks put down points of class −1"], [0, "✕", "clicks delete points"]],
    value: 1,
    onChange: (label) => (plane.pen = Number(label)),
  });
  plane.onPen = (label) => {
    plane.pen = label;
    pen.value = label;
  };
  const empty = button("Clear", () => change({ points: [] }), { title: "remove all points" });
  const element = h("div", { class: "controls", role: "group", "aria-label": "points" }, which, size, again, pen, empty);
  /** Whether clicks put down points. */
  element.editing = (on) => {
    plane.fixed = !on;
    pen.hidden = empty.hidden = !on;
  };
  element.edited = (points) => {
    rows = points;
    change({ points });
  };
  element.take = (points) => {
    rows = points;
    plane.fit(points, Boolean(lab.state.points));
  };
  return element;
}

export const HINT = "Click to put a point down, drag to move it, right-click to delete. Keys: arrows, Enter, Backspace, c for the class.";

/** The state without what only the page knows. */
export function requestOf(state) {
  const { step, view, ...request } = state;
  return request;
}

/** A table of facts; `.show([[key, label, value, text?], …])`. */
export function facts(label) {
  const body = h("tbody");
  const element = h("table", { class: "fact-table", "aria-label": label }, body);
  element.show = (list) => {
    clear(
      body,
      list.map(([key, name, value, text]) =>
        h("tr", {}, h("th", { scope: "row" }, name), h("td", { "data-fact": key, "data-value": value === null || value === undefined ? "" : String(value) }, text ?? shown(value, 5))),
      ),
    );
  };
  return element;
}
