// The Gram matrix: which values the steps have looked at, and which rows are in memory.
import { colours } from "../canvas.js";
import { h } from "../dom.js";

export function gram() {
  const canvas = h("canvas", { class: "gram", role: "img", "aria-label": "Gram matrix; rows that are not in memory or not yet used are pale" });
  const caption = h("p", { class: "note" });
  const element = h("figure", { class: "plot" }, h("figcaption", {}, "Gram matrix"), canvas, caption);

  /** `matrix` {shape, row(k)} of bytes or null; `used` and `cached` tell of samples; `pair` has two. */
  element.draw = (matrix, { used, cached, pair, text }) => {
    caption.textContent = text;
    canvas.hidden = matrix === null;
    if (!matrix) return;
    const n = matrix.shape[0];
    canvas.width = canvas.height = n;
    const context = canvas.getContext("2d");
    const image = context.createImageData(n, n);
    const dark = colours().page.startsWith("#1");
    for (let r = 0; r < n; r++) {
      const row = matrix.row(r);
      for (let c = 0; c < n; c++) {
        const k = 4 * (r * n + c);
        const seen = used(r) || used(c);
        const value = dark ? row[c] : 255 - row[c];
        const shade = seen ? value : dark ? 45 + 0.12 * value : 195 + 0.12 * value;
        image.data[k] = image.data[k + 1] = image.data[k + 2] = shade;
        if (cached(r)) image.data[k + 2] = Math.min(255, shade + 45);
        if (pair?.includes(r)) {
          image.data[k] = Math.min(255, 0.6 * shade + 130);
          image.data[k + 1] = 0.75 * shade + 40;
          image.data[k + 2] = 0.5 * shade;
        }
        image.data[k + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
  };
  return element;
}
