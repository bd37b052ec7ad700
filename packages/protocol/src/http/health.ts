/** Liveness and readiness of this instance. */
import { type Static, Type } from 'typebox';
import { anyOf, flag, label, list, optional, quantity, text } from '../shared/bounded.ts';

export const HealthCheck = Type.Object(
  { name: label('Name of the check'), ok: flag('Whether it passed'), detail: optional(text('More', 4096)) },
  { title: 'HealthCheck', description: 'One condition of readiness' },
);
export type HealthCheck = Static<typeof HealthCheck>;

export const HealthReply = Type.Object(
  {
    status: anyOf(['ok', 'starting', 'draining', 'unavailable'], 'Anything but ok has status 503'),
    reasons: optional(list(label('Reason'), 64, 'Why it is not ok')),
    instance_id: optional(label('This instance')),
    version: optional(label('Version of the scheduler')),
    uptime_ms: optional(quantity('Time since it started')),
    checks: optional(list(HealthCheck, 64, 'Conditions of readiness')),
  },
  { title: 'HealthReply', description: 'State of this instance' },
);
export type HealthReply = Static<typeof HealthReply>;
