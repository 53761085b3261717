// The step in the plane of its two variables: the box, the line on which their sum stays, the free
// optimum, and where the step ends.
import { clear, h, s, shown } from "../dom.js";

const SIZE = 240;
const EDGE = 34;

export function box() {
  const root = s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "chart box", role: "img", "aria-label": "the two variables of this step" });
  const legend = h("div", { class: "legend" });
  const element = h("figure", { class: "plot" }, h("figcaption", {}, "This step in the plane of (αᵢ, αⱼ)"), root, legend);

  /** `step` of the trace; `bounds` [[lower, upper] of i, of j], null where infinite. */
  element.draw = (step, bounds) => {
    if (!step?.pair) {
      const text = step ? ["Newton step:", `${step.moved} variables moved at once`] : ["no step yet"];
      clear(root, text.map((line, k) => s("text", { class: "axis", x: SIZE / 2, y: SIZE / 2 + 16 * k, "text-anchor": "middle" }, line)));
      clear(legend);
      return;
    }
    const { before, after, newton } = step;
    const free = newton === null ? null : [before[0] + newton, before[1] - newton];
    const spans = [0, 1].map((k) => span(bounds[k], [before[k], after[k], ...(free ? [free[k]] : [])]));
    const x = (value) => EDGE + ((value - spans[0][0]) / (spans[0][1] - spans[0][0])) * (SIZE - EDGE - 8);
    const y = (value) => SIZE - EDGE - ((value - spans[1][0]) / (spans[1][1] - spans[1][0])) * (SIZE - EDGE - 8);
    const [i, j] = bounds.map(([low, high], k) => [low ?? spans[k][0], high ?? spans[k][1]]);
    const parts = [s("rect", { class: "feasible", x: x(i[0]), y: y(j[1]), width: x(i[1]) - x(i[0]), height: y(j[0]) - y(j[1]) })];
    // The part of the line inside the box.
    const most = Math.min(i[1] - before[0], before[1] - j[0]);
    const least = Math.max(i[0] - before[0], before[1] - j[1]);
    parts.push(s("line", { class: "rail", x1: x(before[0] + least), y1: y(before[1] - least), x2: x(before[0] + most), y2: y(before[1] - most) }));
    const inView = free && free.every((value, k) => value >= spans[k][0] && value <= spans[k][1]);
    if (inView) parts.push(s("circle", { class: "optimum", cx: x(free[0]), cy: y(free[1]), r: 6 }, s("title", {}, "free optimum")));
    parts.push(s("line", { class: "move", x1: x(before[0]), y1: y(before[1]), x2: x(after[0]), y2: y(after[1]) }));
    parts.push(s("circle", { class: "before", cx: x(before[0]), cy: y(before[1]), r: 4 }), s("circle", { class: "after", cx: x(after[0]), cy: y(after[1]), r: 4.5 }));
    i.forEach((value) => parts.push(s("text", { class: "tick", x: x(value), y: SIZE - EDGE + 13, "text-anchor": "middle" }, shown(value, 3))));
    j.forEach((value) => parts.push(s("text", { class: "tick", x: EDGE - 4, y: y(value) + 4, "text-anchor": "end" }, shown(value, 3))));
    parts.push(s("text", { class: "axis", x: SIZE / 2, y: SIZE - 4, "text-anchor": "middle" }, `αᵢ (variable ${step.pair[0]})`));
    parts.push(s("text", { class: "axis", x: 10, y: SIZE / 2, "text-anchor": "middle", transform: `rotate(-90 10 ${SIZE / 2})` }, `αⱼ (variable ${step.pair[1]})`));
    clear(root, parts);
    clear(legend, h("span", {}, "○ before"), h("span", {}, "● after"), h("span", {}, inView ? "◯ free optimum" : free ? "free optimum outside the picture" : "no curvature: as far as the box allows"));
  };
  return element;
}

/** What to show of an axis: the bounds, or what the points need where there are none; the free
 * optimum only if it is not far out. */
function span([low, high], values) {
  const [before, after, free] = values;
  const size = low !== null && high !== null ? high - low : Math.max(Math.abs(before), Math.abs(after), Math.abs(after - before), 1e-9);
  let from = Math.min(low ?? Infinity, before, after);
  let to = Math.max(high ?? -Infinity, before, after);
  if (free !== undefined && free > from - 1.5 * size && free < to + 1.5 * size) {
    from = Math.min(from, free);
    to = Math.max(to, free);
  }
  const extra = 0.1 * (to - from || size || 1);
  return [from - extra, to + extra];
}
