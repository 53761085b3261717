// Elements in one line each, and numbers as people read them.

const SVG = "http://www.w3.org/2000/svg";

/** h("button", {class: "x", onclick: f, "aria-label": "y"}, child, "text") */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  set(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Change attributes; a function is a listener, null removes, true is an empty attribute. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

export function clear(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A number with so many significant digits; a dash where there is none. */
export function shown(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return value.toLocaleString("en").replace("-", "−");
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-3 || size >= 1e6)
      ? value.toExponential(digits - 1).replace(/\.?0*e\+?/, "e")
      : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

/** Call at most once a frame, with the newest arguments. */
export function framed(callback) {
  let newest = null;
  return (...values) => {
    if (newest === null) {
      requestAnimationFrame(() => {
        const latest = newest;
        newest = null;
        callback(...latest);
      });
    }
    newest = values;
  };
}

/** Ask one question at a time; of those that come meanwhile only the newest is asked. */
export function latest(question, onAnswer, onError) {
  let busy = false;
  let next = null;
  return async function put(request) {
    if (busy) {
      next = { request };
      return;
    }
    busy = true;
    try {
      onAnswer(await question(request), request);
    } catch (error) {
      onError(error);
    } finally {
      busy = false;
    }
    if (next) {
      const { request: waiting } = next;
      next = null;
      await put(waiting);
    }
  };
}
