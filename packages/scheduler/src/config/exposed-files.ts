/** Finds files with secrets that every user of the machine may read. */
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { CheckFinding } from './origin.ts';
import type { Config } from './settings.ts';

const READABLE_BY_OTHERS = 0o004;

/** `path`: of the configuration file. Files that cannot be read are reported by their readers. */
export async function findExposedFiles(config: Config, path: string): Promise<readonly CheckFinding[]> {
  const folder = dirname(path);
  // Windows has no such permissions.
  if (process.platform === 'win32') return [];
  const { server, scheduler, webhooks } = config;
  const files: readonly (readonly [setting: string, path: string | undefined])[] = [
    ...server.tokens.map(
      ({ token_file }, index) => [`server.tokens[${index}].token_file`, token_file] as const,
    ),
    ...webhooks.receivers.map(
      ({ secret_file }, index) => [`webhooks.receivers[${index}].secret_file`, secret_file] as const,
    ),
    // A digest is no secret.
    ['server.tokens', server.tokens.some(({ token }) => token !== undefined) ? basename(path) : undefined],
    ['server.callback_key_file', server.callback_key_file],
    ['server.token_keys_file', server.token_keys_file],
    ['server.tls.key_file', server.tls.key_file],
    // Relative to the working directory.
    ['scheduler.cluster.redis.tls_key_file', absolute(scheduler.cluster.redis.tls_key_file)],
  ];
  const findings = files.map(async ([setting, file]): Promise<CheckFinding[]> => {
    if (file === undefined) return [];
    const found = await stat(resolve(folder, file)).catch(() => undefined);
    if (found === undefined || (found.mode & READABLE_BY_OTHERS) === 0) return [];
    const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
    const message = `may be read by every user of this machine (mode ${mode}): chmod 600 ${file}`;
    return [{ keys: [setting], message }];
  });
  return (await Promise.all(findings)).flat();
}

const absolute = (path: string | undefined): string | undefined => path && resolve(path);
