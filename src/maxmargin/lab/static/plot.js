// Axes, lines and marks in SVG; colours come from the style sheet by class.
import { clear, h, s, shown } from "./dom.js";

/** Round values between low and high, about so many. */
export function ticks(low, high, about = 5) {
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / about));
  const unit = [1, 2, 5, 10].map((m) => m * power).find((u) => span / u <= about) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(low / unit - 1e-9); k * unit <= high + 1e-9 * span; k++) found.push(Number((k * unit).toPrecision(12)));
  return found;
}

export function logTicks(low, high) {
  const found = [];
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const every = Math.max(1, Math.ceil((to - from) / 5));
  for (let k = from; k <= to; k += every) if (10 ** k >= low * 0.999 && 10 ** k <= high * 1.001) found.push(10 ** k);
  return found;
}

/** A map from [low, high] to [from, to], by logarithms where `log`. */
export function scale(low, high, from, to, log = false) {
  const f = log ? (x) => Math.log10(Math.max(x, 1e-300)) : (x) => x;
  const a = f(low);
  const span = f(high) - a || 1;
  const map = (x) => from + ((f(x) - a) / span) * (to - from);
  map.back = (p) => {
    const y = a + ((p - from) / (to - from)) * span;
    return log ? 10 ** y : y;
  };
  return map;
}

let count = 0;

/**
 * A chart: `draw({x: [low, high], y: [low, high], logX, logY, series, marks, cursor})` where series
 * is a list of {name, class, points: [[x, y], …], dashed, step}; marks a list of {x, y, class, r,
 * title}. Points whose y is null are left out; lines end at the frame. Returns the element with `.draw` and `.at(event)`.
 */
export function chart({ label, xLabel = "", yLabel = "", width = 420, height = 240 }) {
  const margin = { left: 52, right: 10, top: 10, bottom: 36 };
  const root = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });
  const legend = h("div", { class: "legend" });
  const element = h("figure", { class: "plot" }, h("figcaption", {}, label), root, legend);
  const frame = `frame-${++count}`;
  let maps = null;

  element.draw = ({ x, y, logX = false, logY = false, series = [], marks = [], cursor = null }) => {
    const right = width - margin.right;
    const bottom = height - margin.bottom;
    const mx = scale(x[0], x[1], margin.left, right, logX);
    const my = scale(y[0], y[1], bottom, margin.top, logY);
    maps = { x: mx, y: my };
    const parts = [];
    for (const value of logX ? logTicks(...x) : ticks(...x)) {
      parts.push(s("line", { class: "grid", x1: mx(value), x2: mx(value), y1: margin.top, y2: bottom }));
      parts.push(s("text", { class: "tick", x: mx(value), y: bottom + 14, "text-anchor": "middle" }, shown(value)));
    }
    for (const value of logY ? logTicks(...y) : ticks(...y, 4)) {
      parts.push(s("line", { class: "grid", x1: margin.left, x2: right, y1: my(value), y2: my(value) }));
      parts.push(s("text", { class: "tick", x: margin.left - 5, y: my(value) + 4, "text-anchor": "end" }, shown(value)));
    }
    parts.push(s("text", { class: "axis", x: (margin.left + right) / 2, y: height - 5, "text-anchor": "middle" }, xLabel));
    parts.push(s("text", { class: "axis", x: 12, y: (margin.top + bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(margin.top + bottom) / 2})` }, yLabel));
    parts.push(s("clipPath", { id: frame }, s("rect", { x: margin.left, y: margin.top, width: right - margin.left, height: bottom - margin.top })));
    for (const line of series) {
      const path = pathOf(line.points, mx, my, line.step);
      parts.push(s("path", { d: path, class: `line ${line.class ?? ""}`, "stroke-dasharray": line.dashed ? "5 4" : null, "clip-path": `url(#${frame})` }));
    }
    for (const mark of marks) {
      parts.push(s("circle", { cx: mx(mark.x), cy: my(mark.y), r: mark.r ?? 4, class: `mark ${mark.class ?? ""}` }, mark.title ? s("title", {}, mark.title) : null));
    }
    if (cursor !== null) parts.push(s("line", { class: "cursor", x1: mx(cursor), x2: mx(cursor), y1: margin.top, y2: bottom }));
    clear(root, parts);
    clear(
      legend,
      series.filter((line) => line.name).map((line) => h("span", { class: `key ${line.class ?? ""}` }, h("i", { class: line.dashed ? "dashed" : "" }), line.name)),
    );
  };

  /** Coordinates under the pointer. */
  element.at = (event) => {
    const box = root.getBoundingClientRect();
    const px = ((event.clientX - box.left) / box.width) * width;
    const py = ((event.clientY - box.top) / box.height) * height;
    return maps ? { x: maps.x.back(px), y: maps.y.back(py) } : null;
  };
  element.svg = root;
  return element;
}

function pathOf(points, mx, my, stepped) {
  let path = "";
  let pen = false;
  let lastY = 0;
  for (const [x, y] of points) {
    if (y === null || y === undefined) {
      pen = false;
      continue;
    }
    const px = mx(x).toFixed(1);
    const py = Math.max(-1e5, Math.min(1e5, my(y))).toFixed(1);
    if (pen && stepped) path += `L${px} ${lastY}`;
    path += `${pen ? "L" : "M"}${px} ${py}`;
    pen = true;
    lastY = py;
  }
  return path;
}

/** [low, high] of values with a margin; [0, 1] of none. */
export function range(values, margin = 0.05) {
  const finite = values.filter((value) => Number.isFinite(value));
  if (!finite.length) return [0, 1];
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const extra = (high - low || Math.abs(high) || 1) * margin;
  return [low - extra, high + extra];
}

/** [low, high] of the positive values, for axes by logarithms. */
export function logRange(values, least = 1e-12) {
  const positive = values.filter((value) => Number.isFinite(value) && value > 0);
  if (!positive.length) return [0.1, 10];
  const low = Math.max(Math.min(...positive), least);
  return [low / 1.5, Math.max(...positive, low) * 1.5];
}
