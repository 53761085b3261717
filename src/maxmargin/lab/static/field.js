// The plane: regions, boundary and margins of a machine, and points that can be put down, dragged
// and deleted, by pointer or by keyboard.
import { CLASS_COLOURS, FIELD_COLOURS, colours } from "./canvas.js";
import { clear, h, s, set } from "./dom.js";
import { contour, onGrid, onLine, spaced } from "./kernels.js";
import { ticks } from "./plot.js";

const SIZE = 500;
const GRID = 90;
// Different shapes, so that classes differ without colour.
const SHAPES = ["M-5.2 0a5.2 5.2 0 1 0 10.4 0a5.2 5.2 0 1 0 -10.4 0", "M-4.8 -4.8h9.6v9.6h-9.6z", "M0 -6L5.7 4.6H-5.7z"];
const NEAR = 14;

/**
 * `onEdit(points, {finished, same})`: points were changed; `finished` is false while one is dragged,
 * `same` says that their number is. Returns the element with `.show`, `.setPoints`, `.tool`.
 */
export function field({ label, onEdit, editable }) {
  const canvas = h("canvas", { width: GRID, height: GRID, "aria-hidden": "true" });
  const axes = s("g");
  const lines = s("g");
  const marks = s("g");
  const rings = s("g");
  const cross = s("path", { class: "cross", d: "M-9 0H9M0 -9V9", visibility: "hidden" });
  const overlay = s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": label }, axes, lines, marks, rings, cross);
  const element = h("div", { class: "field", tabindex: editable ? "0" : null, "data-own-keys": editable, "aria-label": editable ? `${label}. Arrow keys move a cross, Enter puts down a point, Space picks up or drops the nearest one, Delete removes it.` : null, role: editable ? "application" : null }, canvas, overlay);
  let points = [];
  let view = [-3, 3, -3, 3];
  let shapes = [];
  let held = null;
  let cursor = [0, 0];
  element.tool = 1;

  const px = (x) => ((x - view[0]) / (view[1] - view[0])) * SIZE;
  const py = (y) => SIZE - ((y - view[2]) / (view[3] - view[2])) * SIZE;
  const rounded = (value) => Math.round(value * 1000) / 1000;

  function place(n) {
    const [x, y] = points[n];
    set(shapes[n], { transform: `translate(${px(x).toFixed(1)} ${py(y).toFixed(1)})` });
  }

  function drawAxes() {
    clear(
      axes,
      ticks(view[0], view[1], 6).map((x) => s("text", { class: "tick", x: px(x), y: SIZE - 4, "text-anchor": "middle" }, String(x).replace("-", "−"))),
      ticks(view[2], view[3], 6).map((y) => s("text", { class: "tick", x: 3, y: py(y) + 4 }, String(y).replace("-", "−"))),
    );
  }

  /** Replace all points and fit the view to them. */
  element.setPoints = (next, fit = true, square = true) => {
    points = next.map((point) => [...point]);
    if (fit) view = fitted(points, square);
    shapes = points.map(([, , label], n) => s("path", { d: SHAPES[label], class: `point class-${label}`, "data-n": n }));
    clear(marks, shapes);
    points.forEach((_, n) => place(n));
    drawAxes();
  };

  /** Draw machines: [{points, coef, intercept, classes}], `about` the kernel, `options.regression`
   * with the tube `epsilon`; `marked` tells each point's look: {support, bound, faded, pair}. */
  element.show = (machines, about, { regression = false, epsilon = 0, marked = null } = {}) => {
    const palette = colours();
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, GRID, GRID);
    clear(lines);
    clear(rings);
    if (regression) drawCurve(machines[0], about, epsilon);
    else if (machines.length === 1) drawOne(context, palette, machines[0], about);
    else if (machines.length) drawVotes(context, palette, machines, about);
    shapes.forEach((shape, n) => {
      const { support, bound, faded, pair } = marked ? marked(n) : {};
      const look = `point class-${points[n][2]}${support ? " support" : ""}${bound ? " bound" : ""}${faded ? " faded" : ""}`;
      if (shape.getAttribute("class") !== look) shape.setAttribute("class", look);
      if (!pair) return;
      const at = `translate(${px(points[n][0])} ${py(points[n][1])})`;
      rings.append(s("circle", { class: "pair", r: 12, transform: at }), s("text", { class: "pair", x: 14, y: -8, transform: at }, pair));
    });
  };

  function drawOne(context, palette, machine, about) {
    const xs = spaced(view[0], view[1], GRID);
    const ys = spaced(view[2], view[3], GRID);
    const values = onGrid(machine, about, xs, ys);
    const [negative, positive] = machine.classes ?? [0, 1];
    paint(context, palette, (k) => (values[k] > 0 ? positive : negative));
    for (const [level, name] of machine.classes ? [[-1, "margin"], [1, "margin"], [0, "boundary"]] : [[0, "boundary"]]) {
      const path = contour(values, xs, ys, level).map(([a, b, c, d]) => `M${px(a).toFixed(1)} ${py(b).toFixed(1)}L${px(c).toFixed(1)} ${py(d).toFixed(1)}`).join("");
      if (path) lines.append(s("path", { class: name, d: path }));
    }
  }

  function drawVotes(context, palette, machines, about) {
    const xs = spaced(view[0], view[1], GRID);
    const ys = spaced(view[2], view[3], GRID);
    const votes = new Float32Array(3 * GRID * GRID);
    for (const machine of machines) {
      const values = onGrid(machine, about, xs, ys);
      const [negative, positive] = machine.classes;
      for (let k = 0; k < values.length; k++) {
        votes[3 * k + (values[k] > 0 ? positive : negative)] += 1 + 1e-3 * Math.min(1, Math.abs(values[k]));
      }
      const path = contour(values, xs, ys, 0).map(([a, b, c, d]) => `M${px(a).toFixed(1)} ${py(b).toFixed(1)}L${px(c).toFixed(1)} ${py(d).toFixed(1)}`).join("");
      lines.append(s("path", { class: "margin", d: path }));
    }
    paint(context, palette, (k) => {
      let best = 0;
      for (let c = 1; c < 3; c++) if (votes[3 * k + c] > votes[3 * k + best]) best = c;
      return best;
    });
  }

  /** Colour every cell of the grid; `classOf(k)` is the class there. */
  function paint(context, palette, classOf) {
    const image = context.createImageData(GRID, GRID);
    const shades = FIELD_COLOURS.map((name) => palette[name].match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16)));
    for (let r = 0; r < GRID; r++) {
      for (let q = 0; q < GRID; q++) {
        const shade = shades[classOf(r * GRID + q)];
        const k = 4 * ((GRID - 1 - r) * GRID + q);
        image.data[k] = shade[0];
        image.data[k + 1] = shade[1];
        image.data[k + 2] = shade[2];
        image.data[k + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
  }

  function drawCurve(machine, about, epsilon) {
    const xs = spaced(view[0], view[1], 200);
    const ys = onLine(machine, about, xs);
    const path = (shift) => xs.map((x, k) => `${k ? "L" : "M"}${px(x).toFixed(1)} ${py(ys[k] + shift).toFixed(1)}`).join("");
    if (epsilon > 0) lines.append(s("path", { class: "margin", d: path(epsilon) }), s("path", { class: "margin", d: path(-epsilon) }));
    lines.append(s("path", { class: "boundary", d: path(0) }));
  }

  // ---- editing ------------------------------------------------------------------------------

  function under(event) {
    const box = overlay.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * SIZE;
    const y = ((event.clientY - box.top) / box.height) * SIZE;
    return [view[0] + (x / SIZE) * (view[1] - view[0]), view[3] - (y / SIZE) * (view[3] - view[2])];
  }

  function nearest([x, y], within = NEAR) {
    let best = -1;
    let distance = within * within;
    points.forEach(([a, b], n) => {
      const d = (px(a) - px(x)) ** 2 + (py(b) - py(y)) ** 2;
      if (d <= distance) [best, distance] = [n, d];
    });
    return best;
  }

  function add([x, y]) {
    points.push([rounded(x), rounded(y), element.tool]);
    element.setPoints(points, false);
    return points.length - 1;
  }

  function remove(n) {
    points.splice(n, 1);
    element.setPoints(points, false);
    onEdit(points, { finished: true, same: false });
  }

  function move(n, [x, y], finished) {
    points[n][0] = rounded(Math.max(view[0], Math.min(view[1], x)));
    points[n][1] = rounded(Math.max(view[2], Math.min(view[3], y)));
    place(n);
    onEdit(points, { finished, same: true });
  }

  if (editable) {
    overlay.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      const at = under(event);
      const n = nearest(at);
      if (element.tool === "delete" || event.shiftKey) {
        if (n >= 0) remove(n);
        return;
      }
      overlay.setPointerCapture(event.pointerId);
      held = n >= 0 ? { n, moved: false } : { n: add(at), moved: true, fresh: true };
      if (held.fresh) onEdit(points, { finished: false, same: false });
    });
    overlay.addEventListener("pointermove", (event) => {
      if (!held) return;
      held.moved = true;
      move(held.n, under(event), false);
    });
    const drop = () => {
      if (held?.moved) onEdit(points, { finished: true, same: !held.fresh });
      held = null;
    };
    overlay.addEventListener("pointerup", drop);
    overlay.addEventListener("pointercancel", drop);
    element.addEventListener("keydown", onKey);
    element.addEventListener("focus", () => element.matches(":focus-visible") && showCross());
    element.addEventListener("blur", () => set(cross, { visibility: "hidden" }));
  }

  function showCross() {
    set(cross, { visibility: "visible", transform: `translate(${px(cursor[0])} ${py(cursor[1])})` });
  }

  function onKey(event) {
    const dx = (view[1] - view[0]) / 50;
    const dy = (view[3] - view[2]) / 50;
    const moves = { ArrowLeft: [-dx, 0], ArrowRight: [dx, 0], ArrowUp: [0, dy], ArrowDown: [0, -dy] };
    if (moves[event.key]) {
      cursor = [Math.max(view[0], Math.min(view[1], cursor[0] + moves[event.key][0])), Math.max(view[2], Math.min(view[3], cursor[1] + moves[event.key][1]))];
      if (held) move(held.n, cursor, false);
    } else if (event.key === "Enter") {
      if (element.tool !== "delete") add(cursor);
      onEdit(points, { finished: true, same: false });
    } else if (event.key === " ") {
      if (held) {
        onEdit(points, { finished: true, same: true });
        held = null;
      } else {
        const n = nearest(cursor, SIZE);
        if (n >= 0) [held, cursor] = [{ n }, points[n].slice(0, 2)];
      }
    } else if (event.key === "Delete" || event.key === "Backspace") {
      const n = nearest(cursor, SIZE);
      if (n >= 0) remove(n);
    } else {
      return;
    }
    event.preventDefault();
    showCross();
  }

  return element;
}

/** A view that has all points and a margin around them; a `square` has one unit for both axes. */
function fitted(points, square) {
  const view = [];
  for (const c of [0, 1]) {
    const values = points.map((point) => point[c]);
    const low = Math.min(...values, 0);
    const high = Math.max(...values, 0);
    const extra = Math.max(0.12 * (high - low), 0.3);
    view.push(low - extra, high + extra);
  }
  if (!square) return view;
  const [width, height] = [view[1] - view[0], view[3] - view[2]];
  const grow = (from, by) => [view[from] - by / 2, view[from + 1] + by / 2];
  if (width > height) [view[2], view[3]] = grow(2, width - height);
  else [view[0], view[1]] = grow(0, height - width);
  return view;
}

export { CLASS_COLOURS };
