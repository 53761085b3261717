// Questions to the server and their answers, over one socket.

const GONE =
  "The lab's server does not answer any more. Start `maxmargin lab` again and open the address " +
  "that it prints; this page keeps what you see.";

/** Open the socket; `onChange(message)` gets null when connected, else what is wrong. */
export function connect(onChange) {
  const waiting = new Map();
  let number = 0;
  let socket = null;

  function open() {
    const address = new URL("socket", document.baseURI);
    address.protocol = "ws:";
    address.hash = "";
    return new Promise((resolve, reject) => {
      const opened = new WebSocket(address);
      opened.addEventListener("open", () => {
        onChange(null);
        resolve(opened);
      });
      opened.addEventListener("message", (event) => receive(JSON.parse(event.data)));
      opened.addEventListener("close", (event) => {
        socket = null;
        const error = new Error(event.reason ? `The server ended the connection: ${event.reason}` : GONE);
        for (const { reject: refuse } of waiting.values()) refuse(error);
        waiting.clear();
        onChange(error.message);
        reject(error);
      });
    });
  }

  function receive({ id, answer, error }) {
    const question = waiting.get(id);
    waiting.delete(id);
    if (!question) return;
    if (error === undefined) question.resolve(answer);
    else question.reject(new Error(error));
  }

  return async function ask(room, request) {
    socket ??= open();
    const opened = await socket;
    const id = ++number;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      opened.send(JSON.stringify({ id, room, request }));
    });
  };
}
