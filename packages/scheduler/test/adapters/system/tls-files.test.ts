/** Faults in files of TLS are reported with the name of the setting. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readTlsFiles } from '../../../src/adapters/system/tls-files.ts';
import { certify } from '../../support/certify.ts';

const GROUP = 'scheduler.cluster.redis.tls_';

it('the contents of the files are used', async () => {
  const { certificate, key } = await certify();
  expect(readTlsFiles(GROUP, {})).toEqual({});
  const files = { ca: certificate, client_ca: certificate, cert: certificate, key };
  const text = readFileSync(certificate, 'utf8');
  expect(readTlsFiles(GROUP, files)).toEqual({
    ca: text,
    client_ca: text,
    cert: text,
    key: readFileSync(key, 'utf8'),
  });
});

it.each(['ca', 'client_ca', 'cert', 'key'])('%s_file must exist and have the right content', async (part) => {
  const { certificate, key } = await certify();
  const wrong = part === 'key' ? certificate : key;
  expect(() => readTlsFiles(GROUP, { [part]: '/nowhere/a.pem' })).toThrow(
    `scheduler.cluster.redis.tls_${part}_file cannot be read: ENOENT: no such file or directory, open '/nowhere/a.pem'`,
  );
  expect(() => readTlsFiles(GROUP, { [part]: wrong })).toThrow(
    `scheduler.cluster.redis.tls_${part}_file cannot be used: ${wrong}: error:`,
  );
});

it('a certificate with the key of another is refused', async () => {
  const [one, other] = [await certify(), await certify()];
  expect(() => readTlsFiles('server.tls.', { cert: one.certificate, key: other.key })).toThrow(
    /^server\.tls\.cert_file and server\.tls\.key_file do not belong together: .*mismatch/,
  );
});
