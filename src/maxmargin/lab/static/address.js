// What a visitor sees is kept in the address, so that a link shows the same: #room/state.

export function write(room, state) {
  const text = new TextEncoder().encode(JSON.stringify(state));
  let binary = "";
  for (const byte of text) binary += String.fromCharCode(byte);
  const packed = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `#${room}/${packed}`;
}

/** {room, state} of an address; state is null where there is none or it cannot be read. */
export function read(hash) {
  const [room, packed] = hash.replace(/^#/, "").split("/");
  if (!packed) return { room, state: null };
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(bytes));
    return { room, state: state && typeof state === "object" ? state : null };
  } catch {
    return { room, state: null };
  }
}
