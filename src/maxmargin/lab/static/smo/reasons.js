// Why this pair: the scores of the candidates that the policy compared.
import { clear, h, shown } from "../dom.js";

const POLICIES = {
  second_order: "αᵢ has the largest gradient of all that may rise; of its partners αⱼ, the one with the largest Newton gain is taken.",
  mvp: "The most violating pair: the largest gradient that may rise with the smallest that may fall.",
  max_gain: "Of all pairs with a variable of the last pair, the one with the largest gain inside the box.",
  hybrid_max_gain: "Maximum gain over pairs with a variable of the last pair, unless the last step ended in a corner; then second order.",
  greedy: "Of all pairs, the one with the largest gain inside the box.",
  platt: "Platt's two loops: the next sample in line that violates, with the partner of the largest difference.",
  random: "Any violating pair, drawn at random.",
};
const MEASURES = { slope: "slope Gᵢ − Gⱼ", "newton gain": "gain of the Newton step", gain: "gain in the box" };
const KINDS = {
  free: "a free step: the optimum on the line lies inside the box",
  clipped: "a clipped step: the box ends it",
  planned: "a planned step: the best one if a recent pair comes next",
  face: "a Newton step on all free variables at once",
};

export function reasons() {
  const text = h("p", { class: "reason" });
  const list = h("div", { class: "candidates", role: "list" });
  const element = h("div", {}, text, list);
  element.draw = (step, selection) => {
    if (!step) {
      clear(text, "At the start all variables are 0, or where the sums ask them to be. Step forward with → or ▶.");
      clear(list);
      return;
    }
    if (!step.pair) {
      clear(text, `This was ${KINDS.face}: ${step.moved} moved.`);
      clear(list);
      return;
    }
    const [i, j] = step.pair;
    clear(text, h("b", {}, `α${sub(i)} rises, α${sub(j)} falls`), ` by ${shown(step.after[0] - step.before[0])}: ${KINDS[step.kind]}. `, POLICIES[selection] ?? "");
    const best = Math.max(...step.candidates.map(([, , score]) => score), 1e-300);
    clear(
      list,
      h("div", { class: "head" }, `candidates by ${MEASURES[step.measure]}`),
      step.candidates.map(([a, b, score]) => {
        const chosen = a === i && b === j;
        const bar = h("i");
        bar.style.width = `${Math.max(1, (100 * score) / best)}%`;
        return h("div", { class: chosen ? "candidate chosen" : "candidate", role: "listitem" }, h("span", {}, `(${a}, ${b})${chosen ? " ✓" : ""}`), h("span", { class: "track" }, bar), h("span", {}, shown(score, 3)));
      }),
    );
    if (!step.candidates.some(([a, b]) => a === i && b === j)) list.append(h("p", { class: "note" }, "The chosen pair is not among the best by this score: the policy takes it for another reason (a recent pair that planning prefers, a draw, or Platt's order)."));
  };
  return element;
}

const sub = (n) => [...String(n)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
