// Sliders, menus, switches and buttons with labels; all work by keyboard.
import { h, shown } from "./dom.js";

let count = 0;
const fresh = () => `control-${++count}`;

/**
 * A slider; `log` spaces it by powers of ten. `onInput(value)` while it moves, `onChange(value)`
 * when it is let go. Returns the element with `.value` (get, set).
 */
export function slider({ label, low, high, value, log = false, step = null, onInput = () => {}, onChange = () => {} }) {
  const id = fresh();
  const inner = log ? Math.log10 : (x) => x;
  const outer = log ? (x) => Number((10 ** x).toPrecision(4)) : (x) => Number(x.toPrecision(6));
  const grain = step ?? (log ? 0.02 : (high - low) / 200);
  const output = h("output", { for: id });
  const input = h("input", { id, type: "range", min: inner(low), max: inner(high), step: grain });
  const read = () => outer(Number(input.value));
  const tell = (shownValue) => {
    output.textContent = shown(shownValue);
    input.setAttribute("aria-valuetext", shown(shownValue));
  };
  input.addEventListener("input", () => {
    tell(read());
    onInput(read());
  });
  input.addEventListener("change", () => onChange(read()));
  const element = h("div", { class: "control slider" }, h("label", { for: id }, label), input, output);
  Object.defineProperty(element, "value", {
    get: read,
    set: (next) => {
      input.value = inner(next);
      tell(next);
    },
  });
  element.value = value;
  element.input = input;
  return element;
}

/** A menu; `options` is a list of [value, text] or of values. */
export function select({ label, options, value, onChange = () => {} }) {
  const id = fresh();
  const input = h("select", { id });
  const element = h("div", { class: "control" }, h("label", { for: id }, label), input);
  element.fill = (list, chosen) => {
    input.replaceChildren(
      ...list.map((option) => {
        const [key, text] = Array.isArray(option) ? option : [option, option];
        return h("option", { value: key }, text);
      }),
    );
    if (chosen !== undefined && chosen !== null) input.value = chosen;
  };
  element.fill(options, value);
  input.addEventListener("change", () => onChange(input.value));
  Object.defineProperty(element, "value", {
    get: () => input.value,
    set: (next) => {
      input.value = next;
    },
  });
  element.input = input;
  return element;
}

/** A check box. */
export function toggle({ label, value = false, onChange = () => {} }) {
  const id = fresh();
  const input = h("input", { id, type: "checkbox" });
  input.checked = value;
  input.addEventListener("change", () => onChange(input.checked));
  const element = h("div", { class: "control toggle" }, input, h("label", { for: id }, label));
  Object.defineProperty(element, "value", {
    get: () => input.checked,
    set: (next) => {
      input.checked = next;
    },
  });
  element.input = input;
  return element;
}

/** Buttons of which one is pressed. */
export function choice({ label, options, value, onChange = () => {} }) {
  const buttons = options.map(([key, text, title]) =>
    h("button", { type: "button", title, "aria-pressed": String(key === value), onclick: () => pick(key), "data-key": key }, text),
  );
  let chosen = value;
  function pick(key, silent = false) {
    chosen = key;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.key === String(key)));
    if (!silent) onChange(key);
  }
  const element = h("div", { class: "control choice", role: "group", "aria-label": label }, ...buttons);
  Object.defineProperty(element, "value", { get: () => chosen, set: (next) => pick(next, true) });
  return element;
}

export function button(text, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}
