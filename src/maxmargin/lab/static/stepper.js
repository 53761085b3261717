// Forwards, backwards, run, pause: by buttons, by slider, by keyboard.
import { button } from "./controls.js";
import { h, set } from "./dom.js";

/**
 * A stepper over 0 … last. `onStep(k)` draws step k. `stops` are steps that "next stop" jumps to
 * (Newton steps, say), named by `stopName`. Keys: ← → one step, Home End, space runs and pauses,
 * n next stop. Returns the element with `.step`, `.setLast(last, stops)`, `.go(k)`, `.pause()`.
 */
export function stepper({ last = 0, onStep, stops = [], stopName = null, perSecond = 8 }) {
  let step = 0;
  let timer = null;
  let speed = perSecond;
  const back = button("◀", () => go(step - 1), { "aria-label": "one step back", title: "one step back (←)" });
  const forth = button("▶", () => go(step + 1), { "aria-label": "one step forward", title: "one step forward (→)" });
  const first = button("|◀", () => go(0), { "aria-label": "to the start", title: "to the start (Home)" });
  const end = button("▶|", () => go(last), { "aria-label": "to the end", title: "to the end (End)" });
  const run = button("Run", () => (timer ? pause() : play()), { class: "run", title: "run or pause (space)" });
  const jump = stopName ? button(stopName, () => go(following()), { title: "jump to the next one (n)" }) : null;
  const bar = h("input", { type: "range", min: 0, max: last, step: 1, value: 0, "aria-label": "step" });
  bar.addEventListener("input", () => go(Number(bar.value)));
  const counter = h("output", { "aria-live": "polite" });
  const pace = h(
    "select",
    { "aria-label": "speed", title: "steps a second" },
    ...[2, 8, 30, 120].map((rate) => h("option", { value: rate }, `${rate}/s`)),
  );
  pace.value = String(perSecond);
  pace.addEventListener("change", () => {
    speed = Number(pace.value);
    if (timer) play();
  });
  const element = h("div", { class: "stepper", role: "group", "aria-label": "steps" }, first, back, run, forth, end, jump, bar, counter, pace);

  const following = () => stops.find((k) => k > step) ?? last;

  function go(k, silent = false) {
    step = Math.max(0, Math.min(last, Math.round(k)));
    bar.value = step;
    counter.textContent = `step ${step} of ${last}`;
    set(back, { disabled: step === 0 });
    set(first, { disabled: step === 0 });
    set(forth, { disabled: step === last });
    set(end, { disabled: step === last });
    if (jump) set(jump, { disabled: !stops.some((stop) => stop > step) });
    if (step === last) pause();
    if (!silent) onStep(step);
  }

  function play() {
    pause();
    if (step === last) go(0);
    const many = Math.max(1, Math.round(speed / 30));
    timer = setInterval(() => go(step + many), (1000 * many) / speed);
    run.textContent = "Pause";
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    run.textContent = "Run";
  }

  const keys = { ArrowLeft: () => go(step - 1), ArrowRight: () => go(step + 1), Home: () => go(0), End: () => go(last), " ": () => (timer ? pause() : play()), n: () => jump && go(following()) };

  function onKey(event) {
    const own = event.target.closest?.("input, select, textarea, button, [data-own-keys]");
    if (!element.isConnected || own || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  document.addEventListener("keydown", onKey);
  element.setLast = (most, where = []) => {
    last = most;
    stops = where;
    bar.max = most;
    go(Math.min(step, last), true);
  };
  element.go = go;
  element.pause = pause;
  element.close = () => {
    pause();
    document.removeEventListener("keydown", onKey);
  };
  Object.defineProperty(element, "step", { get: () => step });
  go(0, true);
  return element;
}
