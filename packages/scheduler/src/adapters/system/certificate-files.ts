/** Cold path: the certificate of the server, and the authorities that it trusts, from files that are read again when they change. */
import { X509Certificate } from 'node:crypto';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { readTlsFiles, stampOf, type TlsFiles } from './tls-files.ts';

/** How often the files are looked at. */
const LOOK_MS = 2_000;

/** Contents of PEM files. */
interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string | undefined;
}

/** Throws if a file cannot be used. `group`: of the settings that name the files. */
export function createCertificateFiles(deps: { group: string; files: TlsFiles; clock: Clock; log: Log }) {
  const { group, files, clock, log } = deps;
  let stamp = stampOf(files);
  let parts = readTlsFiles(group, files);
  let cancel: Cancel = () => {};

  const certificate = (): ServerCertificate | undefined => {
    const { cert, key, client_ca: clientCa } = parts;
    return cert === undefined || key === undefined ? undefined : { cert, key, clientCa };
  };

  function readAgain(use: (certificate: ServerCertificate) => void): void {
    try {
      parts = readTlsFiles(group, files);
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
