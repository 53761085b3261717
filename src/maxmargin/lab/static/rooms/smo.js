// The main room.
import { slider } from "../controls.js";
import { h, latest, shown } from "../dom.js";

export function mount(root, lab) {
  const dual = h("output");
  const solve = latest((request) => lab.ask("smo", request), (found) => (dual.textContent = shown(found.dual)), (error) => lab.tell(error.message));
  root.append(slider({ label: "C", low: 0.01, high: 1e4, log: true, value: lab.state.C, onInput: (C) => { lab.keep({ C }); solve(lab.state); } }), h("p", {}, "dual value ", dual));
  lab.code("from maxmargin import SVC");
  solve(lab.state);
}
