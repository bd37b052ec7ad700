/** Reads the constant tensors of an ONNX file: their names and numbers, nothing of its graph. Pure. */

const VARINT = 0;
const EIGHT_BYTES = 1;
const BYTES = 2;
const FOUR_BYTES = 5;
const FLOAT = 1;

type Field = readonly [number: number, value: number | Uint8Array];

/** The fields of one message of protocol buffers. Numbers beyond 2^53, which no name or size has, come out wrong. */
function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = view.getUint8(at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [number, kind] = [Math.floor(tag / 8), tag % 8];
    if (kind === VARINT) yield [number, varint()];
    else if (kind === BYTES) {
      const length = varint();
      yield [number, bytes.subarray(at, at + length)];
      at += length;
    } else if (kind === FOUR_BYTES || kind === EIGHT_BYTES) at += kind === FOUR_BYTES ? 4 : 8;
    else throw new RangeError(`the model file has an unknown kind of field, ${kind}, before byte ${at}`);
  }
}

const nested = (bytes: Uint8Array, number: number): Uint8Array[] =>
  [...fieldsOf(bytes)].flatMap(([found, value]) =>
    found === number && typeof value !== 'number' ? [value] : [],
  );
const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** Field numbers of onnx.proto. */
const MODEL_GRAPH = 7;
const GRAPH_NODE = 1;
const NODE_OUTPUT = 2;
const NODE_ATTRIBUTE = 5;
const ATTRIBUTE_TENSOR = 5;
const ATTRIBUTE_GRAPH = 6;
const TENSOR_TYPE = 2;
const TENSOR_RAW = 9;

/** By the name of the node's output, also of nodes in branches of a condition. Only numbers of 32-bit floating point. */
export function readTensors(model: Uint8Array): Map<string, Float32Array> {
  const tensors = new Map<string, Float32Array>();
  const readGraph = (graph: Uint8Array): void => {
    for (const node of nested(graph, GRAPH_NODE))
      for (const attribute of nested(node, NODE_ATTRIBUTE)) {
        for (const branch of nested(attribute, ATTRIBUTE_GRAPH)) readGraph(branch);
        const [tensor] = nested(attribute, ATTRIBUTE_TENSOR);
        const [raw] = tensor === undefined ? [] : nested(tensor, TENSOR_RAW);
        if (tensor === undefined || raw === undefined) continue;
        const isFloat = [...fieldsOf(tensor)].some(
          ([number, value]) => number === TENSOR_TYPE && value === FLOAT,
        );
        // A copy: the numbers of the file are not aligned.
        if (isFloat) tensors.set(textOf(nested(node, NODE_OUTPUT)[0]), new Float32Array(raw.slice().buffer));
      }
  };
  for (const graph of nested(model, MODEL_GRAPH)) readGraph(graph);
  return tensors;
}
