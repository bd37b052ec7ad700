/** The names in the certificate that a client showed in its TLS handshake. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Empty: no configured authority has signed it, or it has no name. Undefined: the client showed none. */
export function certificateNamesOf(socket: Socket): readonly string[] | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  if (!socket.authorized) return [];
  const { CN: common } = certificate.toLegacyObject().subject ?? {};
  return [...[common ?? []].flat(), ...alternativeNames(certificate.subjectAltName ?? '')];
}

/** Of hosts and URIs. Node.js quotes a name with commas or quotation marks in it, which is not supported here. */
export const alternativeNames = (text: string): readonly string[] =>
  [...text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').matchAll(/(?:^|, )(?:DNS|URI):([^,]+)/g)].map(
    ([, name = '']) => name,
  );
