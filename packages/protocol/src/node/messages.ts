/** The messages on /ws/node, per direction. */
import type { Static } from 'typebox';
import { ErrorMessage } from '../shared/error-message.ts';
import { JobCancel, NodeControl, NodeRegisterAck, NodeStatus } from './control.ts';
import { JobAssign } from './job-assign.ts';
import { JobAck, JobResult, JobStarted, JobText, NodeAsrPartial } from './job-reports.ts';
import { NodeError, NodeHeartbeat, NodeRegister } from './registration.ts';

export const NODE_TO_SCHEDULER = [
  NodeRegister,
  NodeHeartbeat,
  JobAck,
  JobStarted,
  NodeAsrPartial,
  JobText,
  JobResult,
  NodeError,
] as const;
export type NodeToScheduler = Static<(typeof NODE_TO_SCHEDULER)[number]>;

export const SCHEDULER_TO_NODE = [
  NodeRegisterAck,
  NodeStatus,
  JobAssign,
  JobCancel,
  NodeControl,
  ErrorMessage,
] as const;
export type SchedulerToNode = Static<(typeof SCHEDULER_TO_NODE)[number]>;
