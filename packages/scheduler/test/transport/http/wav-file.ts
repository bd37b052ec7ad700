/** A wav file of 16-bit mono samples. */
export function wavFile(samples: readonly number[], sampleRate: number): Uint8Array<ArrayBuffer> {
  const file = new DataView(new ArrayBuffer(44 + samples.length * 2));
  const tag = (at: number, text: string) => {
    for (const [index, char] of [...text].entries()) file.setUint8(at + index, char.charCodeAt(0));
  };
  tag(0, 'RIFF');
  file.setUint32(4, file.byteLength - 8, true);
  tag(8, 'WAVEfmt ');
  file.setUint32(16, 16, true);
  file.setUint16(20, 1, true);
  file.setUint16(22, 1, true);
  file.setUint32(24, sampleRate, true);
  file.setUint32(28, sampleRate * 2, true);
  file.setUint16(32, 2, true);
  file.setUint16(34, 16, true);
  tag(36, 'data');
  file.setUint32(40, samples.length * 2, true);
  for (const [index, sample] of samples.entries()) file.setInt16(44 + index * 2, sample, true);
  return new Uint8Array(file.buffer);
}
