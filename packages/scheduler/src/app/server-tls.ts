/** Composition root: the certificate of the server, read again when its files change. */
import { X509Certificate } from 'node:crypto';
import { readTlsFiles, stampOf, type TlsFiles } from '../adapters/system/tls-files.ts';
import type { Config } from '../config/settings.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { ServerCertificate } from '../transport/http/server/listening-server.ts';

/** How often the files are looked at. */
const LOOK_MS = 2_000;

/** Throws if a file cannot be used. */
export function createServerTls({ config, clock, log }: { config: Config; clock: Clock; log: Log }) {
  const { cert_file: cert, key_file: key, client_ca_file: client_ca, ca_file: ca } = config.server.tls;
  const files: TlsFiles = { cert, key, client_ca, ca };
  let stamp = stampOf(files);
  let parts = readTlsFiles(GROUP, files);
  let cancel: Cancel = () => {};

  const certificate = (): ServerCertificate | undefined => {
    const { cert, key, client_ca: clientCa } = parts;
    return cert === undefined || key === undefined ? undefined : { cert, key, clientCa };
  };

  function readAgain(use: (certificate: ServerCertificate) => void): void {
    try {
      parts = readTlsFiles(GROUP, files);
    } catch (fault) {
      log.error({ err: fault }, 'changed TLS files cannot be used: the old ones stay in use');
      return;
    }
    const now = certificate();
    if (now === undefined) return;
    use(now);
    const { subject, validTo } = new X509Certificate(now.cert);
    log.info({ subject, valid_to: validTo }, 'TLS files have changed: new connections use them');
  }

  return {
    certificate,
    /** Authorities to trust when this instance calls others. */
    ca: (): string | undefined => parts.ca,
    /** `use` gets every new certificate. */
    watch(use: (certificate: ServerCertificate) => void): void {
      const look = (): void => {
        const seen = stampOf(files);
        if (seen !== stamp) readAgain(use);
        stamp = seen;
        cancel = clock.after(LOOK_MS, look);
      };
      if (stamp !== '') cancel = clock.after(LOOK_MS, look);
    },
    stop: (): void => cancel(),
  };
}

const GROUP = 'server.tls.';
