// A canvas that is sharp on every screen and knows the colours of the style sheet.
import { h } from "./dom.js";

const NAMES = ["page", "panel", "ink", "faint", "edge", "accent", "plus", "minus", "third", "extra", "gold", "plus-field", "minus-field", "third-field"];

export function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

export const CLASS_COLOURS = ["minus", "plus", "third"];
export const FIELD_COLOURS = ["minus-field", "plus-field", "third-field"];

/** Call when light changes to dark or back; returns what ends it. */
export function onTheme(callback) {
  const query = matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", callback);
  return () => query.removeEventListener("change", callback);
}

/** A canvas of so many CSS pixels in height and all the width there is. `paint(context, width,
 * height, colours)` is called by `.repaint()` and whenever the size changes. */
export function surface({ label, height, paint }) {
  const canvas = h("canvas", { role: "img", "aria-label": label });
  canvas.style.height = `${height}px`;
  canvas.repaint = () => {
    const width = canvas.clientWidth;
    if (!width) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    paint(context, width, height, colours());
  };
  new ResizeObserver(canvas.repaint).observe(canvas);
  return canvas;
}
