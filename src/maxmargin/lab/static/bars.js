// Values of many variables as bars between their bounds, or as marks with thresholds.
import { CLASS_COLOURS, surface } from "./canvas.js";
import { h, shown } from "./dom.js";

const LEFT = 46;

function axis(context, width, height, palette, low, high) {
  const y = (value) => 8 + ((high - value) / (high - low || 1)) * (height - 16);
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = palette.faint;
  context.textAlign = "right";
  for (const value of new Set([low, 0, high])) {
    if (value < low || value > high) continue;
    context.fillText(shown(value, 3), LEFT - 5, y(value) + 4);
  }
  context.strokeStyle = palette.edge;
  context.beginPath();
  context.moveTo(LEFT, y(Math.max(low, Math.min(high, 0))));
  context.lineTo(width, y(Math.max(low, Math.min(high, 0))));
  context.stroke();
  return y;
}

/** Bars: `.draw({values, lower, upper, classes, pair, faded})`; bounds may hold null for infinity. */
export function bars({ label, height = 150 }) {
  let state = null;
  const canvas = surface({
    label,
    height,
    paint: (context, width, tall, palette) => {
      if (!state) return;
      const { values, lower, upper, classes, pair, faded } = state;
      const finite = [...lower, ...upper].filter((value) => value !== null);
      const bound = finite.length ? Math.max(...finite.map(Math.abs)) : 0;
      const size = Math.max(...values.map(Math.abs), 1e-300);
      const all = finite.length === lower.length * 2 && bound > 0 ? bound : size;
      const low = Math.min(...lower) < 0 || lower.includes(null) ? -all : 0;
      const high = upper.some((value) => value === null || value > 0) ? all : 0;
      const y = axis(context, width, tall, palette, low, high);
      const step = (width - LEFT - 4) / values.length;
      const thick = Math.max(1, Math.min(14, 0.75 * step));
      values.forEach((value, n) => {
        const x = LEFT + (n + 0.5) * step - thick / 2;
        if (lower[n] !== null && upper[n] !== null && bound > 0) {
          context.fillStyle = palette.edge;
          context.globalAlpha = 0.45;
          context.fillRect(x, y(upper[n]), thick, y(lower[n]) - y(upper[n]));
        }
        context.globalAlpha = faded?.(n) ? 0.25 : 1;
        context.fillStyle = palette[CLASS_COLOURS[classes[n]]];
        const top = y(Math.max(value, 0));
        if (value !== 0) context.fillRect(x, top, thick, Math.max(1.5, y(Math.min(value, 0)) - top));
        context.globalAlpha = 1;
        const place = pair?.indexOf(n) ?? -1;
        if (place >= 0) {
          context.strokeStyle = palette.ink;
          context.lineWidth = 1.5;
          context.strokeRect(x - 2, Math.min(top, y(high)) - 1, thick + 4, y(low) - y(high) + 2);
          context.fillStyle = palette.ink;
          context.textAlign = "center";
          context.fillText("ij"[place], x + thick / 2, value >= 0 ? Math.max(10, top - 3) : Math.min(tall - 1, y(value) + 11));
        }
      });
    },
  });
  const element = h("figure", { class: "plot" }, h("figcaption", {}, label), canvas);
  element.draw = (next) => {
    state = next;
    canvas.repaint();
  };
  element.repaint = canvas.repaint;
  return element;
}

/** Gradients: `.draw({values, rises, falls, classes, top, bottom, pair, faded})`. */
export function gradients({ label, height = 150 }) {
  let state = null;
  const canvas = surface({
    label,
    height,
    paint: (context, width, tall, palette) => {
      if (!state) return;
      const { values, rises, falls, classes, top, bottom, pair, faded } = state;
      const known = [...values, top, bottom].filter((value) => value !== null);
      const low = Math.min(...known);
      const high = Math.max(...known);
      const y = axis(context, width, tall, palette, low, high);
      if (top !== null && bottom !== null && top > bottom) {
        context.fillStyle = palette.gold;
        context.globalAlpha = 0.18;
        context.fillRect(LEFT, y(top), width - LEFT, Math.max(1, y(bottom) - y(top)));
        context.globalAlpha = 1;
      }
      const step = (width - LEFT - 4) / values.length;
      const r = Math.max(1.8, Math.min(4, 0.4 * step));
      values.forEach((value, n) => {
        const x = LEFT + (n + 0.5) * step;
        context.globalAlpha = faded?.(n) ? 0.2 : 1;
        context.fillStyle = palette[CLASS_COLOURS[classes[n]]];
        context.beginPath();
        // A triangle points where α may go; a diamond may go both ways.
        if (rises(n)) context.moveTo(x, y(value) - 1.4 * r);
        else context.moveTo(x, y(value));
        context.lineTo(x + r, y(value));
        if (falls(n)) context.lineTo(x, y(value) + 1.4 * r);
        context.lineTo(x - r, y(value));
        context.fill();
        context.globalAlpha = 1;
        const place = pair?.indexOf(n) ?? -1;
        if (place >= 0) {
          context.strokeStyle = palette.ink;
          context.lineWidth = 1.5;
          context.beginPath();
          context.arc(x, y(value), r + 4, 0, 7);
          context.stroke();
          context.fillStyle = palette.ink;
          context.textAlign = "left";
          context.fillText("ij"[place], Math.min(x + r + 6, width - 8), y(value) + 4);
        }
      });
      for (const [value, name] of [[top, "up"], [bottom, "down"]]) {
        if (value === null) continue;
        context.strokeStyle = palette.ink;
        context.setLineDash(name === "up" ? [] : [5, 4]);
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(LEFT, y(value));
        context.lineTo(width, y(value));
        context.stroke();
        context.setLineDash([]);
      }
    },
  });
  const element = h("figure", { class: "plot" }, h("figcaption", {}, label), canvas);
  element.draw = (next) => {
    state = next;
    canvas.repaint();
  };
  element.repaint = canvas.repaint;
  return element;
}
