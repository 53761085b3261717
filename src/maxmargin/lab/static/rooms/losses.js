// Losses: their values, slopes and conjugates at an output z that can be moved.
import { choice, select, slider } from "../controls.js";
import { clear, h, latest, shown } from "../dom.js";
import { chart, range } from "../plot.js";
import { requestOf } from "../samples.js";

const LOOK = {
  hinge: { class: "plus" },
  squared_hinge: { class: "minus" },
  logistic: { class: "third" },
  zero_one: { class: "gold", dashed: true },
  epsilon_insensitive: { class: "plus" },
  squared_epsilon_insensitive: { class: "minus" },
  squared: { class: "third", dashed: true },
};

export function mount(root, lab) {
  const state = lab.state;
  let found = null;
  const regression = () => (lab.state.task ?? "classification") === "regression";

  const change = (key) => (value) => {
    lab.keep({ [key]: value });
    put(requestOf(lab.state));
  };
  const task = choice({
    label: "task",
    options: [["classification", "Classification"], ["regression", "Regression"]],
    value: state.task ?? "classification",
    onChange: (value) => {
      lab.keep({ task: value, target: value === "regression" ? 0 : 1, view: null });
      side.value = "1";
      put(requestOf(lab.state));
    },
  });
  const side = select({ label: "class y", options: [["1", "+1"], ["-1", "−1"]], value: String(state.target ?? 1), onChange: (value) => change("target")(Number(value)) });
  const epsilon = slider({ label: "ε", low: 0, high: 2, step: 0.05, value: state.epsilon ?? 0.5, onInput: change("epsilon") });
  const z = slider({ label: "output z", low: -4, high: 4, step: 0.05, value: state.z ?? 0.3, onInput: change("z") });
  const which = select({ label: "touching line of", options: [], onChange: (value) => { lab.keep({ view: value }); draw(); } });
  const controls = h("div", { class: "controls", role: "group", "aria-label": "losses" }, task, side, slider({ label: "C", low: 0.1, high: 10, log: true, value: state.C ?? 1, onInput: change("C") }), epsilon, z, which);
  const said = h("p", { class: "said", role: "status", "aria-live": "polite" });
  const values = chart({ label: "Loss ℓ(z)", xLabel: "output z", yLabel: "ℓ" });
  const slopes = chart({ label: "Slope of the loss, −β", xLabel: "output z", yLabel: "slope" });
  const conjugates = chart({ label: "Conjugate ℓ*(−β): infinite outside the box of β", xLabel: "β", yLabel: "ℓ*(−β)" });
  const body = h("tbody");
  const table = h("table", { class: "listing" }, h("thead", {}, h("tr", {}, ["loss", "ℓ(z)", "subgradients", "β", "ℓ*(−β)", "ℓ + ℓ* + zβ"].map((text) => h("th", { scope: "col" }, text)))), body);
  root.append(
    ...(lab.recorded ? [] : [controls]), said,
    h("div", { class: "columns" },
      h("section", { class: "panel" }, values),
      h("section", { class: "panel" }, slopes),
      h("section", { class: "panel" }, conjugates),
      h("section", { class: "panel whole" }, h("h2", {}, "At this output"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "losses at this output" }, table)),
    ),
  );

  const put = latest((request) => lab.ask("losses", request), take, (error) => lab.tell(error.message));

  function take(answer, request) {
    lab.tell(null);
    found = answer;
    found.here = request.z ?? 0.3;
    lab.code(found.code);
    side.hidden = regression();
    epsilon.hidden = !regression();
    const names = Object.keys(found.at);
    const chosen = names.includes(lab.state.view) ? lab.state.view : names[0];
    which.fill(names.map((name) => [name, found.titles[name]]), chosen);
    draw();
  }

  function draw() {
    const name = which.value;
    const at = found.at[name];
    const here = found.here;
    const slope = at.least_slope === at.largest_slope ? `its slope is ${shown(-at.beta)}` : `it has a kink: every slope from ${shown(at.least_slope)} to ${shown(at.largest_slope)} touches`;
    said.textContent = `At z = ${shown(here)} the ${found.titles[name]} loss is ${shown(at.value)}; ${slope}. The line of slope −β = ${shown(-at.beta)} meets the axis z = 0 at −ℓ*(−β) = ${shown(-at.conjugate)}.`;
    const lines = (table) => Object.entries(table).map(([key, list]) => ({ name: found.titles[key], ...LOOK[key], points: list.map((value, i) => [found.z[i], value]) }));
    const highest = 1.15 * Math.max(3 * (lab.state.C ?? 1), at.value);
    const clipped = (line) => ({ ...line, points: line.points.map(([x, y]) => [x, y <= highest && y >= -0.2 * highest ? y : null]) });
    const touching = found.z.map((x) => [x, -x * at.beta - at.conjugate]);
    values.draw({
      x: [-4, 4], y: [-0.2 * highest, highest], cursor: here,
      series: [...lines(found.values).map(clipped), clipped({ name: "touching line", class: "extra", dashed: true, points: touching })],
      marks: [{ x: here, y: at.value, class: "extra", r: 6 }],
    });
    const steep = 4 * (lab.state.C ?? 1);
    slopes.draw({ x: [-4, 4], y: [-steep, steep], cursor: here, series: lines(found.slopes).map((line) => ({ ...line, points: line.points.map(([x, y]) => [x, Math.abs(y) <= steep ? y : null]) })), marks: [{ x: here, y: -at.beta, class: "extra", r: 6 }] });
    const curves = Object.entries(found.conjugates).map(([key, curve]) => ({ name: found.titles[key], ...LOOK[key], points: curve.beta.map((beta, i) => [beta, curve.value[i]]) }));
    const inside = curves.flatMap((line) => line.points.filter(([beta]) => Math.abs(beta) <= steep));
    conjugates.draw({
      x: range(inside.map(([beta]) => beta)), y: range(inside.map(([, value]) => value)),
      series: curves.map((line) => ({ ...line, points: line.points.map(([x, y]) => [x, Math.abs(x) <= steep ? y : null]) })),
      marks: Math.abs(at.beta) <= steep ? [{ x: at.beta, y: at.conjugate, class: "extra", r: 6 }] : [],
    });
    clear(body, Object.entries(found.at).map(([key, one]) =>
      h("tr", { class: key === name ? "chosen" : "" },
        h("td", {}, found.titles[key]),
        h("td", { "data-loss": key, "data-value": String(one.value) }, shown(one.value)),
        h("td", {}, one.least_slope === one.largest_slope ? shown(one.least_slope) : `[${shown(one.least_slope)}, ${shown(one.largest_slope)}]`),
        h("td", { "data-beta": key, "data-value": String(one.beta) }, shown(one.beta)),
        h("td", { "data-conjugate": key, "data-value": String(one.conjugate) }, shown(one.conjugate)),
        h("td", {}, shown(one.slack)),
      )));
  }

  put(requestOf(lab.state));
}
