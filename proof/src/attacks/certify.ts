/** Self-signed certificates for attacks and tests, made by openssl. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certified {
  /** Names of files. */
  readonly key: string;
  readonly certificate: string;
}

/** For a server at 127.0.0.1, or for a client that is known by the name. */
export async function certify(folder: string, name: string, file = name): Promise<Certified> {
  const [key, certificate] = [join(folder, `${file}.key.pem`), join(folder, `${file}.cert.pem`)];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
    ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'],
    ...['-keyout', key, '-out', certificate],
  ]);
  return { key, certificate };
}
