/** Removes the path that a proxy leaves in front of every request, so that routes and sockets have one address each. */
import type { Server } from 'node:http';

export function stripBasePath(basePath: string, url: string): string {
  if (basePath === '' || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}

/** For sockets; the framework does the same for requests. Must be called before their server listens for upgrades. */
export function stripUpgrades(server: Server, basePath: string): void {
  if (basePath === '') return;
  server.on('upgrade', (request) => {
    request.url = stripBasePath(basePath, request.url ?? '/');
  });
}
