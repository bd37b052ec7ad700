/** A quota of a tenant and how much of it is used. */
import { type Static, Type } from 'typebox';
import { count, label, oneOf, optional, quantity } from './bounded.ts';

export const QuotaUse = Type.Object(
  {
    period: oneOf(['day', 'month'], 'Period (UTC)'),
    unit: oneOf(
      ['jobs', 'audio_seconds', 'characters', 'voice_seconds'],
      'What is counted: accepted results, recognised audio, translated characters, synthesised voice',
    ),
    used: quantity('Used in this period, over all instances; a few seconds old'),
    soft: optional(count('From here on the tenant is only informed')),
    hard: optional(count('From here on new work is refused with QUOTA_EXCEEDED')),
    resets_at: label('When the period ends (ISO 8601)'),
  },
  {
    title: 'QuotaUse',
    description: 'A quota of the tenant; in answers one that it has reached, absent: none',
  },
);
export type QuotaUse = Static<typeof QuotaUse>;
