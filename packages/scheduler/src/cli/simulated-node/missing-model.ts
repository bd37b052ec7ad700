/** The error of a simulated node that lacks a model. */
import { JobError } from '@lingua/sdk/node';
import type { Behaviour } from './behaviour.ts';

export const missingModel = (behaviour: Behaviour): JobError =>
  new JobError('MODEL_NOT_AVAILABLE', 'a simulated lack', {
    service_id: behaviour.modelNotAvailableService,
    service_version: '1.0.0',
    reason: 'simulated',
  });
