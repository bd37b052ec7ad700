import type { JobAssign } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createNodeSockets } from '../../../src/transport/ws/node-sockets.ts';
import { createSteppedClock } from './stepped-clock.ts';

describe('node sockets', () => {
  const connection = (generation: number, events: string[]) => ({
    generation,
    supports: undefined,
    handedOver: (assign: JobAssign) => void events.push(`${generation} handed over ${assign.job_id}`),
    socket: {
      send: (text: string) => events.push(`${generation} ${text}`) > 0,
      cut: (reason: string) => void events.push(`${generation} cut ${reason}`),
    },
  });

  it('the end of an older generation is ignored', () => {
    const events: string[] = [];
    const sockets = createNodeSockets({ clock: createSteppedClock() });
    expect(sockets.adopt('n', connection(1, events))).toBe(true);
    expect(sockets.adopt('n', connection(2, events))).toBe(true);
    sockets.release('n', 1);
    expect(sockets.isConnected('n')).toBe(true);
    sockets.release('n', 2);
    expect(sockets.isConnected('n')).toBe(false);
    expect(events).toEqual(['1 cut replaced']);
  });

  it('the newest generation stays, in any order of arrival', () => {
    const events: string[] = [];
    const sockets = createNodeSockets({ clock: createSteppedClock() });
    sockets.adopt('n', connection(2, events));
    expect(sockets.adopt('n', connection(1, events))).toBe(false);
    sockets.send('n', { type: 'job_cancel', job_id: 'job-1' });
    expect(events).toEqual(['2 {"type":"job_cancel","job_id":"job-1"}']);
  });

  it('sending to an unconnected node returns false', () => {
    const sockets = createNodeSockets({ clock: createSteppedClock() });
    expect(sockets.send('n', { type: 'job_cancel', job_id: 'job-1' })).toBe(false);
    sockets.pushStatus('n', 'ready', 'not connected');
  });
});
