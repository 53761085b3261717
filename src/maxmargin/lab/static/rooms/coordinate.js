// Dual coordinate descent: the sample at hand, its step, w turning, and what every epoch achieved.
import { select, slider, toggle } from "../controls.js";
import { clear, h, latest, s, shown } from "../dom.js";
import { chart, logRange, range } from "../plot.js";
import { cut, plane as makePlane } from "../points.js";
import { HINT, facts, requestOf, samplePanel } from "../samples.js";
import { stepper } from "../stepper.js";

export function mount(root, lab) {
  const state = lab.state;
  let found = null;

  const plane = makePlane({ label: "w · x + b = 0 (solid) and the margins ±1 (dashed)", onEdit: lab.recorded ? null : (points) => panel.edited(points) });
  const panel = samplePanel({ lab, plane, onChange: ask, most: 100, usual: 30 });
  const change = (key) => (value) => {
    lab.keep({ [key]: value });
    ask();
  };
  const controls = h(
    "div",
    { class: "controls", role: "group", "aria-label": "method" },
    select({ label: "loss", options: [["hinge", "hinge"], ["squared_hinge", "squared hinge"]], value: state.loss ?? "hinge", onChange: change("loss") }),
    slider({ label: "C", low: 0.001, high: 1000, log: true, value: state.C ?? 1, onChange: change("C") }),
    select({ label: "order", options: [["permutation", "random"], ["cyclic", "cyclic"]], value: state.order ?? "permutation", onChange: change("order") }),
    toggle({ label: "shrinking", value: state.shrinking ?? true, onChange: change("shrinking") }),
    toggle({ label: "intercept", value: (state.intercept ?? "penalised") !== "none", onChange: (on) => change("intercept")(on ? "penalised" : "none") }),
    select({ label: "stop by", options: [["range", "range of the gradient"], ["step", "‖Δw‖"]], value: state.stop ?? "range", onChange: change("stop") }),
    slider({ label: "tolerance", low: 1e-6, high: 0.1, log: true, value: state.tol ?? 1e-3, onChange: change("tol") }),
  );
  const steps = stepper({ onStep: (k) => { lab.keep({ step: k }); draw(); }, stopName: "Next epoch", perSecond: 8 });
  const said = h("p", { class: "said", role: "status", "aria-live": "polite" });
  const numbers = facts("the step");
  const bars = s("svg", { class: "chart beta-bars", role: "img", "aria-label": "dual variables of all samples" });
  const perEpoch = chart({ label: "Per epoch: ‖Δw‖ and range of the projected gradient", xLabel: "epoch", yLabel: "" });
  const gap = chart({ label: "Primal and dual value", xLabel: "step", yLabel: "" });
  const active = chart({ label: "Samples that are not shrunk", xLabel: "step", yLabel: "samples", height: 150 });
  root.append(
    ...(lab.recorded ? [] : [panel, controls]), steps, said,
    h("div", { class: "columns" },
      h("section", { class: "panel" }, plane, lab.recorded ? null : h("p", { class: "note" }, HINT)),
      h("section", { class: "panel" }, numbers, h("figure", { class: "plot" }, h("figcaption", {}, "|β| of each sample (a full bar is at its bound C)"), bars)),
      h("section", { class: "panel" }, perEpoch, gap, active),
    ),
  );

  const put = latest((request) => lab.ask("coordinate", request), take, (error) => lab.tell(error.message));
  function ask() {
    put(requestOf(lab.state));
  }

  function take(answer) {
    lab.tell(null);
    found = answer;
    found.betas = histories(answer);
    panel.take(found.points);
    lab.code(found.code);
    steps.setLast(found.steps.length, found.epochs.map((epoch) => epoch.last));
    steps.go(Math.min(lab.state.step ?? found.epochs[0].last, found.steps.length));
  }

  function draw() {
    const k = steps.step;
    const now = k === 0 ? { ...found.start, sample: null, active: found.points.length } : found.steps[k - 1];
    const epoch = found.epochs.findIndex((one) => k <= one.last);
    const beta = betasAt(found.betas, k);
    const shrunk = shrunkAt(found, k);
    said.textContent = sentence(now, epoch);
    numbers.show([
      ["epoch", "epoch", k === 0 ? 0 : epoch + 1],
      ["sample", "sample", now.sample],
      ["gradient", "projected gradient", now.gradient],
      ["before", "β before", now.before],
      ["after", "β after", now.after],
      ["w1", "w₁", now.w[0]],
      ["w2", "w₂", now.w[1]],
      ["b", "b", now.b],
      ["turned", "‖Δw‖ of the step", now.turned],
      ["primal", "primal value", now.primal],
      ["gap", "duality gap", now.gap],
      ["active", "samples not shrunk", now.active],
    ]);
    plane.show(found.points, (i) => ({
      class: `${shrunk.has(i) ? "faded" : ""} ${beta[i] !== 0 ? "ring" : ""}`,
      r: i === now.sample ? 9 : 5,
      title: `sample ${i}, β = ${shown(beta[i])}${shrunk.has(i) ? ", shrunk" : ""}`,
    }));
    clear(plane.front, picture(now, k), now.sample === null ? [] : halo(found.points[now.sample]));
    drawBars(beta, shrunk, now.sample);
    drawCharts(k, epoch);
  }

  function sentence(now, epoch) {
    if (now.sample === null) return "The start: all β = 0, so w = 0.";
    const who = `Epoch ${epoch + 1}, sample ${now.sample}: `;
    if (now.shrunk) return `${who}pushed against its bound harder than any other sample was pulled in the epoch before: left out for now (shrunk).`;
    if (now.gradient === 0) return `${who}its projected gradient is 0: nothing to gain here.`;
    const bound = found.bound !== null && Math.abs(now.after) === found.bound ? ", which is its bound C" : now.after === 0 ? ", which is its bound 0" : "";
    return `${who}projected gradient ${shown(now.gradient)}; the best β for it alone is ${shown(now.after)}${bound}, and w turns by ${shown(now.turned)}.`;
  }

  function halo([x, y]) {
    return s("circle", { class: "halo", cx: plane.x(x), cy: plane.y(y), r: 14 });
  }

  /** The line, its margins, and w as an arrow from the middle; the line before it, thin. */
  function picture(now, k) {
    const parts = [];
    const line = (w, b, extra) => {
      const ends = cut([w[0], w[1], b], plane.box);
      if (ends) parts.push(s("line", { class: extra, x1: plane.x(ends[0][0]), y1: plane.y(ends[0][1]), x2: plane.x(ends[1][0]), y2: plane.y(ends[1][1]) }));
    };
    const before = k >= 2 ? found.steps[k - 2] : found.start;
    if (k > 0) line(before.w, before.b, "line thin");
    line(now.w, now.b - 1, "line dash plus");
    line(now.w, now.b + 1, "line dash minus");
    line(now.w, now.b, "line wide");
    const length = Math.hypot(...now.w);
    if (length > 0) {
      const [x0, x1, y0, y1] = plane.box;
      const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
      const reach = Math.min(length, 0.45 * (x1 - x0)) / length;
      parts.push(s("line", { class: "arrow gold", x1: plane.x(cx), y1: plane.y(cy), x2: plane.x(cx + reach * now.w[0]), y2: plane.y(cy + reach * now.w[1]), "marker-end": "url(#tip)" }));
      parts.push(tip());
    }
    return parts;
  }

  function drawBars(beta, shrunk, current) {
    const n = beta.length;
    const most = found.bound ?? Math.max(...beta.map(Math.abs), 1e-9);
    const [width, height] = [420, 120];
    const wide = width / n;
    bars.setAttribute("viewBox", `0 0 ${width} ${height}`);
    clear(bars, beta.map((value, i) => {
      const high = (Math.abs(value) / most) * (height - 8);
      return [
        s("rect", { class: "barback", x: i * wide + 0.5, y: 4, width: Math.max(1, wide - 1), height: height - 8 }),
        s("rect", { class: `bar ${found.points[i][2] > 0 ? "plus" : "minus"} ${shrunk.has(i) ? "faded" : ""} ${i === current ? "ring" : ""}`, x: i * wide + 0.5, y: height - 4 - high, width: Math.max(1, wide - 1), height: high }, s("title", {}, `sample ${i}: β = ${shown(value)}`)),
      ];
    }).flat());
  }

  function drawCharts(k, epoch) {
    const of = (key) => found.epochs.map((one, i) => [i + 1, one[key]]);
    const all = [...of("change"), ...of("range")].map(([, value]) => value);
    perEpoch.draw({
      x: [0.5, found.epochs.length + 0.5], y: logRange(all), logY: true, cursor: k === 0 ? null : epoch + 1,
      series: [{ name: "‖Δw‖", class: "extra", points: of("change") }, { name: "range M − m", class: "third", points: of("range"), dashed: true }],
    });
    const values = [found.start, ...found.steps];
    const primal = values.map((one, i) => [i, one.primal]);
    const dual = values.map((one, i) => [i, one.primal - one.gap]);
    const settled = primal.slice(Math.min(primal.length - 1, found.points.length)).map(([, value]) => value);
    const [low, high] = range([...dual.map(([, v]) => v), ...settled]);
    gap.draw({ x: [0, found.steps.length], y: [low, high], cursor: k, series: [{ name: "primal", class: "plus", points: primal.map(([x, v]) => [x, v <= high ? v : null]) }, { name: "dual", class: "minus", points: dual, dashed: true }] });
    active.draw({ x: [0, found.steps.length], y: [0, found.points.length * 1.05], cursor: k, series: [{ class: "gold", points: values.map((one, i) => [i, one.active ?? found.points.length]), step: true }] });
  }

  ask();
  return () => steps.close();
}

function tip() {
  return s("defs", {}, s("marker", { id: "tip", viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, s("path", { class: "tip", d: "M0 0L10 5L0 10z" })));
}

/** For every sample the steps at which its β changed, and to what. */
function histories(answer) {
  const lists = answer.points.map(() => [[0, 0]]);
  answer.steps.forEach((step, k) => lists[step.sample].push([k + 1, step.after]));
  return lists;
}

function betasAt(lists, k) {
  return lists.map((list) => {
    let value = 0;
    for (const [when, after] of list) {
      if (when > k) break;
      value = after;
    }
    return value;
  });
}

/** Samples that are left out at step k: shrunk since all were back for the last time. */
function shrunkAt(found, k) {
  const out = new Set();
  let first = 0;
  for (const epoch of found.epochs) {
    for (let i = first; i < Math.min(epoch.last, k); i++) if (found.steps[i].shrunk) out.add(found.steps[i].sample);
    if (epoch.last >= k) return out;
    if (epoch.all_active_again) out.clear();
    first = epoch.last;
  }
  return out;
}
