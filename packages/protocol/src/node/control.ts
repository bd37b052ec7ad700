/** Messages to a node that are not jobs: node_register_ack, node_status, job_cancel, node_control. */
import type { Static } from 'typebox';
import { anyOf, count, extension, id, label, optional, quantity, text, traceId } from '../shared/bounded.ts';
import { message } from '../shared/message.ts';
import { nodeStatus } from '../shared/node-status.ts';

export const NodeRegisterAck = message('node_register_ack', 'The node is registered', {
  node_id: id('Id of the node from now on; may differ from the requested one'),
  message: text('Text for people'),
  status: nodeStatus(),
  heartbeat_interval_ms: extension(count('How often to send node_heartbeat')),
  generation: extension(count('Number of this registration; the highest wins')),
});
export type NodeRegisterAck = Static<typeof NodeRegisterAck>;

export const NodeStatus = message('node_status', 'The state of the node has changed', {
  node_id: id('Id of the node'),
  status: nodeStatus('New state'),
  reason: optional(text('Why', 4096)),
  timestamp: quantity('When (Unix seconds)'),
});
export type NodeStatus = Static<typeof NodeStatus>;

export const JobCancel = message('job_cancel', 'The job is no longer needed', {
  job_id: id('Job'),
  trace_id: optional(traceId()),
  reason: optional(label('Why')),
});
export type JobCancel = Static<typeof JobCancel>;

export const NodeControl = message('node_control', 'A command; unknown ones are ignored', {
  command: anyOf(
    ['shutdown', 'reload_config', 'drain', 'resume', 'reconnect'],
    'Command; drain, resume (ends a drain) and reconnect are extensions',
  ),
  reason: optional(text('Why', 4096)),
});
export type NodeControl = Static<typeof NodeControl>;
