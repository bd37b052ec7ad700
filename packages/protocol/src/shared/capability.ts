/** The services for which a node reports itself ready, in both generations of the capability schema. */
import { type Static, Type } from 'typebox';
import { anyOf, flag, label, list, map, optional, text } from './bounded.ts';
import { ServiceType } from './installed-service.ts';

const ServiceState = anyOf(['ready', 'downloading', 'not_installed', 'error'], 'State of one service');
export type ServiceState = Static<typeof ServiceState>;

export const CapabilityState = map<ServiceState>(
  ServiceState,
  1024,
  'Capability schema 1.0: service_id to ready, downloading, not_installed or error',
);
export type CapabilityState = Static<typeof CapabilityState>;

export const TypeCapability = Type.Object(
  {
    type: ServiceType,
    ready: flag('Some implementation of this type is ready'),
    reason: optional(text('Why it is not ready')),
    ready_impl_ids: optional(list(label('Service id'), 1024, 'Implementations that are ready')),
    devices: optional(Type.Unknown({ description: 'Devices that serve the type, as the node names them' })),
  },
  { title: 'TypeCapability', description: 'Readiness of one service type' },
);
export type TypeCapability = Static<typeof TypeCapability>;

export const CapabilityByType = list(TypeCapability, 64, 'Capability schema 2.0: readiness per service type');
export type CapabilityByType = Static<typeof CapabilityByType>;
