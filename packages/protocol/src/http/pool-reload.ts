/** HTTP bodies: the result of reloading the pools, or pools and credentials. */
import { type Static, Type } from 'typebox';
import { count, flag, list, text } from '../shared/bounded.ts';

export const PoolReloadReply = Type.Object(
  {
    ok: Type.Literal(true),
    changed: flag('The pools have changed'),
    pool_count: count('Pools in force; 0 if the fleet has no pools'),
    needs_restart: list(
      text('Key of a setting', 256),
      1_000,
      'Other settings that differ from those in force',
    ),
  },
  {
    title: 'PoolReloadReply',
    description: 'The pools of the configuration file are in force on this instance',
  },
);
export type PoolReloadReply = Static<typeof PoolReloadReply>;

export const ReloadReply = Type.Object(
  {
    ...PoolReloadReply.properties,
    credentials_changed: flag('Tokens or keys have changed: sockets of revoked tokens are closed'),
  },
  {
    title: 'ReloadReply',
    description: 'The pools, tokens and keys of the configuration are in force on this instance',
  },
);
export type ReloadReply = Static<typeof ReloadReply>;
