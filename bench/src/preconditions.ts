/** What a long run needs of this machine, checked before it begins. Each check returns undefined, or a text for the user. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';

/** An existing file stays as it is. */
export function whyUnwritable(flag: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const isNew = !existsSync(path);
  try {
    closeSync(openSync(path, 'a'));
    if (isNew) rmSync(path);
    return undefined;
  } catch (fault) {
    return `${flag}: "${path}" cannot be written (${codeOf(fault)}); name a file in a folder that exists and is yours to write to`;
  }
}

/** `instead`: what can be done without it. */
export function whyNoRedis(instead: string): string | undefined {
  const { error } = spawnSync('redis-server', ['--version'], { stdio: 'ignore' });
  return error === undefined
    ? undefined
    : `there is no redis-server on this machine. Install it (apt-get install redis-server), or ${instead}.`;
}

export const codeOf = (fault: unknown): string =>
  (fault as NodeJS.ErrnoException).code ?? (fault instanceof Error ? fault.message : String(fault));
