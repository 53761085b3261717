// The main room: points, machine, and every step of the solver.
import { unpacked } from "../arrays.js";
import { bars, gradients } from "../bars.js";
import { onTheme } from "../canvas.js";
import { select } from "../controls.js";
import { clear, framed, h, latest, set, shown } from "../dom.js";
import { field } from "../field.js";
import { chart, logRange, range } from "../plot.js";
import { box } from "../smo/box.js";
import { data } from "../smo/data.js";
import { gram } from "../smo/gram.js";
import { reasons } from "../smo/reasons.js";
import { settings } from "../smo/settings.js";
import { stepper } from "../stepper.js";

const REGRESSIONS = ["epsilon_svr", "ridge"];
const FIGURES = [
  ["dual", "dual value"],
  ["primal", "primal value"],
  ["gap", "duality gap"],
  ["violation", "largest violation ψ"],
  ["support", "support vectors"],
  ["free", "free variables"],
  ["intercept", "intercept"],
];

export function mount(root, lab) {
  const state = lab.state;
  let trace = null; // the steps, once they are there
  let machines = []; // what the plane shows while a slider moves
  let warm = null; // α of the last answer, to start from

  const plane = field({ label: "points and decision boundary", editable: !lab.recorded, onEdit: edited });
  const sources = lab.recorded ? null : data(lab, { onRequest: replaced, onTool: (tool) => (plane.tool = tool) });
  const controls = lab.recorded ? null : settings(lab, { onMove: framed(quickly), onSet: thoroughly });
  const tasks = select({ label: "machine of classes", options: [], value: "0", onChange: (task) => { lab.keep({ task: Number(task) }); thoroughly(); } });
  const steps = stepper({ onStep: (k) => { lab.keep({ step: k === trace.last ? null : k }); draw(k); }, stopName: "next Newton step" });
  const why = reasons();
  const plot = box();
  const alphas = bars({ label: "α of every variable between its bounds" });
  const slopes = gradients({ label: "gradient G: ▲ may rise, ▼ may fall, ◆ both; solid line: largest that may rise, dashed: smallest that may fall" });
  const values = chart({ label: "primal and dual value", xLabel: "step" });
  const errors = chart({ label: "duality gap and violation", xLabel: "step" });
  const matrix = gram();
  const figures = h("table", { class: "figures" });
  const hint = lab.recorded ? null : h("p", { class: "note" }, "Click to put down a point, drag to move one, shift and click to delete it.");
  const summary = h("p", { class: "note", role: "status", "data-value": "summary" });
  const detail = h("div", { class: "columns" });
  const reason = h("div", { class: "why" }, h("h2", {}, "Why this pair"), why);

  detail.append(
    h("section", { class: "panel" }, alphas, slopes),
    h("section", { class: "panel" }, values, errors),
    h("section", { class: "panel" }, matrix),
  );
  root.append(
    ...[sources, controls].filter(Boolean),
    steps,
    h("div", { class: "stage" }, h("section", { class: "panel plane" }, ...[plane, hint, tasks].filter(Boolean)), h("section", { class: "panel side" }, h("div", { class: "facts" }, h("div", {}, figures, summary), plot), reason)),
    detail,
  );
  tasks.hidden = true;

  const solve = latest((request) => lab.ask("smo", request), showMachines, failed);
  const follow = latest((request) => lab.ask("smo", request), showTrace, failed);
  const ended = onTheme(() => redraw());

  function failed(error) {
    lab.tell(error.message);
  }

  const request = (action) => {
    const { step, ...fields } = state;
    return { ...fields, action };
  };

  /** A slider or a point moves: the machine at once, from where the last one was. */
  function quickly() {
    if (!state.points.length) return;
    solve({ ...request("solve"), start: warm });
  }

  /** Something stands: the machine, and all steps to it. */
  function thoroughly() {
    lab.tell(null);
    if (!state.points.length) {
      clear(summary, "Put down some points.");
      return;
    }
    if (!lab.recorded) solve(request("solve"));
    follow(request("trace"));
  }

  function edited(points, { finished, same }) {
    if (!same) warm = null;
    lab.keep({ points, step: null, example: "" });
    if (finished) thoroughly();
    else if (same) framed(quickly)();
  }

  function replaced(fields) {
    warm = null;
    lab.keep({ task: 0, step: null, face: true, selection: "second_order", ...fields });
    controls.read();
    plane.setPoints(state.points, true, !regression());
    if (!state.points.length) {
      plane.show([], {});
      showNothing();
    }
    thoroughly();
  }

  function showNothing() {
    trace = null;
    for (const part of [detail, steps, plot, reason]) set(part, { hidden: true });
    clear(figures);
  }

  // ---- answers ------------------------------------------------------------------------------

  const about = () => ({ name: state.kernel ?? "gaussian", gamma: state.gamma ?? 1, degree: state.degree ?? 3 });
  const regression = () => REGRESSIONS.includes(state.machine);
  const look = (marked) => ({ regression: regression(), epsilon: state.machine === "epsilon_svr" ? (state.epsilon ?? 0.1) : 0, marked });

  /** What a request is about, whatever is asked of it. */
  const subject = ({ action, start, step, ...fields }) => JSON.stringify(fields);

  function showMachines(found, asked) {
    if (found.points !== state.points.length) return;
    warm = found.alpha;
    machines = found.machines.map((one) => ({ ...one, points: one.samples.map((n) => state.points[n]) }));
    // Its steps may be there already: they tell more.
    if (trace?.subject === subject(asked)) {
      draw(steps.step);
      return;
    }
    lab.code(found.code);
    drawMachines();
    const one = found.machines[0];
    clear(figures, FIGURES.filter(([name]) => one[name] !== undefined).map(([name, label]) => row(name, label, one[name])));
    clear(summary, `${one.status}: ${one.meaning}; ${shown(one.steps)} steps in ${shown(1000 * one.seconds, 3)} ms${found.machines.length > 1 ? ` (the first of ${found.machines.length} machines)` : ""}.`);
  }

  function drawMachines() {
    const support = new Set();
    for (const one of machines) one.coef.forEach((c, n) => c && support.add(one.samples[n]));
    plane.show(machines, about(), look((n) => ({ support: support.has(n) })));
  }

  function showTrace(found, asked) {
    // Something may have changed meanwhile; its own answer is on the way.
    if (subject(asked) !== subject(state)) return;
    const unpack = (name) => (found[name] ? unpacked(found[name]) : null);
    trace = {
      ...found,
      subject: subject(asked),
      last: found.steps.length,
      alpha: unpack("alpha"),
      gradient: unpack("gradient"),
      samplesLeft: unpack("samples_left"),
      rowsCached: unpack("rows_cached"),
      gram: unpack("gram"),
      samples: found.machine.samples,
      firstUse: firstUse(found),
    };
    tasks.hidden = found.tasks.length < 2;
    tasks.fill(found.tasks.map((pair, k) => [String(k), pair ? `${pair[0]} and ${pair[1]}` : "all"]), String(state.task ?? 0));
    lab.code(found.code);
    for (const part of [detail, steps, plot, reason]) set(part, { hidden: false });
    const newton = found.steps.map((step, k) => (step.kind === "face" ? k + 1 : 0)).filter(Boolean);
    steps.setLast(trace.last, newton);
    steps.go(state.step ?? trace.last, true);
    draw(steps.step);
  }

  /** The step before which each sample's row was first needed. */
  function firstUse(found) {
    const first = new Map();
    const n = found.machine.samples.length;
    found.steps.forEach((step, k) => {
      for (const a of step.pair ?? []) if (!first.has(a % n)) first.set(a % n, k + 1);
    });
    return first;
  }

  // ---- one step -----------------------------------------------------------------------------

  function draw(k) {
    const { steps: all, states, samples, copies, lower, upper } = trace;
    const n = samples.length;
    const step = k ? all[k - 1] : null;
    const now = states[k];
    const alpha = Array.from(trace.alpha.row(k));
    const left = trace.samplesLeft.row(k);
    const cached = trace.rowsCached.row(k);
    const pair = step?.pair ?? null;
    const classOf = (a) => (regression() ? (a < n ? 1 : 0) : state.points[samples[a % n]][2]);
    const atUpper = (a) => upper[a] !== null && alpha[a] >= Math.fround(upper[a]);
    const atLower = (a) => lower[a] !== null && alpha[a] <= Math.fround(lower[a]);
    const coef = samples.map((_, s) => alpha[s] + (copies > 1 ? alpha[s + n] : 0));
    const place = new Map(samples.map((sample, s) => [sample, s]));
    drawPlane(coef, now, pair, left, place, (s) => [s, s + n].slice(0, copies).some((a) => alpha[a] !== 0 && (atUpper(a) || atLower(a))));
    const classes = alpha.map((_, a) => classOf(a));
    const faded = (a) => !left[a % n];
    alphas.draw({ values: alpha, lower, upper, classes, pair, faded });
    slopes.draw({ values: Array.from(trace.gradient.row(k)), rises: (a) => !atUpper(a), falls: (a) => !atLower(a), classes, top: now.top, bottom: now.bottom, pair, faded });
    why.draw(step, state.selection ?? "second_order");
    plot.draw(step, pair?.map((a) => [lower[a], upper[a]]));
    drawCharts(k);
    const evaluations = step?.evaluations ?? 0;
    const rows = cached.reduce((sum, value) => sum + value, 0);
    matrix.draw(trace.gram, {
      used: (s) => (trace.firstUse.get(s) ?? Infinity) <= k,
      cached: (s) => rows < n && cached[s],
      pair: pair?.map((a) => a % n) ?? null,
      text: `${shown(evaluations)} of ${shown((n * (n + 1)) / 2)} kernel values used so far; ${rows} of ${n} rows in memory; ${left.reduce((sum, value) => sum + value, 0)} of ${n} samples left by shrinking.`,
    });
    clear(figures, FIGURES.map(([name, label]) => row(name, label, now[name])), row("evaluations", "kernel values used", evaluations));
    tellEnd(k);
  }

  function drawPlane(coef, now, pair, left, place, isBound) {
    // At the end, all machines of three classes vote.
    if (steps.step === trace.last && trace.tasks.length > 1 && machines.length > 1) {
      drawMachines();
      return;
    }
    const n = trace.samples.length;
    const one = { points: trace.samples.map((sample) => state.points[sample]), coef, intercept: now.intercept, classes: trace.machine.classes };
    plane.show([one], about(), look((sample) => {
      const s = place.get(sample);
      if (s === undefined) return { faded: true };
      const names = (pair ?? []).map((a, k) => (a % n === s ? "ij"[k] : "")).join("");
      return { support: coef[s] !== 0, bound: isBound(s), faded: !left[s], pair: names || null };
    }));
  }

  function drawCharts(k) {
    const { states } = trace;
    const line = (name) => states.map((one, n) => [n, one[name]]);
    const known = (name) => states.map((one) => one[name]).filter((value) => value !== null);
    const x = [0, Math.max(1, trace.last)];
    const duals = known("dual");
    // The primal value begins far out; what matters is near the optimum.
    const top = Math.min(Math.max(...known("primal"), ...duals), Math.max(...duals) + 1.5 * (Math.max(...duals) - Math.min(...duals) || 1));
    values.draw({ x, y: range([...duals, top]), series: [{ name: "primal", class: "plus", points: line("primal") }, { name: "dual", class: "minus", points: line("dual") }], cursor: k });
    errors.draw({ x, y: logRange([...known("gap"), ...known("violation")]), logY: true, series: [{ name: "gap", class: "extra", points: line("gap") }, { name: "violation", class: "third", dashed: true, points: line("violation") }], cursor: k });
  }

  function tellEnd(k) {
    const { machine } = trace;
    if (k < trace.last) clear(summary, `step ${k} of ${trace.last}${trace.more ? " (the run is longer: its first steps are shown)" : ""}`);
    else clear(summary, `${machine.status}: ${machine.meaning}. ${trace.plan}.`);
  }

  function row(name, label, value) {
    return h("tr", {}, h("th", { scope: "row" }, label), h("td", { "data-value": name, "data-exact": value ?? "" }, shown(value, 7)));
  }

  function redraw() {
    if (trace) draw(steps.step);
    else drawMachines();
  }

  plane.setPoints(state.points, true, !regression());
  showNothing();
  thoroughly();
  return () => {
    ended();
    steps.close();
  };
}
