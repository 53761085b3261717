// LASVM: a stream of clicks, processed and reprocessed; or a pool of which the machine asks.
import { button, choice, select, slider } from "../controls.js";
import { clear, h, latest, s, shown } from "../dom.js";
import { chart, range } from "../plot.js";
import { plane as makePlane } from "../points.js";
import { HINT, facts, requestOf, samplePanel } from "../samples.js";
import { stepper } from "../stepper.js";
import { colourOf, contour, picture, sampled } from "../surface.js";

const GRID = 49;

export function mount(root, lab) {
  const state = lab.state;
  let found = null;
  const active = () => (lab.state.mode ?? "clicks") === "active";

  const plane = makePlane({
    label: "Decision boundary (solid), margins (dashed), support vectors (ringed)",
    onEdit: lab.recorded ? null : edited,
    onPick: lab.recorded ? null : (i) => pick(i),
  });
  const panel = samplePanel({ lab, plane, onChange: () => { lab.keep({ asked: [], step: null }); ask(); }, most: 120, usual: 60 });
  const change = (key) => (value) => {
    lab.keep({ [key]: value, step: null });
    ask();
  };
  const mode = choice({
    label: "mode",
    options: [["clicks", "Stream of clicks", "every point is learned in the order in which it was put down"], ["active", "Active learning", "the machine asks for the labels it wants"]],
    value: state.mode ?? "clicks",
    onChange: (value) => { lab.keep({ mode: value, asked: [], step: null }); ask(); },
  });
  const controls = h(
    "div",
    { class: "controls", role: "group", "aria-label": "machine" },
    mode,
    select({ label: "kernel", options: [["rbf", "Gaussian"], ["linear", "linear"]], value: state.kernel ?? "rbf", onChange: change("kernel") }),
    slider({ label: "γ", low: 0.05, high: 20, log: true, value: state.gamma ?? 1, onChange: change("gamma") }),
    slider({ label: "C", low: 0.01, high: 1000, log: true, value: state.C ?? 10, onChange: change("C") }),
    slider({ label: "reprocess steps", low: 0, high: 5, step: 1, value: state.reprocess ?? 1, onChange: change("reprocess") }),
    select({ label: "partner by", options: [["second_order", "gain"], ["mvp", "violation"]], value: state.selection ?? "second_order", onChange: change("selection") }),
    select({ label: "budget", options: [["", "none"], ["4", "4"], ["8", "8"], ["16", "16"]], value: state.budget ? String(state.budget) : "", onChange: (value) => change("budget")(value ? Number(value) : null) }),
  );
  const reply = button("Answer the query", () => answerQueries(1), { title: "give the label of the point the machine asks for" });
  const replies = button("Answer 5", () => answerQueries(5));
  const asking = h("div", { class: "controls", role: "group", "aria-label": "queries" }, reply, replies,
    select({ label: "asks for", options: [["margin", "the nearest to the boundary"], ["random", "a random one"]], value: state.querying ?? "margin", onChange: change("querying") }));
  const steps = stepper({ onStep: (k) => { lab.keep({ step: k }); draw(); }, stopName: "Next point", perSecond: 2 });
  const said = h("p", { class: "said", role: "status", "aria-live": "polite" });
  const numbers = facts("the machine");
  const members = h("tbody");
  const set = h("table", { class: "listing" }, h("thead", {}, h("tr", {}, ["point", "α", "at"].map((text) => h("th", { scope: "col" }, text)))), members);
  const dual = chart({ label: "Dual value", xLabel: "part of the work", yLabel: "dual value" });
  const size = chart({ label: "Size of the support set", xLabel: "part of the work", yLabel: "members", height: 150 });
  const learned = chart({ label: "Share of the pool classified correctly, by labels known", xLabel: "labels", yLabel: "accuracy", height: 170 });
  const note = h("p", { class: "note" });
  root.append(
    ...(lab.recorded ? [] : [panel, controls, asking]), steps, said,
    h("div", { class: "columns" },
      h("section", { class: "panel" }, plane, note),
      h("section", { class: "panel" }, numbers, learned, dual),
      h("section", { class: "panel" }, h("h2", {}, "Support set"), h("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "support set" }, set), size),
    ),
  );

  const put = latest((request) => lab.ask("online", request), take, (error) => lab.tell(error.message));
  let onwards = 0;
  function ask() {
    put(requestOf(lab.state));
  }
  function edited(points) {
    lab.keep({ step: null });
    panel.edited(points);
  }
  function pick(i) {
    if (!active() || found.order.includes(i)) return false;
    lab.keep({ asked: [...found.order, i], step: null });
    ask();
    return true;
  }
  function answerQueries(count) {
    if (!active() || found.query === null) return;
    onwards = count - 1;
    pick(found.query);
  }

  function take(answer) {
    lab.tell(null);
    found = answer;
    panel.take(found.points);
    lab.code(found.code);
    asking.hidden = !active();
    panel.editing(!active());
    note.textContent = lab.recorded ? "" : active() ? "Hollow points have unknown labels; click one to give its label yourself, or answer the query (large ring)." : HINT;
    const starts = found.frames.map((frame, k) => [frame, k]).filter(([frame]) => frame.kind === "process").map(([, k]) => k);
    steps.setLast(found.frames.length - 1, starts);
    steps.go(Math.min(lab.state.step ?? found.frames.length - 1, found.frames.length - 1), true);
    draw();
    if (onwards > 0 && found.query !== null) {
      onwards -= 1;
      pick(found.query);
    }
  }

  function draw() {
    const k = steps.step;
    const frame = found.frames[k];
    const alpha = new Map(frame.members.map((number, place) => [found.order[number], frame.alpha[place]]));
    const current = frame.example === null ? null : found.order[frame.example];
    const seen = new Set(found.order.slice(0, frame.example === null ? 0 : frame.example + 1));
    const last = k === found.frames.length - 1;
    said.textContent = sentence(frame) + (active() && last && found.query !== null ? ` The machine asks for the label of point ${found.query}.` : "");
    numbers.show([
      ["seen", "points seen", seen.size],
      ["members", "support set", frame.members.length],
      ["dual", "dual value", frame.dual],
      ["violation", "largest violation in the set", frame.violation],
      ["gap", "gap of the set", frame.gap],
      ["bias", "b", frame.bias],
      ["steps", "steps so far", frame.steps],
      ...(active() && seen.size ? [["accuracy", "correct in the pool", found.accuracies[seen.size - 1], `${(100 * found.accuracies[seen.size - 1]).toFixed(1)} %`]] : []),
    ]);
    plane.show(found.points, (i) => ({
      class: `${alpha.has(i) ? "ring" : ""} ${seen.has(i) ? "" : active() ? "hollow" : "faded"}`,
      unknown: active() && !seen.has(i),
      r: alpha.has(i) ? 6.5 : 4.5,
      title: `point ${i}${alpha.has(i) ? `, α = ${shown(alpha.get(i))}` : seen.has(i) ? ", seen" : ", not yet seen"}`,
    }));
    drawFunction(frame);
    const rings = [];
    if (current !== null) rings.push(halo(current, "halo", 14));
    for (const [number] of frame.moved) if (found.order[number] !== current) rings.push(halo(found.order[number], "partner", 12));
    if (active() && last && found.query !== null) rings.push(halo(found.query, "query", 17));
    clear(plane.front, rings);
    clear(members, frame.members.map((number, place) => {
      const i = found.order[number];
      const value = frame.alpha[place];
      return h("tr", {}, h("td", {}, `${found.points[i][2] > 0 ? "■" : "●"} ${i}`), h("td", { "data-alpha": i, "data-value": String(value) }, shown(value)), h("td", {}, value === 0 ? "0" : Math.abs(value) >= found.C ? "C" : "free"));
    }));
    drawCharts(k);
  }

  function halo(i, kind, r) {
    return s("circle", { class: kind, cx: plane.x(found.points[i][0]), cy: plane.y(found.points[i][1]), r });
  }

  /** The function of the coefficients given. */
  function drawFunction(frame) {
    if (!frame.members.length) return clear(plane.back);
    const centres = frame.members.map((number, place) => [...found.points[found.order[number]], frame.alpha[place]]);
    const kernel = found.kernel === "rbf" ? (a, b, x, y) => Math.exp(-found.gamma * ((a - x) ** 2 + (b - y) ** 2)) : (a, b, x, y) => a * x + b * y;
    const f = (x, y) => centres.reduce((sum, [a, b, , alpha]) => sum + alpha * kernel(a, b, x, y), frame.bias);
    const values = sampled(f, plane.box, GRID);
    const [plus, minus] = [colourOf("--plus-field"), colourOf("--minus-field")];
    const [x0, x1, y0, y1] = plane.box;
    const mx = (column) => plane.x(x0 + ((x1 - x0) * column) / (GRID - 1));
    const my = (row) => plane.y(y0 + ((y1 - y0) * row) / (GRID - 1));
    const line = (level, extra) => s("path", { class: `line ${extra}`, d: contour(values, level, mx, my) });
    clear(plane.back, picture(values, (v) => [...(v > 0 ? plus : minus), 255 * Math.min(1, 0.25 + Math.abs(v))], [plane.x(x0), plane.x(x1), plane.y(y0), plane.y(y1)]), line(1, "dash plus"), line(-1, "dash minus"), line(0, "wide"));
  }

  function sentence(frame) {
    if (frame.kind === "start") return "Before the first point: the support set is empty.";
    const i = found.order[frame.example];
    const names = (list) => list.map((number) => found.order[number]).join(", ");
    const moved = frame.moved.filter(([number]) => number !== frame.example).map(([number]) => number);
    if (frame.kind === "process") {
      if (!frame.inserted.length) return `Process point ${i}: it violates nothing, and is forgotten.`;
      if (!frame.moved.length) return `Process point ${i}: it joins the set with α = 0 and waits for a partner.`;
      return `Process point ${i}: it joins the set, and a step with partner ${names(moved)} gives it α = ${shown(frame.moved.find(([number]) => number === frame.example)[2])}.`;
    }
    if (frame.kind === "evict") return `The set is larger than the budget: point ${names(frame.removed)} leaves and hands its α to the most similar one.`;
    const left = frame.removed.length ? ` Point${frame.removed.length > 1 ? "s" : ""} ${names(frame.removed)} at α = 0 became useless and leave${frame.removed.length > 1 ? "" : "s"}.` : "";
    if (!frame.moved.length) return `Reprocess after point ${i}: no pair of the set violates optimality by more than the tolerance.${left}`;
    return `Reprocess after point ${i}: a step of the pair ${names(frame.moved.map(([number]) => number))}.${left}`;
  }

  function drawCharts(k) {
    const of = (key) => found.frames.map((frame, at) => [at, key(frame)]);
    const duals = of((frame) => frame.dual);
    const sizes = of((frame) => frame.members.length);
    const x = [0, Math.max(1, found.frames.length - 1)];
    dual.draw({ x, y: range(duals.map(([, value]) => value)), cursor: k, series: [{ class: "minus", points: duals }] });
    learned.hidden = !active();
    if (active()) learned.draw({ x: [0, Math.max(2, found.order.length)], y: [0, 1.03], cursor: (found.frames[k].example ?? -1) + 1, series: [{ class: "third", points: found.accuracies.map((value, at) => [at + 1, value]) }] });
    size.draw({ x, y: [0, 1.1 * Math.max(1, ...sizes.map(([, value]) => value))], cursor: k, series: [{ class: "gold", points: sizes, step: true }] });
  }

  ask();
  return () => steps.close();
}
