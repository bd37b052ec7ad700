/** TLS: faults in its files are reported at the start with the setting’s name, and closing never ends the process. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { closeRedis, connectRedis } from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { readTlsFiles } from '../../../../src/adapters/redis/connection/tls-files.ts';
import { freePort } from '../../../e2e/redis/free-port.ts';
import { asArguments, certify, tlsFlags } from '../../../support/certify.ts';
import { settingsFor, startRedis } from '../../../support/redis-servers.ts';

it('the contents of the files are used', async () => {
  const { certificate, key } = await certify();
  expect(readTlsFiles({})).toEqual({});
  expect(readTlsFiles({ tls_ca_file: certificate, tls_cert_file: certificate, tls_key_file: key })).toEqual({
    ca: readFileSync(certificate, 'utf8'),
    cert: readFileSync(certificate, 'utf8'),
    key: readFileSync(key, 'utf8'),
  });
});

it.each(['tls_ca_file', 'tls_cert_file', 'tls_key_file'])(
  '%s must exist and have the right content',
  async (name) => {
    const { certificate, key } = await certify();
    const wrong = name === 'tls_key_file' ? certificate : key;
    expect(() => readTlsFiles({ [name]: '/nowhere/a.pem' })).toThrow(
      `scheduler.cluster.redis.${name} cannot be read: ENOENT: no such file or directory, open '/nowhere/a.pem'`,
    );
    expect(() => readTlsFiles({ [name]: wrong })).toThrow(
      `scheduler.cluster.redis.${name} cannot be used: ${wrong}: error:`,
    );
  },
);

it('a certificate with the key of another is refused', async () => {
  const [one, other] = [await certify(), await certify()];
  expect(() => readTlsFiles({ tls_cert_file: one.certificate, tls_key_file: other.key })).toThrow(
    /^scheduler\.cluster\.redis\.tls_cert_file and tls_key_file do not belong together: .*mismatch/,
  );
});

it('a connection closed during a failing handshake emits no error', async () => {
  const port = await freePort();
  const redis = await startRedis(asArguments(tlsFlags(port, await certify())));
  onTestFinished(() => redis.stop());
  const unhandled: unknown[] = [];
  const note = (fault: unknown) => unhandled.push(fault);
  process.on('uncaughtException', note);
  onTestFinished(() => void process.off('uncaughtException', note));
  // One of these delays hits the handshake.
  for (let round = 0; round < 150; round += 1) {
    const connection = connectRedis(settingsFor({ url: `rediss://127.0.0.1:${port}` }), { name: 'test' });
    await pause((round % 15) / 2);
    closeRedis(connection);
  }
  await pause(100);
  expect(unhandled).toEqual([]);
});
