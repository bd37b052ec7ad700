/** Prints docs/redis-keys.md from the table of keys; their names are those of `createKeys`. Pure. */
import { KEY_TABLE, type KeyEntry } from '../../adapters/redis/connection/key-table.ts';
import { createKeys, type Keys } from '../../adapters/redis/keys.ts';
import { code, page, table } from './markdown.ts';

const INTRODUCTION = `# Keys in Redis

Printed from \`packages/scheduler/src/adapters/redis/connection/key-table.ts\` and \`keys.ts\` beside it; do not edit it, \`npm run docs\` writes it.

- \`lingua\` is \`scheduler.cluster.redis.key_prefix\`; \`v1\` is the version of the layout.
- Keys whose hash tag (the part in braces) is the same are in one hash slot of a Cluster; every script uses keys of one slot.
- Channels exist only while instances subscribe to them.
- Never change or delete a single key by hand. Removing everything under a prefix, with all instances stopped, is safe.`;

/** Arguments of the functions of \`createKeys\`, as they are shown. */
const PLACEHOLDERS: Readonly<Partial<Record<keyof Keys, readonly string[]>>> = {
  job: ['<tag>'],
  earlierJob: ['<tag>', '<job_id>'],
  usageHour: ['<tenant_id>', '<epoch_hour>'],
  usageDay: ['<tenant_id>', '<date>'],
  usageMonth: ['<tenant_id>', '<month>'],
  nodesSeen: ['<part>'],
  nodeNotices: ['<part>'],
  lock: ['<task>'],
  modelUnavailable: ['<service_id>@<version>'],
};
const OF_SLOT: Readonly<Partial<Record<KeyEntry['slot'], string>>> = {
  '{node}': '<node_id>',
  '{session}': '<session_id>',
  '{room}': '<room_id>',
  '{tenant}': '<tenant_id>',
};

/** The name of a key with placeholders for its ids. */
export function keyPattern(name: keyof Keys, prefix: string): string {
  const key: unknown = createKeys(prefix)[name];
  if (typeof key === 'string') return key;
  const placeholders = PLACEHOLDERS[name] ?? [OF_SLOT[KEY_TABLE[name].slot] ?? '<instance_id>'];
  return (key as (...ids: readonly string[]) => string)(...placeholders);
}

export function printRedisKeys(): string {
  const names = Object.keys(KEY_TABLE) as (keyof Keys)[];
  const rows = names.map((name) => {
    const { type, slot, expires = '', content } = KEY_TABLE[name];
    return [code(keyPattern(name, 'lingua')), type, slot, expires, content];
  });
  const renamed = names.flatMap((name) => {
    const { required } = KEY_TABLE[name];
    return required === undefined
      ? []
      : [[code(keyPattern(name, 'lingua')), code(required.name), required.why]];
  });
  return page(
    INTRODUCTION,
    table(['key', 'type', 'hash slot', 'expires', 'content'], rows),
    '## Names that differ from the requirements',
    'The requirements name these keys differently. All other keys have the name that the requirements give them, or are not in them.',
    table(['key', 'in the requirements', 'why'], renamed),
  );
}
