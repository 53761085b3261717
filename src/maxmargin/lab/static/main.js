// The frame around a room: menu, explanation, permanent link, code, messages.
import * as address from "./address.js";
import { clear, h } from "./dom.js";

/** Start the lab. `load(name)` gives the module of a room, `connect(onChange)` the function `ask`. */
export function start({ rooms, load, connect, recording }) {
  const message = h("p", { class: "message", role: "alert", hidden: true });
  const waiting = h("p", { class: "waiting", role: "status", hidden: true });
  const menu = h("nav", { "aria-label": "rooms" });
  const title = h("h1");
  const sentence = h("p", { class: "sentence" });
  const root = h("main", { tabindex: "-1" });
  const code = h("pre", { tabindex: "0", "aria-label": "Python code of this view" });
  const details = h("details", { class: "code" }, h("summary", {}, "Show me the code"), copyButton(code), code);
  const link = recording ? null : h("button", { type: "button", onclick: copyLink }, "Copy link");
  const header = h("header", {}, h("span", { class: "brand" }, "maxmargin lab"), menu, link, recording ? opener(again, (text) => tell(text)) : null);
  document.body.replaceChildren(header, message, h("div", { class: "intro" }, title, sentence), waiting, root, details);

  document.body.classList.toggle("recorded", recording !== null);

  const tell = (text) => {
    message.textContent = text ?? "";
    message.hidden = !text;
  };
  const ask = recording ? replay(recording) : patient(connect(tell), waiting);
  let leave = null;
  let current = null;
  let written = "";
  let writing = null;
  let pending = null;

  /** Play another recording of the same room. */
  function again(next) {
    if (next.room !== recording.room) tell(`This page plays recordings of the room "${recording.room}", not of "${next.room}".`);
    else {
      leave?.();
      start({ rooms, load, connect, recording: { ...recording, ...next } });
    }
  }

  function copyLink(event) {
    pending?.();
    navigator.clipboard?.writeText(location.href);
    event.target.textContent = "Copied";
    setTimeout(() => (event.target.textContent = "Copy link"), 1500);
  }

  /** Write the address once changes pause: browsers slow down those who write often. */
  function remember(name, state) {
    clearTimeout(writing);
    pending = () => {
      pending = null;
      written = address.write(name, state);
      history.replaceState(null, "", written);
    };
    writing = setTimeout(() => pending?.(), 200);
  }

  async function show(name, state) {
    clearTimeout(writing);
    pending = null;
    const room = rooms.find((one) => one.name === name) ?? rooms[0];
    leave?.();
    leave = null;
    current = room.name;
    tell(null);
    title.textContent = room.title;
    sentence.textContent = room.sentence;
    document.title = `${room.title} · maxmargin lab`;
    for (const one of menu.children) {
      if (one.dataset.room === room.name) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
    clear(root, h("p", { class: "waiting" }, "loading …"));
    const module = await load(room.name);
    if (current !== room.name) return;
    clear(root);
    const lab = {
      /** An answer of the server; rejected with an Error whose message is for the visitor. */
      ask,
      /** The state in the address: plain JSON, small. */
      state: { ...room.example, ...state },
      /** Change the state; the address follows. */
      keep(patch) {
        Object.assign(lab.state, patch);
        // An answer may come after the visitor has left the room.
        if (!recording && current === room.name) remember(room.name, lab.state);
      },
      /** The Python lines behind the view. */
      code: (text) => (code.textContent = text),
      /** Tell the visitor of a problem; null takes it back. */
      tell,
      /** Whether this page is a recording, which cannot compute anything new. */
      recorded: recording !== null,
    };
    leave = module.mount(root, lab) ?? null;
  }

  function follow() {
    if (location.hash === written && written) return;
    const { room, state } = address.read(location.hash);
    show(room, state);
  }

  for (const room of rooms) {
    menu.append(h("a", { href: `#${room.name}`, "data-room": room.name }, room.title));
  }
  if (rooms.length < 2) menu.hidden = true;
  if (recording) {
    show(recording.room, recording.request);
  } else {
    addEventListener("hashchange", follow);
    follow();
  }
}

/** The same questions; where an answer takes more than a second the page says so. */
function patient(ask, waiting) {
  let open = 0;
  return async (room, request) => {
    open += 1;
    const timer = setTimeout(() => {
      waiting.textContent = "Computing … (the first run on a machine compiles for about 20 s, once.)";
      waiting.hidden = false;
    }, 1000);
    try {
      return await ask(room, request);
    } finally {
      clearTimeout(timer);
      open -= 1;
      if (open === 0) waiting.hidden = true;
    }
  };
}

/** A button that opens a file written by `maxmargin trace`. */
function opener(onRecording, tell) {
  const file = h("input", { type: "file", accept: ".json,application/json", hidden: true, "aria-label": "trace file" });
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      const { format, room, request, answer } = JSON.parse(await chosen.text());
      if (!String(format).startsWith("maxmargin trace")) throw new Error("no trace");
      onRecording({ room, request, answers: [{ room, request, answer }] });
    } catch {
      tell(`${chosen.name} is not a trace: \`maxmargin trace data.csv -o trace.json\` writes one.`);
    }
  });
  return h("span", {}, h("button", { type: "button", onclick: () => file.click() }, "Open trace …"), file);
}

/** Answers from a recording: by the kind of question; one without a kind answers the first kind. */
function replay({ answers }) {
  return async (room, { action }) => {
    const own = answers.filter((one) => one.room === room);
    const same = own.find(({ request }) => request.action === action) ?? own.find(({ request }) => !request.action);
    if (!same) throw new Error("This page is a recording. Install maxmargin and start `maxmargin lab` to change it.");
    return structuredClone(same.answer);
  };
}

function copyButton(code) {
  return h("button", { type: "button", onclick: () => navigator.clipboard?.writeText(code.textContent) }, "Copy");
}
