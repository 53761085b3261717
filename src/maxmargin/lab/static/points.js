// The plane: points of two classes that can be put down, moved and deleted, by pointer and by keys.
import { clear, h, s, set } from "./dom.js";
import { scale, ticks } from "./plot.js";

const SIZE = 420;
const EDGE = 26;

const KEYS = "Arrow keys move a cross, Enter puts down a point, Backspace deletes the nearest one, c changes the class.";

/**
 * A square plane. `onEdit(points)` gets the rows [x₁, x₂, class] after a change by hand; without
 * it the points stay where they are. `onPick(i)` is told first of a click on point i, and may
 * return true to have it. `.pen` is the class that a click puts down, or 0 to delete.
 * `.fixed = true` forbids editing for a while. Returns the element with `.fit(points)`, `.show(points, look)`, `.back`, `.front`, `.x`, `.y`.
 */
export function plane({ label, onEdit = null, onPick = null }) {
  const back = s("g");
  const marks = s("g");
  const front = s("g");
  const cross = s("path", { class: "cross", visibility: "hidden" });
  const axes = s("g");
  const clip = s("clipPath", { id: "plane-clip" }, s("rect", { x: EDGE, y: 6, width: SIZE - EDGE - 6, height: SIZE - EDGE - 6 }));
  const root = s(
    "svg",
    { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "chart square", role: onEdit ? "application" : "img", "aria-label": onEdit ? `${label}. ${KEYS}` : label, tabindex: onEdit ? "0" : null, "data-own-keys": onEdit !== null },
    clip, s("g", { "clip-path": "url(#plane-clip)" }, back), axes, s("g", { "clip-path": "url(#plane-clip)" }, marks, front, cross),
  );
  const element = h("figure", { class: "plot" }, h("figcaption", {}, label), root);
  let points = [];
  let look = () => ({});
  let held = null;
  let at = null;
  element.pen = 1;
  element.fixed = false;
  const editable = () => onEdit && !element.fixed;

  element.view = (rows, least = 0.5) => {
    const spans = [0, 1].map((k) => {
      const values = rows.map((row) => row[k]);
      const low = values.length ? Math.min(...values) : -2;
      const high = values.length ? Math.max(...values) : 2;
      return [(low + high) / 2, (high - low) / 2];
    });
    const reach = 1.12 * Math.max(spans[0][1], spans[1][1], least);
    element.x = scale(spans[0][0] - reach, spans[0][0] + reach, EDGE, SIZE - 6);
    element.y = scale(spans[1][0] - reach, spans[1][0] + reach, SIZE - EDGE, 6);
    element.reach = reach;
    element.box = [spans[0][0] - reach, spans[0][0] + reach, spans[1][0] - reach, spans[1][0] + reach];
    const [x0, x1, y0, y1] = element.box;
    clear(
      axes,
      s("rect", { class: "frame", x: EDGE, y: 6, width: SIZE - EDGE - 6, height: SIZE - EDGE - 6 }),
      ticks(x0, x1).map((v) => s("text", { class: "tick", x: element.x(v), y: SIZE - 10, "text-anchor": "middle" }, String(v).replace("-", "−"))),
      ticks(y0, y1).map((v) => s("text", { class: "tick", x: EDGE - 4, y: element.y(v) + 4, "text-anchor": "end" }, String(v).replace("-", "−"))),
    );
  };

  /** Show all points; where `keep`, a view that has them all stays. */
  element.fit = (rows, keep) => {
    const [x0, x1, y0, y1] = element.box;
    const inside = rows.every(([x, y]) => x >= x0 && x <= x1 && y >= y0 && y <= y1);
    if (!keep || !inside) element.view(rows, keep ? 2 : 0.5);
  };

  /** Draw the points; `look(i)` may give {class, r, title, unknown} of each. */
  element.show = (rows, appearance = () => ({})) => {
    points = rows;
    look = appearance;
    clear(marks, rows.map((row, i) => point(row, { "data-point": i, ...look(i) })));
  };

  function point([x1, x2, label], { class: extra = "", r = 5, title = null, unknown = false, ...rest }) {
    const [cx, cy] = [element.x(x1), element.y(x2)];
    const attributes = { class: `dot ${label > 0 ? "plus" : "minus"} ${extra}`, ...rest };
    const round = label < 0 || unknown;
    const mark = round ? s("circle", { ...attributes, cx, cy, r }) : s("rect", { ...attributes, x: cx - 0.9 * r, y: cy - 0.9 * r, width: 1.8 * r, height: 1.8 * r });
    if (title) mark.append(s("title", {}, title));
    return mark;
  }

  element.at = (event) => {
    const box = root.getBoundingClientRect();
    const px = ((event.clientX - box.left) / box.width) * SIZE;
    const py = ((event.clientY - box.top) / box.height) * SIZE;
    return [px, py];
  };
  const round = (v) => Number(v.toFixed(3));
  const place = ([px, py]) => [round(element.x.back(px)), round(element.y.back(py))];
  const nearest = ([px, py], within) => {
    const far = points.map(([a, b]) => Math.hypot(element.x(a) - px, element.y(b) - py));
    const best = far.indexOf(Math.min(...far));
    return best >= 0 && far[best] <= within ? best : null;
  };
  const edit = (rows) => {
    element.show(rows, look);
    onEdit(rows);
  };
  const remove = (i) => edit(points.filter((_, k) => k !== i));

  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const where = element.at(event);
    const i = nearest(where, 12);
    if (onPick && i !== null && onPick(i)) return;
    if (!editable()) return;
    if ((event.shiftKey || element.pen === 0) && i !== null) return remove(i);
    if (element.pen === 0) return;
    held = { i, moved: false };
    root.setPointerCapture(event.pointerId);
  });
  root.addEventListener("pointermove", (event) => {
    if (!held || held.i === null) return;
    const where = place(element.at(event));
    held.moved = true;
    const rows = points.map((row, k) => (k === held.i ? [...where, row[2]] : row));
    element.show(rows, look);
    held.rows = rows;
  });
  root.addEventListener("pointerup", (event) => {
    if (!held) return;
    const { i, moved, rows } = held;
    held = null;
    if (i === null) edit([...points, [...place(element.at(event)), element.pen]]);
    else if (moved) edit(rows);
  });
  root.addEventListener("pointercancel", () => (held = null));
  root.addEventListener("contextmenu", (event) => {
    if (!editable()) return;
    event.preventDefault();
    const i = nearest(element.at(event), 14);
    if (i !== null) remove(i);
  });

  const MOVES = { ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -8], ArrowDown: [0, 8] };
  root.addEventListener("keydown", (event) => {
    if (!editable()) return;
    at ??= [SIZE / 2, SIZE / 2];
    if (MOVES[event.key]) at = at.map((v, k) => Math.max(EDGE, Math.min(SIZE - EDGE, v + MOVES[event.key][k])));
    else if (event.key === "Enter" && element.pen !== 0) edit([...points, [...place(at), element.pen]]);
    else if (["Enter", "Backspace", "Delete"].includes(event.key)) {
      const i = nearest(at, 30);
      if (i !== null) remove(i);
    } else if (event.key === "c") element.onPen?.(element.pen > 0 ? -1 : 1);
    else return;
    event.preventDefault();
    set(cross, { d: `M${at[0] - 9} ${at[1]}h18M${at[0]} ${at[1] - 9}v18`, visibility: "visible" });
  });

  element.back = back;
  element.front = front;
  element.svg = root;
  element.view([]);
  return element;
}

/** The part of the line a·x + b·y + c = 0 inside a box, as two points; null if it misses it. */
export function cut([a, b, c], [x0, x1, y0, y1]) {
  const ends = [];
  if (b !== 0) for (const x of [x0, x1]) ends.push([x, -(a * x + c) / b]);
  if (a !== 0) for (const y of [y0, y1]) ends.push([-(b * y + c) / a, y]);
  const tiny = 1e-9 * (x1 - x0);
  const inside = ends.filter(([x, y]) => x >= x0 - tiny && x <= x1 + tiny && y >= y0 - tiny && y <= y1 + tiny);
  inside.sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  return inside.length >= 2 ? [inside[0], inside[inside.length - 1]] : null;
}
