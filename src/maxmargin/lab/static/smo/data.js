// Where points come from: examples, a CSV file with its columns chosen, a clean sheet.
import { button, choice, select } from "../controls.js";
import { h, set } from "../dom.js";

const EXAMPLES = [
  ["moons", "two moons"],
  ["chess", "chess board"],
  ["banana", "banana"],
  ["xor", "XOR"],
  ["blobs", "blobs (report 001)"],
  ["separable", "separable"],
  ["three", "three classes"],
  ["wave", "wave (regression)"],
  ["four", "four points (6.1.4)"],
];
const LARGEST = 6_000_000;

/** `onRequest(fields)` replaces the request; `onTool(tool)` says what a click does. */
export function data(lab, { onRequest, onTool }) {
  const note = h("p", { class: "note", role: "status" });
  const examples = select({ label: "example", options: [["", "–"], ...EXAMPLES], value: lab.state.example ?? "", onChange: (name) => name && load(name) });
  const file = h("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", hidden: true, "aria-label": "CSV file" });
  const open = button("CSV …", () => file.click(), { title: "points from two columns of a table" });
  const columns = h("span", { class: "controls columns-of-file", hidden: true });
  const clean = button("Clear", () => onRequest({ points: [], example: "" }), { title: "remove all points" });
  const tools = choice({
    label: "what a click puts down",
    options: [
      [0, "● class 0"],
      [1, "■ class 1"],
      [2, "▲ class 2"],
      ["delete", "delete", "delete the point under the pointer (also shift and click)"],
    ],
    value: 1,
    onChange: onTool,
  });
  let text = "";

  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    file.value = "";
    if (!chosen) return;
    if (chosen.size > LARGEST) {
      lab.tell(`${chosen.name} has ${Math.round(chosen.size / 1e6)} MB; up to ${LARGEST / 1e6} MB can be read here: take fewer rows.`);
      return;
    }
    text = await chosen.text();
    read({});
  });

  async function load(name) {
    try {
      const { request } = await lab.ask("smo", { action: "example", example: name });
      set(columns, { hidden: true });
      note.textContent = "";
      onRequest(request);
    } catch (error) {
      lab.tell(error.message);
    }
  }

  async function read(chosen) {
    try {
      const found = await lab.ask("smo", { action: "csv", text, ...chosen });
      lab.tell(null);
      note.textContent = `${found.notes.join("; ")}. Classes: ${found.classes.join(", ")}.`;
      offer(found.columns, chosen);
      examples.value = "";
      onRequest({ points: found.points, example: "" });
    } catch (error) {
      lab.tell(error.message);
    }
  }

  function offer(list, chosen) {
    const all = list.map(({ name }, k) => [String(k), name]);
    const numeric = all.filter((_, k) => list[k].numeric);
    const menu = (name, label, options) =>
      select({ label, options: [["", "guessed"], ...options], value: String(chosen[name] ?? ""), onChange: (value) => {
        const next = { ...chosen };
        if (value === "") delete next[name];
        else next[name] = Number(value);
        read(next);
      } });
    set(columns, { hidden: false });
    columns.replaceChildren(menu("x", "across", numeric), menu("y", "up", numeric), menu("label", "class", all));
  }

  const element = h("div", {}, h("div", { class: "controls" }, examples, open, file, clean, tools), columns, note);
  element.examples = examples;
  return element;
}
