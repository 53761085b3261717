// Arrays that come packed as base64 text.

const KINDS = { float32: Float32Array, uint8: Uint8Array };

/** {shape: [rows, columns], row(k)} of a packed matrix. */
export function unpacked({ shape, kind, data }) {
  const binary = atob(data);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  const values = new KINDS[kind](bytes.buffer);
  const columns = shape[1];
  return { shape, row: (k) => values.subarray(k * columns, (k + 1) * columns) };
}
