/** Prints docs/state-machines.md from the state tables. Pure. */
import { JOB_EVENTS, JOB_NEXT, JOB_STATES, type JobEvent, type JobState } from '../../domain/job.ts';
import { NODE_EVENTS, NODE_HEALTHS, NODE_NEXT, type NodeEvent, type NodeHealth } from '../../domain/node.ts';
import {
  ACCEPTANCE_EVENTS,
  ACCEPTANCE_NEXT,
  ACCEPTANCE_STATES,
  type AcceptanceEvent,
  type AcceptanceState,
  WATCH_EVENTS,
  WATCH_NEXT,
  WATCH_STATES,
  type WatchEvent,
  type WatchState,
} from '../../session/utterance-state.ts';
import { block, code, page, table } from './markdown.ts';

const INTRODUCTION = `# State machines

Printed from the state tables in \`packages/scheduler/src/domain/job.ts\`, \`packages/scheduler/src/domain/node.ts\` and
\`packages/scheduler/src/session/utterance-state.ts\`; do not edit it, \`npm run docs\` writes it.`;

const JOB_INTRODUCTION = `## A job

Every move is one event of this table, made by compare-and-set on the state and the fence, so that of two moves at once one happens. Where a
cell is empty, the event may not happen and changes nothing. A job that finds a node at once is written as RESERVED; its timeline still begins
with CREATED. A result that was never acknowledged passes through RUNNING.`;

const NODE_INTRODUCTION = `## A node

Where a cell is empty, the event changes nothing. Only a \`ready\` node that no operator has cordoned takes new jobs; its running jobs continue.`;

const ACCEPTANCE_INTRODUCTION = `## An utterance

An utterance of a session has two states, and independently of them exactly one outcome. The first is its acceptance: what the client may
know of it. Where a cell is empty, the event changes nothing.`;

const WATCH_INTRODUCTION = 'The second is the watch: whether the session on this instance waits for its job.';

const JOB_STATE_MEANINGS: Readonly<Record<JobState, string>> = {
  CREATED: 'Accepted, no node yet: being placed, or waiting for a slot.',
  RESERVED: 'A slot is reserved on a node; the job may be on its way there.',
  DISPATCHED: 'Handed to the node: written to its socket, accepted by its endpoint, or put in its mailbox.',
  RUNNING: 'The node has acknowledged it, or its report proves that it has it.',
  RETRYING: 'The attempt was abandoned; the next one is being placed, ahead of new work.',
  FINISHED: 'The result was accepted.',
  FAILED: 'Ended without a result; the reason is recorded. Cancelled jobs are among them.',
  RELEASED: 'The end: the slot was released, or its lease will expire.',
};

const JOB_EVENT_MEANINGS: Readonly<Record<JobEvent, string>> = {
  reserved: 'A slot was taken on a node (in RESERVED: on the next candidate).',
  unplaced: 'No candidate took it; it waits for a slot.',
  dispatched: 'It was sent to the node. From here on this attempt is the fence.',
  acknowledged: 'The node reported that it has the job, or its result.',
  hedged:
    'A second attempt begins beside the one that is overdue, ends without a result, or takes its place.',
  gave_up: 'No acknowledgement or result in time, a lost node, or a failure that another node may not have.',
  finished: 'The result of the current attempt.',
  failed: 'A failure that no retry can help, the deadline, or a cancellation.',
  released: 'The slot was released.',
};

/** Names of the same things in the owner's requirements. */
const JOB_OTHER_NAMES: readonly (readonly [string, JobState])[] = [
  ['NEW', 'CREATED'],
  ['SELECTING', 'CREATED'],
  ['ACKED', 'RUNNING'],
  ['DONE', 'FINISHED'],
];

const NODE_HEALTH_MEANINGS: Readonly<Record<NodeHealth, string>> = {
  registering: 'Known, but has not proved itself by healthy heartbeats.',
  ready: 'Takes jobs.',
  degraded: 'Too many unhealthy heartbeats, or its start took too long.',
  draining: 'Finishes its jobs and takes no new ones.',
  offline: 'No heartbeat for too long, or its connection ended and it did not return.',
};

const NODE_EVENT_MEANINGS: Readonly<Record<NodeEvent, string>> = {
  registered: 'It registered, or an offline node sent a heartbeat.',
  proved: 'Enough healthy heartbeats in a row.',
  faltered: 'Too many unhealthy heartbeats, its own report, or too long a warm-up.',
  drained: "An operator's order, or its own report.",
  undrained: 'The operator or the node that began the drain ended it.',
  expired: 'No heartbeat for too long, or a lost connection.',
};

const ACCEPTANCE_STATE_MEANINGS: Readonly<Record<AcceptanceState, string>> = {
  received:
    'Its audio is complete; its job is not recorded yet. After a handover: its job record was not read yet.',
  admitted:
    'Its job is recorded, or will never be. The acceptance waits until the session is saved for other instances.',
  announced: 'The acceptance is sent: the scheduler is responsible for the audio.',
};

const ACCEPTANCE_EVENT_MEANINGS: Readonly<Record<AcceptanceEvent, string>> = {
  admitted:
    'The job engine recorded its job or refused it, its gap was closed, or its job record was read after a handover.',
  announced: 'It is admitted, and the saved state contains it and its missing outcome, if it has one.',
};

const WATCH_STATE_MEANINGS: Readonly<Record<WatchState, string>> = {
  watched: 'The session waits for the job, or has its outcome.',
  abandoned: 'The session does not wait any more. A job of it that is recorded later is cancelled.',
  handed_over:
    'Another instance waits for the job. This instance ignores its outcome and does not cancel it.',
};

const WATCH_EVENT_MEANINGS: Readonly<Record<WatchEvent, string>> = {
  abandoned: 'Its gap was closed, or the session ended.',
  handed_over: 'The session left this instance.',
};

type Table<State extends string, Event extends string> = Readonly<
  Record<State, Partial<Record<Event, State>>>
>;

export function printStateMachines(): string {
  return page(
    INTRODUCTION,
    JOB_INTRODUCTION,
    diagram(JOB_STATES, JOB_EVENTS, JOB_NEXT, 'CREATED'),
    meanings('state', JOB_STATES, JOB_STATE_MEANINGS),
    meanings('event', JOB_EVENTS, JOB_EVENT_MEANINGS),
    transitions(JOB_STATES, JOB_EVENTS, JOB_NEXT),
    "Names in the owner's requirements:",
    table(
      ['there', 'here'],
      JOB_OTHER_NAMES.map(([there, here]) => [there, here]),
    ),
    NODE_INTRODUCTION,
    diagram(NODE_HEALTHS, NODE_EVENTS, NODE_NEXT, 'registering'),
    meanings('health', NODE_HEALTHS, NODE_HEALTH_MEANINGS),
    meanings('event', NODE_EVENTS, NODE_EVENT_MEANINGS),
    transitions(NODE_HEALTHS, NODE_EVENTS, NODE_NEXT),
    ACCEPTANCE_INTRODUCTION,
    diagram(ACCEPTANCE_STATES, ACCEPTANCE_EVENTS, ACCEPTANCE_NEXT, 'received'),
    meanings('state', ACCEPTANCE_STATES, ACCEPTANCE_STATE_MEANINGS),
    meanings('event', ACCEPTANCE_EVENTS, ACCEPTANCE_EVENT_MEANINGS),
    transitions(ACCEPTANCE_STATES, ACCEPTANCE_EVENTS, ACCEPTANCE_NEXT),
    WATCH_INTRODUCTION,
    diagram(WATCH_STATES, WATCH_EVENTS, WATCH_NEXT, 'watched'),
    meanings('state', WATCH_STATES, WATCH_STATE_MEANINGS),
    meanings('event', WATCH_EVENTS, WATCH_EVENT_MEANINGS),
    transitions(WATCH_STATES, WATCH_EVENTS, WATCH_NEXT),
  );
}

function diagram<State extends string, Event extends string>(
  states: readonly State[],
  events: readonly Event[],
  next: Table<State, Event>,
  first: State,
): string {
  const arrows = states.flatMap((from) => arrowsFrom(from, events, next));
  const ends = states
    .filter((state) => Object.keys(next[state]).length === 0)
    .map((state) => `  ${state} --> [*]`);
  return block('mermaid', ['stateDiagram-v2', `  [*] --> ${first}`, ...arrows, ...ends].join('\n'));
}

function arrowsFrom<State extends string, Event extends string>(
  from: State,
  events: readonly Event[],
  next: Table<State, Event>,
): string[] {
  return events.flatMap((event) => {
    const to = next[from][event];
    return to === undefined ? [] : [`  ${from} --> ${to}: ${event}`];
  });
}

const meanings = <Name extends string>(
  head: string,
  names: readonly Name[],
  known: Readonly<Record<Name, string>>,
): string =>
  table(
    [head, 'meaning'],
    names.map((name) => [code(name), known[name]]),
  );

const transitions = <State extends string, Event extends string>(
  states: readonly State[],
  events: readonly Event[],
  next: Table<State, Event>,
): string =>
  table(
    ['in \\ on', ...events.map(code)],
    states.map((state) => [code(state), ...events.map((event) => next[state][event] ?? '')]),
  );
