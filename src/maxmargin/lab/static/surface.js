// A function of two variables on a grid: as a picture of colours, and as contour lines.
import { s } from "./dom.js";

/** Values f(x, y) on a grid of so many points over a box [x0, x1, y0, y1], row by row from y0. */
export function sampled(f, [x0, x1, y0, y1], count) {
  const at = (low, high, k) => low + ((high - low) * k) / (count - 1);
  return Array.from({ length: count }, (_, row) => Array.from({ length: count }, (_, column) => f(at(x0, x1, column), at(y0, y1, row))));
}

/** An SVG image of a grid; `colour(value)` gives [r, g, b, a]. The first row is at the bottom. */
export function picture(values, colour, [left, right, bottom, top], smooth = true) {
  const rows = values.length;
  const columns = values[0].length;
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  values.forEach((line, row) => line.forEach((value, column) => image.data.set(colour(value), 4 * ((rows - 1 - row) * columns + column))));
  context.putImageData(image, 0, 0);
  // Cells are centred on the points of the grid.
  const wide = (right - left) / (columns - 1);
  const high = (bottom - top) / (rows - 1);
  return s("image", { href: canvas.toDataURL(), x: left - wide / 2, y: top - high / 2, width: right - left + wide, height: bottom - top + high, preserveAspectRatio: "none", "image-rendering": smooth ? null : "pixelated" });
}

/** [r, g, b] of a colour of the style sheet. */
export function colourOf(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
}

/** The path of a contour line (marching squares); `mx`, `my` map columns and rows to the picture. */
export function contour(values, level, mx, my) {
  let path = "";
  const between = (a, b) => (level - a) / (b - a);
  for (let row = 0; row + 1 < values.length; row++) {
    for (let column = 0; column + 1 < values[0].length; column++) {
      const [a, b] = [values[row][column], values[row][column + 1]];
      const [d, c] = [values[row + 1][column], values[row + 1][column + 1]];
      if ([a, b, c, d].some((value) => value === null)) continue;
      const ends = [];
      if (a > level !== b > level) ends.push([column + between(a, b), row]);
      if (b > level !== c > level) ends.push([column + 1, row + between(b, c)]);
      if (d > level !== c > level) ends.push([column + between(d, c), row + 1]);
      if (a > level !== d > level) ends.push([column, row + between(a, d)]);
      for (let k = 0; k + 1 < ends.length; k += 2) {
        const [p, q] = [ends[k], ends[k + 1]];
        path += `M${mx(p[0]).toFixed(1)} ${my(p[1]).toFixed(1)}L${mx(q[0]).toFixed(1)} ${my(q[1]).toFixed(1)}`;
      }
    }
  }
  return path;
}
