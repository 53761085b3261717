// Lagrange multipliers: walk along the constraint, or change λ, and see the gradients line up.
import { choice, slider } from "../controls.js";
import { clear, h, latest, s, shown } from "../dom.js";
import { chart, range } from "../plot.js";
import { cut, plane as makePlane } from "../points.js";
import { facts, requestOf } from "../samples.js";
import { stepper } from "../stepper.js";

export function mount(root, lab) {
  const state = lab.state;
  let found = null;
  const along = () => (lab.state.view ?? "walk") === "walk";

  const plane = makePlane({ label: "Contours of f, the constraint g = 0, and gradients" });
  const change = (key) => (value) => {
    lab.keep({ [key]: value });
    put(requestOf(lab.state));
  };
  const knob = (key, low, high, usual) => slider({ label: key, low, high, step: 0.1, value: state[key] ?? usual, onInput: change(key) });
  const view = choice({
    label: "what moves",
    options: [["walk", "Walk along g = 0", "x stays on the constraint"], ["dual", "Change λ", "x minimises the Lagrangian for this λ"]],
    value: state.view ?? "walk",
    onChange: (value) => { lab.keep({ view: value }); draw(); },
  });
  const formula = h("p", { class: "formula" });
  const controls = h("div", { class: "controls", role: "group", "aria-label": "coefficients" }, knob("p", 0.2, 4, 1), knob("q", 0.2, 4, 1), knob("a", -4, 4, 2), knob("b", -4, 4, -1), knob("c", -6, 6, 3));
  const steps = stepper({ onStep: (k) => { lab.keep({ step: k }); draw(); }, perSecond: 30 });
  const said = h("p", { class: "said", role: "status", "aria-live": "polite" });
  const numbers = facts("the point");
  const answer = facts("the solution");
  const curve = chart({ label: "", xLabel: "", yLabel: "" });
  const caption = curve.querySelector("figcaption");
  root.append(
    ...(lab.recorded ? [] : [controls]), formula, h("div", { class: "controls" }, view), steps, said,
    h("div", { class: "columns" },
      h("section", { class: "panel" }, plane, h("p", { class: "note" }, "Purple: ∇f. Green, dashed: −λ∇g. The star is the solution.")),
      h("section", { class: "panel" }, curve),
      h("section", { class: "panel" }, h("h2", {}, "At this point"), numbers, h("h2", {}, "Solution"), answer),
    ),
  );

  const put = latest((request) => lab.ask("lagrange", request), take, (error) => lab.tell(error.message));

  function take(reply) {
    lab.tell(null);
    found = reply;
    lab.code(found.code);
    const { p, q, a, b, c } = found.coefficients;
    formula.textContent = `minimise f(x) = ${times(p)}x₁² + ${times(q)}x₂²  subject to  g(x) = ${times(a)}x₁ ${signed(b, times)}x₂ ${signed(c, shown)} = 0`;
    const [x1, x2] = found.solution.x;
    const reach = Math.max(2.5, 2.2 * Math.hypot(x1, x2));
    plane.view([[-reach, -reach], [reach, reach]]);
    steps.setLast(found.walk.f.length - 1);
    steps.go(lab.state.step ?? 30);
  }

  function draw() {
    const k = steps.step;
    const { solution, walk, dual, coefficients } = found;
    const x = along() ? walk.x[k] : dual.x[k];
    const { p, q, a, b } = coefficients;
    const gradient = along() ? walk.gradient[k] : [-dual.multiplier[k] * a, -dual.multiplier[k] * b];
    const multiplier = along() ? null : dual.multiplier[k];
    const done = Math.hypot(x[0] - solution.x[0], x[1] - solution.x[1]) < 1e-9;
    said.textContent = sentence(k, done);
    numbers.show([
      ["x1", "x₁", x[0]],
      ["x2", "x₂", x[1]],
      ["f", "f(x)", along() ? walk.f[k] : dual.f[k]],
      ...(along() ? [["slope", "slope of f along the line", walk.slope[k]]] : [["g", "g(x)", dual.g[k]], ["multiplier", "λ", multiplier], ["dual", "dual function ℓ(λ)", dual.value[k]]]),
    ]);
    answer.show([
      ["solution_x1", "x₁", solution.x[0]],
      ["solution_x2", "x₂", solution.x[1]],
      ["solution_multiplier", "λ", solution.multiplier],
      ["solution_f", "f = largest ℓ(λ)", solution.f],
    ]);
    drawPlane(x, gradient, p, q);
    const points = along() ? walk.f.map((value, i) => [i, value]) : dual.value.map((value, i) => [dual.multiplier[i], value]);
    caption.textContent = along() ? "f along the constraint" : "Dual function ℓ(λ) = min over x of L(x, λ)";
    curve.draw({
      x: along() ? [0, points.length - 1] : range(dual.multiplier, 0), y: range(points.map(([, value]) => value)), cursor: along() ? k : multiplier,
      series: [{ class: "minus", points }, { name: "smallest f on g = 0", class: "gold", dashed: true, points: [[points[0][0], solution.f], [points[points.length - 1][0], solution.f]] }],
      marks: [{ x: points[k][0], y: points[k][1], class: "extra", r: 6 }],
    });
  }

  function sentence(k, done) {
    if (along()) {
      if (done) return `Here ∇f = −λ∇g with λ = ${shown(found.solution.multiplier)}: along the constraint f does not change to first order. This is the solution.`;
      return `On the constraint, f = ${shown(found.walk.f[k])}. Its slope along the line is ${shown(found.walk.slope[k])}, so f still falls ${found.walk.slope[k] < 0 ? "forwards" : "backwards"}: ∇f is not parallel to ∇g.`;
    }
    const { multiplier, value, g } = found.dual;
    if (done) return `λ = ${shown(multiplier[k])}: the minimiser of the Lagrangian lies on the constraint, and ℓ(λ) is largest. This is the solution.`;
    return `λ = ${shown(multiplier[k])}: x minimises L(x, λ) = f + λg, but g(x) = ${shown(g[k])}, so ${g[k] > 0 ? "a larger" : "a smaller"} λ is needed. ℓ(λ) = ${shown(value[k])} is below the solution's f.`;
  }

  function drawPlane(x, gradient, p, q) {
    const { solution, coefficients: { a, b, c } } = found;
    const levels = [0.25, 0.5, 1, 2, 4, 8].map((t) => t * Math.max(solution.f, 0.5));
    const ellipse = (level, extra) => s("ellipse", { class: extra, cx: plane.x(0), cy: plane.y(0), rx: plane.x(Math.sqrt(level / p)) - plane.x(0), ry: plane.y(0) - plane.y(Math.sqrt(level / q)) });
    const ends = cut([a, b, c], plane.box);
    clear(
      plane.back,
      levels.map((level) => ellipse(level, "level-f")), solution.f > 0 ? ellipse(solution.f, "level-f best") : null,
      ends ? s("line", { class: "line plus wide", x1: plane.x(ends[0][0]), y1: plane.y(ends[0][1]), x2: plane.x(ends[1][0]), y2: plane.y(ends[1][1]) }) : null,
    );
    const normal = [a, b].map((v) => -solution.multiplier * v);
    const shift = along() ? normal : gradient;
    clear(
      plane.front,
      s("text", { class: "star", x: plane.x(solution.x[0]), y: plane.y(solution.x[1]) + 6, "text-anchor": "middle" }, "★"),
      arrow(x, shift, "third dash"), arrow(x, gradient, "extra"),
      s("circle", { class: "here", cx: plane.x(x[0]), cy: plane.y(x[1]), r: 6 }),
    );
  }

  function arrow([x, y], [u, v], extra) {
    const length = Math.hypot(u, v);
    if (length < 1e-9) return null;
    const t = Math.min(0.3, (0.4 * plane.reach) / length);
    const [px, py, qx, qy] = [plane.x(x), plane.y(y), plane.x(x + t * u), plane.y(y + t * v)];
    const angle = Math.atan2(qy - py, qx - px);
    const barb = (turn) => `L${qx - 11 * Math.cos(angle + turn)} ${qy - 11 * Math.sin(angle + turn)}`;
    return s("path", { class: `line arrow ${extra}`, d: `M${px} ${py}L${qx} ${qy}${barb(0.4)}M${qx} ${qy}${barb(-0.4)}` });
  }

  put(requestOf(lab.state));
  return () => steps.close();
}

const times = (value) => (value === 1 ? "" : value === -1 ? "−" : `${shown(value)} `);
const signed = (value, text) => (value < 0 ? `− ${text(-value)}` : `+ ${text(value)}`);
