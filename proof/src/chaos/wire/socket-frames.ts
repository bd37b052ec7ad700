/** Reads the text frames that a server sends over one TCP connection, without taking part in it. */

/** Takes everything the server sends, from the answer to the upgrade on. Other connections than WebSockets are ignored. */
export function createFrameReader(onText: (text: string) => void): (chunk: Buffer) => void {
  let buffer: Buffer = Buffer.alloc(0);
  let phase: 'head' | 'frames' | 'ignored' = 'head';
  let parts: Buffer[] = [];

  function readHead(): boolean {
    const end = buffer.indexOf('\r\n\r\n');
    if (end < 0) return false;
    phase = /^HTTP\/1\.1 101 /.test(buffer.subarray(0, end).toString('latin1')) ? 'frames' : 'ignored';
    buffer = buffer.subarray(end + 4);
    return true;
  }

  function readFrame(): boolean {
    const frame = frameAt(buffer);
    if (frame === undefined) return false;
    buffer = buffer.subarray(frame.end);
    // Control frames may come between the parts of a message.
    if (frame.opcode >= 8) return true;
    parts.push(frame.payload);
    if (!frame.isLast) return true;
    const message = Buffer.concat(parts);
    parts = [];
    onText(message.toString());
    return true;
  }

  return (chunk) => {
    if (phase === 'ignored') return;
    buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
    if (phase === 'head' && !readHead()) return;
    while (phase === 'frames' && readFrame());
  };
}

interface Frame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly payload: Buffer;
  readonly end: number;
}

/** Undefined: it is not complete. Servers do not mask. */
function frameAt(buffer: Buffer): Frame | undefined {
  if (buffer.length < 2) return undefined;
  const [first = 0, second = 0] = buffer;
  const short = second & 0x7f;
  const begin = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (buffer.length < begin) return undefined;
  let length = short;
  if (short === 126) length = buffer.readUInt16BE(2);
  else if (short === 127) length = Number(buffer.readBigUInt64BE(2));
  const end = begin + length;
  if (buffer.length < end) return undefined;
  return {
    opcode: first & 0x0f,
    isLast: (first & 0x80) !== 0,
    payload: buffer.subarray(begin, end),
    end,
  };
}
