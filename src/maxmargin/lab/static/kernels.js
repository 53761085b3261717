// Values of f(x) = Σ coef_i k(x_i, x) + intercept for coefficients that the library found.

const POWER = (base, degree) => {
  let product = 1;
  for (let k = 0; k < degree; k++) product *= base;
  return product;
};

/** k(x, z) for points in the plane. */
function kernel({ name, gamma, degree }) {
  if (name === "gaussian") return (dx, dy) => Math.exp(-gamma * (dx * dx + dy * dy));
  if (name === "polynomial") return (product) => POWER(gamma * product + 1, degree);
  return (product) => product;
}

/** f on a grid of xs × ys, row by row from ys[0]. `points` are [x, y] of the coefficients. */
export function onGrid({ points, coef, intercept }, about, xs, ys) {
  const values = new Float32Array(xs.length * ys.length).fill(intercept);
  const width = xs.length;
  for (let n = 0; n < points.length; n++) {
    const c = coef[n];
    if (!c) continue;
    const [px, py] = points[n];
    if (about.name === "gaussian") {
      // A Gaussian of the distance is a product over the coordinates.
      const across = xs.map((x) => Math.exp(-about.gamma * (x - px) ** 2));
      for (let r = 0; r < ys.length; r++) {
        const down = c * Math.exp(-about.gamma * (ys[r] - py) ** 2);
        if (Math.abs(down) < 1e-12) continue;
        for (let q = 0; q < width; q++) values[r * width + q] += down * across[q];
      }
    } else {
      const k = kernel(about);
      for (let r = 0; r < ys.length; r++) {
        const fixed = ys[r] * py;
        for (let q = 0; q < width; q++) values[r * width + q] += c * k(xs[q] * px + fixed);
      }
    }
  }
  return values;
}

/** f on a line, for regression: `xs` are the inputs, points [x, target]. */
export function onLine({ points, coef, intercept }, about, xs) {
  const k = kernel(about);
  return xs.map((x) => {
    let sum = intercept;
    for (let n = 0; n < points.length; n++) {
      if (!coef[n]) continue;
      sum += coef[n] * (about.name === "gaussian" ? k(x - points[n][0], 0) : k(x * points[n][0]));
    }
    return sum;
  });
}

/** Segments [x0, y0, x1, y1] of the contour of grid values at a level (marching squares). */
export function contour(values, xs, ys, level) {
  const width = xs.length;
  const found = [];
  const cut = (a, b, u, v) => u + ((level - a) / (b - a)) * (v - u);
  for (let r = 0; r + 1 < ys.length; r++) {
    for (let q = 0; q + 1 < width; q++) {
      const a = values[r * width + q];
      const b = values[r * width + q + 1];
      const c = values[(r + 1) * width + q + 1];
      const d = values[(r + 1) * width + q];
      const code = (a > level) + 2 * (b > level) + 4 * (c > level) + 8 * (d > level);
      if (code === 0 || code === 15) continue;
      const bottom = () => [cut(a, b, xs[q], xs[q + 1]), ys[r]];
      const right = () => [xs[q + 1], cut(b, c, ys[r], ys[r + 1])];
      const top = () => [cut(d, c, xs[q], xs[q + 1]), ys[r + 1]];
      const left = () => [xs[q], cut(a, d, ys[r], ys[r + 1])];
      const lines = {
        1: [[left, bottom]], 2: [[bottom, right]], 3: [[left, right]], 4: [[right, top]],
        5: [[left, top], [bottom, right]], 6: [[bottom, top]], 7: [[left, top]], 8: [[top, left]],
        9: [[bottom, top]], 10: [[left, bottom], [right, top]], 11: [[right, top]], 12: [[left, right]],
        13: [[bottom, right]], 14: [[left, bottom]],
      }[code];
      for (const [from, to] of lines) found.push([...from(), ...to()]);
    }
  }
  return found;
}

export function spaced(low, high, count) {
  return Array.from({ length: count }, (_, k) => low + ((high - low) * k) / (count - 1));
}
