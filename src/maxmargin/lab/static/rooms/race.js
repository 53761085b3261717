// The race: one lane for each policy, and their ways to the optimum in one chart.
import { unpacked } from "../arrays.js";
import { onTheme } from "../canvas.js";
import { button, choice, select, slider, toggle } from "../controls.js";
import { clear, h, latest, set, shown } from "../dom.js";
import { field } from "../field.js";
import { chart, logRange } from "../plot.js";
import { POLICIES } from "../smo/settings.js";
import { stepper } from "../stepper.js";

const FRAMES = 100;
const COLOURS = ["minus", "plus", "third", "extra"];
const EXAMPLES = [["chess", "chess board"], ["moons", "two moons"], ["banana", "banana"], ["xor", "XOR"], ["blobs", "blobs (report 001)"], ["four", "four points (6.1.4)"]];
const FRESH = { selection: "hybrid_max_gain", planning: 0, face: false };

export function mount(root, lab) {
  const state = lab.state;
  let found = null;
  let lanes = [];
  const race = latest((request) => lab.ask("race", request), show, (error) => lab.tell(error.message));
  const start = () => {
    lab.tell(null);
    race({ ...state, action: "race" });
  };

  const examples = select({ label: "example", options: EXAMPLES, value: state.example, onChange: load });
  const C = slider({ label: "C", low: 0.01, high: 1e4, log: true, value: state.C ?? 10, onInput: (value) => lab.keep({ C: value }), onChange: start });
  const gamma = slider({ label: "γ", low: 0.01, high: 100, log: true, value: state.gamma ?? 1, onInput: (value) => lab.keep({ gamma: value }), onChange: start });
  const measure = choice({ label: "against", options: [["at_step", "steps"], ["at_evaluations", "kernel values"]], value: state.against ?? "at_step", onChange: (against) => { lab.keep({ against }); draw(frames.step); } });
  const racers = h("div", { class: "racers" });
  const frames = stepper({ last: FRAMES, onStep: draw, perSecond: 30 });
  const plot = chart({ label: "distance of the dual value from the optimum", height: 220, width: 480 });
  const track = h("div", { class: "lanes" });
  const ended = onTheme(() => found && draw(frames.step));

  async function load(name) {
    try {
      const { request } = await lab.ask("race", { action: "example", example: name });
      const { selection, face, ...fields } = request;
      lab.keep(fields);
      C.value = state.C ?? 10;
      gamma.value = state.gamma ?? 1;
      start();
    } catch (error) {
      lab.tell(error.message);
    }
  }

  function offer() {
    const change = (k, patch) => {
      lab.keep({ racers: state.racers.map((racer, n) => (n === k ? { ...racer, ...patch } : racer)) });
      start();
    };
    clear(
      racers,
      state.racers.map((racer, k) =>
        h("fieldset", { class: `racer ${COLOURS[k]}` }, h("legend", {}, `lane ${k + 1}`),
          select({ label: "pairs by", options: POLICIES, value: racer.selection, onChange: (selection) => change(k, { selection }) }),
          toggle({ label: "plan ahead", value: racer.planning > 0, onChange: (on) => change(k, { planning: on ? 1 : 0 }) }),
          toggle({ label: "Newton steps", value: racer.face, onChange: (face) => change(k, { face }) }),
          state.racers.length > 2 ? button("remove", () => { lab.keep({ racers: state.racers.filter((_, n) => n !== k) }); offer(); start(); }) : null),
      ),
      state.racers.length < 4 ? button("add a lane", () => { lab.keep({ racers: [...state.racers, FRESH] }); offer(); start(); }) : null,
    );
  }

  const nameOf = ({ selection, planning, face }) => `${POLICIES.find(([key]) => key === selection)[1]}${planning ? ", planning ahead" : ""}${face ? ", Newton steps" : ""}`;

  function show(answer, asked) {
    found = answer;
    lab.code(answer.code);
    lanes = answer.racers.map((racer, k) => {
      const plane = field({ label: `lane ${k + 1}`, editable: false, onEdit: () => {} });
      plane.setPoints(answer.samples.map((n) => asked.points[n]));
      const text = h("p", { class: "note", "data-lane": k });
      return { ...racer, name: nameOf(asked.racers[k]), alpha: unpacked(racer.alpha), plane, text, element: h("section", { class: `panel lane ${COLOURS[k]}` }, h("h2", {}, nameOf(asked.racers[k])), plane, text) };
    });
    clear(track, lanes.map((lane) => lane.element));
    frames.go(FRAMES, true);
    draw(frames.step);
  }

  /** Draw all lanes at the same number of steps or kernel values. */
  function draw(frame) {
    if (!found) return;
    const against = state.against ?? "at_step";
    const longest = Math.max(...lanes.map((lane) => lane[against].at(-1)), 1);
    const at = (longest * frame) / FRAMES;
    const points = found.samples.map((n) => state.points[n]);
    const n = points.length;
    for (const lane of lanes) {
      const k = lane[against].findLastIndex((value) => value <= at);
      const alpha = lane.alpha.row(k);
      const coef = points.map((_, s) => alpha[s] + (found.copies > 1 ? alpha[s + n] : 0));
      const machine = { points, coef, intercept: lane.intercepts[k], classes: found.classes };
      lane.plane.show([machine], { name: state.kernel ?? "gaussian", gamma: state.gamma ?? 1, degree: state.degree ?? 3 }, { marked: (s) => ({ support: coef[s] !== 0 }) });
      const over = k === lane[against].length - 1;
      lane.text.textContent = `${shown(lane.at_step[k])} steps, ${shown(lane.at_evaluations[k])} kernel values, dual ${shown(lane.duals[k], 7)}${over ? `: ${lane.status} (${lane.meaning})` : ""}`;
      set(lane.element, { "data-over": over });
    }
    const distance = (lane) => lane.duals.map((dual, k) => [lane[against][k], Math.max(found.optimum - dual, 0)]);
    const series = lanes.map((lane, k) => ({ name: lane.name, class: COLOURS[k], dashed: k % 2 === 1, points: distance(lane) }));
    const every = series.flatMap((line) => line.points.map(([, value]) => value));
    plot.draw({ x: [0, longest], y: logRange(every, 1e-9 * Math.max(1, Math.abs(found.optimum))), logY: true, series, cursor: at });
  }

  offer();
  if (!lab.recorded) root.append(h("div", { class: "controls" }, examples, C, gamma), racers);
  root.append(h("div", { class: "controls" }, measure), frames, h("section", { class: "panel wide-chart" }, plot), track);
  start();
  return () => {
    ended();
    frames.close();
  };
}
