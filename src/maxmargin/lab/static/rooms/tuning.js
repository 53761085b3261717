// Model selection: the landscape of an objective over log C and log γ, and a walk on it.
import { select, slider } from "../controls.js";
import { clear, h, latest, s, shown } from "../dom.js";
import { chart, range, scale } from "../plot.js";
import { plane as makePlane } from "../points.js";
import { HINT, facts, requestOf, samplePanel } from "../samples.js";
import { stepper } from "../stepper.js";
import { colourOf, contour, picture } from "../surface.js";

const OBJECTIVES = [
  ["likelihood", "held-out log-likelihood"],
  ["cross_validation", "cross-validation error"],
  ["span", "span bound"],
  ["radius_margin", "radius–margin quotient"],
  ["alignment", "kernel target alignment"],
];
const OPTIMISERS = [["irprop", "iRprop⁺"], ["rprop", "Rprop"], ["noisy", "NoisyRprop"], ["cma", "CMA-ES"], ["grid", "grid of 6 × 6"]];
// Error counts have no gradient; NoisyRprop is for the likelihood of random splits.
const suiting = (objective) => OPTIMISERS.filter(([key]) => (objective === "cross_validation" ? ["cma", "grid"].includes(key) : key !== "noisy" || objective === "likelihood"));
const EVALUATIONS = { irprop: 60, rprop: 60, noisy: 300, cma: 90, grid: 36 };
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [460, 380, 52, 36];

export function mount(root, lab) {
  const state = lab.state;
  let land = null;
  let walk = null;

  const plane = makePlane({ label: "The points", onEdit: lab.recorded ? null : (points) => panel.edited(points) });
  const panel = samplePanel({ lab, plane, onChange: askBoth, most: 120, usual: 60 });
  const objective = select({ label: "objective", options: OBJECTIVES, value: state.objective ?? "likelihood", onChange: (value) => { lab.keep({ objective: value, step: null }); suit(); askBoth(); } });
  const optimiser = select({ label: "optimiser", options: suiting(state.objective ?? "likelihood"), value: state.optimiser ?? "irprop", onChange: (value) => { lab.keep({ optimiser: value, evaluations: EVALUATIONS[value], step: null }); askWalk(); } });
  const move = () => { lab.keep({ log_C: startC.value, log_gamma: startGamma.value, step: null }); askWalk(); };
  const startC = slider({ label: "start at log₁₀ C", low: -2, high: 4, step: 0.05, value: state.log_C ?? 0, onChange: move });
  const startGamma = slider({ label: "log₁₀ γ", low: -2, high: 2, step: 0.05, value: state.log_gamma ?? -1, onChange: move });
  const controls = h("div", { class: "controls", role: "group", "aria-label": "search" }, objective, optimiser, startC, startGamma);
  const steps = stepper({ onStep: (k) => { lab.keep({ step: k }); draw(); }, perSecond: 8 });
  const said = h("p", { class: "said", role: "status", "aria-live": "polite" });
  const numbers = facts("the evaluation");
  const map = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart map", role: "img", "aria-label": "the objective over log C and log gamma, with the path of the optimiser" });
  const title = h("figcaption");
  const course = chart({ label: "Objective at each evaluation", xLabel: "evaluation", yLabel: "value" });
  root.append(
    ...(lab.recorded ? [] : [panel, controls]), steps, said,
    h("div", { class: "columns" },
      h("section", { class: "panel" }, h("figure", { class: "plot" }, title, map), lab.recorded ? null : h("p", { class: "note" }, "Click on the map to start there. Lighter is better; the star is the best of the grid, the ring the best of the walk.")),
      h("section", { class: "panel" }, numbers, course),
      h("section", { class: "panel" }, plane, lab.recorded ? null : h("p", { class: "note" }, HINT)),
    ),
  );

  const fail = (error) => lab.tell(error.message);
  const putBoth = latest((request) => lab.ask("tuning", request), takeBoth, fail);
  const putWalk = latest((request) => lab.ask("tuning", request), takeWalk, fail);
  function askBoth() {
    putBoth(requestOf(lab.state));
  }
  function askWalk() {
    putWalk({ ...requestOf(lab.state), action: "walk" });
  }

  /** The optimisers that the objective allows; the one at hand, if it is among them. */
  function suit() {
    const options = suiting(lab.state.objective);
    const chosen = options.some(([key]) => key === lab.state.optimiser) ? lab.state.optimiser : options[0][0];
    optimiser.fill(options, chosen);
    lab.keep({ optimiser: chosen, evaluations: EVALUATIONS[chosen] });
  }

  function takeBoth(answer) {
    land = answer;
    panel.take(land.points);
    plane.show(land.points);
    title.textContent = `${land.title}: ${land.maximise ? "large" : "small"} is good`;
    takeWalk(answer);
  }

  function takeWalk(answer) {
    lab.tell(null);
    walk = answer;
    lab.code(walk.code);
    steps.setLast(walk.path.length - 1);
    steps.go(Math.min(lab.state.step ?? walk.path.length - 1, walk.path.length - 1));
  }

  const mx = scale(-2, 4, LEFT, WIDTH - 8);
  const my = scale(-2, 2, HEIGHT - BOTTOM, 8);
  map.addEventListener("pointerdown", (event) => {
    if (lab.recorded) return;
    const box = map.getBoundingClientRect();
    const x = mx.back(((event.clientX - box.left) / box.width) * WIDTH);
    const y = my.back(((event.clientY - box.top) / box.height) * HEIGHT);
    if (x < -2 || x > 4 || y < -2 || y > 2) return;
    startC.value = Number(x.toFixed(2));
    startGamma.value = Number(y.toFixed(2));
    move();
  });

  function draw() {
    drawMap();
    if (!walk) return;
    const k = steps.step;
    const now = walk.path[k];
    said.textContent = sentence(now, k);
    numbers.show([
      ["evaluation", "evaluation", k + 1],
      ["value", walk.noisy ? "value (noisy)" : "value", now.value],
      ["log_C", "log₁₀ C", now.log_C],
      ["log_gamma", "log₁₀ γ", now.log_gamma],
      ["slope_C", "derivative by log C", now.gradient?.[1] ?? null],
      ["slope_gamma", "derivative by log γ", now.gradient?.[0] ?? null],
      ["best_value", walk.noisy ? "value at the end (noisy)" : "best value of the walk", walk.best.value],
      ["best_C", walk.noisy ? "C at the end" : "best C", walk.best.C],
      ["best_gamma", walk.noisy ? "γ at the end" : "best γ", walk.best.gamma],
    ]);
    const values = walk.path.map((row, at) => [at + 1, row.value]);
    course.draw({ x: [0.5, Math.max(2, walk.path.length) + 0.5], y: range(values.map(([, value]) => value)), cursor: k + 1, series: [{ class: "minus", points: values }] });
  }

  function sentence(now, k) {
    const where = `C = ${shown(10 ** now.log_C)}, γ = ${shown(10 ** now.log_gamma)}`;
    const end = k === walk.path.length - 1 ? ` The walk ends here (${walk.status}).` : "";
    if (now.value === null) return `Evaluation ${k + 1}: at ${where} the objective has no value; the walk steps around it.`;
    if (!now.gradient) return `Evaluation ${k + 1}: at ${where} the value is ${shown(now.value)}.${end}`;
    const way = (slope) => (slope === 0 ? "flat" : slope > 0 === walk.maximise ? "better upwards" : "better downwards");
    return `Evaluation ${k + 1}: at ${where} the value is ${shown(now.value)}; in log C it is ${way(now.gradient[1])}, in log γ ${way(now.gradient[0])}: only these signs count.${end}`;
  }

  function drawMap() {
    const parts = [];
    if (land) parts.push(...relief());
    const [x0, y0] = [LEFT, HEIGHT - BOTTOM];
    for (let v = -2; v <= 4; v++) parts.push(s("text", { class: "tick", x: mx(v), y: y0 + 15, "text-anchor": "middle" }, String(v).replace("-", "−")));
    for (let v = -2; v <= 2; v++) parts.push(s("text", { class: "tick", x: x0 - 6, y: my(v) + 4, "text-anchor": "end" }, String(v).replace("-", "−")));
    parts.push(s("text", { class: "axis", x: (x0 + WIDTH) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, "log₁₀ C"));
    parts.push(s("text", { class: "axis", x: 14, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${HEIGHT / 2})` }, "log₁₀ γ"));
    if (walk) parts.push(...trail());
    clear(map, parts);
  }

  function relief() {
    const flat = land.values.flat().filter((value) => value !== null);
    const sign = land.maximise ? 1 : -1;
    const ordered = [...flat].sort((a, b) => a - b);
    // By rank, so that steep walls do not hide the valley; a plateau of best values is all light.
    const rank = (value) => {
      let [low, high] = [0, ordered.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ordered[middle] < value || (sign > 0 && ordered[middle] === value)) low = middle + 1;
        else high = middle;
      }
      return Math.min(1, low / Math.max(1, ordered.length - 1));
    };
    const [dark, light] = [colourOf("--deep"), colourOf("--high")];
    const mix = (t) => dark.map((from, k) => from + (light[k] - from) * t);
    const shade = (value) => (value === null ? [128, 128, 128, 60] : [...mix(sign > 0 ? rank(value) : 1 - rank(value)), 255]);
    const n = land.values.length - 1;
    const cx = (column) => mx(-2 + (6 * column) / n);
    const cy = (row) => my(-2 + (4 * row) / n);
    const levels = [0.1, 0.25, 0.5, 0.75, 0.9].map((t) => ordered[Math.round(t * (ordered.length - 1))]);
    const best = sign > 0 ? ordered[ordered.length - 1] : ordered[0];
    const row = land.values.findIndex((line) => line.includes(best));
    return [
      s("clipPath", { id: "map-clip" }, s("rect", { x: mx(-2), y: my(2), width: mx(4) - mx(-2), height: my(-2) - my(2) })),
      s("g", { "clip-path": "url(#map-clip)" }, picture(land.values, shade, [mx(-2), mx(4), my(-2), my(2)])),
      ...[...new Set(levels)].map((level) => s("path", { class: "line level", d: contour(land.values, level, cx, cy) })),
      s("text", { class: "star", x: cx(land.values[row].indexOf(best)), y: cy(row) + 7, "text-anchor": "middle" }, "★", s("title", {}, `best of the grid: ${shown(best)}`)),
    ];
  }

  function trail() {
    const k = steps.step;
    const path = walk.path.slice(0, k + 1);
    const jumps = walk.optimiser === "grid" || walk.optimiser === "cma";
    const d = path.map((row, at) => `${at && !jumps ? "L" : "M"}${mx(row.log_C).toFixed(1)} ${my(row.log_gamma).toFixed(1)}`).join("");
    const now = walk.path[k];
    return [
      s("path", { class: "line trail", d }),
      ...(walk.noisy ? [] : path.map((row, at) => s("circle", { class: "visited", cx: mx(row.log_C), cy: my(row.log_gamma), r: 2.6 }, s("title", {}, `evaluation ${at + 1}: ${shown(row.value)}`)))),
      s("circle", { class: "bestring under", cx: mx(Math.log10(walk.best.C)), cy: my(Math.log10(walk.best.gamma)), r: 10 }),
      s("circle", { class: "bestring", cx: mx(Math.log10(walk.best.C)), cy: my(Math.log10(walk.best.gamma)), r: 10 }),
      s("circle", { class: "here", cx: mx(now.log_C), cy: my(now.log_gamma), r: 6 }),
    ];
  }

  askBoth();
  return () => steps.close();
}
