/** A service installed on a node, in both generations of the capability schema. */
import { type Static, Type } from 'typebox';
import { anyOf, label, optional, quantity, text } from './bounded.ts';

export const SERVICE_TYPES = ['asr', 'nmt', 'tts', 'tone', 'semantic', 'phonetic', 'punctuation'] as const;

export const ServiceType = anyOf(
  SERVICE_TYPES,
  'Type of service; phonetic and punctuation are informational',
);
export type ServiceType = Static<typeof ServiceType>;

export const InstalledService = Type.Object(
  {
    service_id: label('Name of the service'),
    version: optional(label('Version of the service')),
    platform: optional(label('Platform it is built for (schema 1.0)')),
    type: optional(ServiceType),
    device: optional(anyOf(['gpu', 'cpu'], 'Where it runs (schema 2.0)')),
    status: optional(anyOf(['running', 'stopped', 'error'], 'Whether it runs (schema 2.0)')),
    model_id: optional(label('Model it serves')),
    engine: optional(label('Inference engine')),
    mem_mb: optional(quantity('Memory it takes, in MB')),
    warmup_ms: optional(quantity('Time it takes to warm up')),
    last_error: optional(text('Why it last failed')),
  },
  {
    title: 'InstalledService',
    description: 'A service on the node: `platform` (schema 1.0) or `type`, `device`, `status` (2.0)',
  },
);
export type InstalledService = Static<typeof InstalledService>;
