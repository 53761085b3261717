// Machine, kernel, parameters and policy: the controls of a request.
import { select, slider, toggle } from "../controls.js";
import { h } from "../dom.js";

const MACHINES = [
  ["hinge", "hinge loss"],
  ["squared_hinge", "squared hinge loss"],
  ["hard_margin", "hard margin"],
  ["epsilon_svr", "ε-SVR"],
  ["one_class", "one-class"],
  ["ridge", "kernel ridge"],
];
const KERNELS = [
  ["gaussian", "Gaussian"],
  ["linear", "linear"],
  ["polynomial", "polynomial"],
  ["linear_plus_identity", "linear + identity"],
];
export const POLICIES = [
  ["second_order", "second order"],
  ["mvp", "most violating pair"],
  ["hybrid_max_gain", "hybrid maximum gain"],
  ["max_gain", "maximum gain"],
  ["greedy", "greedy"],
  ["platt", "Platt"],
  ["random", "random"],
];
// Which parameters a machine or kernel has.
const HAS = {
  C: ({ machine }) => !["hard_margin", "one_class"].includes(machine),
  gamma: ({ kernel }) => ["gaussian", "polynomial"].includes(kernel),
  degree: ({ kernel }) => kernel === "polynomial",
  epsilon: ({ machine }) => machine === "epsilon_svr",
  nu: ({ machine }) => machine === "one_class",
};

/** `onMove()` while a slider moves, `onSet()` when a value stands. */
export function settings(lab, { onMove, onSet }) {
  const state = lab.state;
  const chosen = (name) => (value) => {
    lab.keep({ [name]: value });
    show();
    onSet();
  };
  const moving = (name) => ({
    onInput: (value) => {
      lab.keep({ [name]: value });
      onMove();
    },
    onChange: () => onSet(),
  });
  const parts = {
    machine: select({ label: "machine", options: MACHINES, value: state.machine ?? "hinge", onChange: chosen("machine") }),
    kernel: select({ label: "kernel", options: KERNELS, value: state.kernel ?? "gaussian", onChange: chosen("kernel") }),
    C: slider({ label: "C", low: 0.01, high: 1e4, log: true, value: state.C ?? 10, ...moving("C") }),
    gamma: slider({ label: "γ", low: 0.01, high: 100, log: true, value: state.gamma ?? 1, ...moving("gamma") }),
    degree: slider({ label: "degree", low: 1, high: 8, step: 1, value: state.degree ?? 3, ...moving("degree") }),
    epsilon: slider({ label: "ε", low: 0, high: 1, step: 0.01, value: state.epsilon ?? 0.1, ...moving("epsilon") }),
    nu: slider({ label: "ν", low: 0.01, high: 1, step: 0.01, value: state.nu ?? 0.2, ...moving("nu") }),
    selection: select({ label: "pairs by", options: POLICIES, value: state.selection ?? "second_order", onChange: chosen("selection") }),
    planning: toggle({ label: "plan ahead", value: Boolean(state.planning), onChange: (on) => chosen("planning")(on ? 1 : 0) }),
    face: toggle({ label: "Newton steps", value: state.face ?? true, onChange: chosen("face") }),
    shrinking: toggle({ label: "shrinking", value: state.shrinking ?? true, onChange: chosen("shrinking") }),
    cache_rows: select({ label: "rows in cache", options: [["0", "all"], ["5", "5"], ["10", "10"], ["20", "20"], ["50", "50"]], value: String(state.cache_rows ?? 0), onChange: (value) => chosen("cache_rows")(Number(value)) }),
  };

  function show() {
    for (const [name, needed] of Object.entries(HAS)) {
      parts[name].hidden = !needed({ machine: lab.state.machine ?? "hinge", kernel: lab.state.kernel ?? "gaussian" });
    }
  }

  const element = h("div", {}, h("div", { class: "controls" }, parts.machine, parts.kernel, parts.C, parts.gamma, parts.degree, parts.epsilon, parts.nu), h("div", { class: "controls" }, parts.selection, parts.planning, parts.face, parts.shrinking, parts.cache_rows));
  /** Show the values of the state, after it was changed as a whole. */
  element.read = () => {
    const now = lab.state;
    const plain = { machine: "hinge", kernel: "gaussian", C: 10, gamma: 1, degree: 3, epsilon: 0.1, nu: 0.2, selection: "second_order", face: true, shrinking: true };
    for (const [name, value] of Object.entries(plain)) parts[name].value = now[name] ?? value;
    parts.planning.value = Boolean(now.planning);
    parts.cache_rows.value = String(now.cache_rows ?? 0);
    show();
  };
  show();
  return element;
}
