/** Assignments that lay for a while before the holder of the node read them: none is handed over whose slot may be another's by then. */
import { describe, expect, it } from 'vitest';
import { sheetFor } from '../contracts/node-sheets.ts';
import { ANSWER_MS, SECURED_MS, startDriverAndHolder } from './remote-nodes-rig.ts';

const LAY_MS = 1_500;
/** What the driver says of a message that has lain for that long: it ends so much sooner. */
const late = (now: number) => ({ expiresAt: now + ANSWER_MS - LAY_MS, slotUntil: now + ANSWER_MS - LAY_MS });

/** What it says to a holder whose clocks stood still for that long before it was written. */
const early = (now: number) => ({ expiresAt: now + ANSWER_MS + LAY_MS, slotUntil: now + ANSWER_MS + LAY_MS });

describe('a node of another instance', () => {
  it('gets a late assignment with a slot that was secured before', async () => {
    const { driver, holder, deliver } = await startDriverAndHolder();
    const until: number[] = [];
    holder.state.secured = async () => {
      expect(holder.delivered).toEqual([]);
      until.push(holder.now() + SECURED_MS);
      return until[0];
    };
    expect(await deliver(late(driver.now()))).toMatchObject({ kind: 'written' });
    expect(until).toHaveLength(1);
    // Of which its driver does not know: it must not be left to that.
    expect(holder.handed).toMatchObject([{ slotUntil: until[0], slotNumber: undefined }]);
  });

  it('I1 no oversell: does not get one whose slot is held no more', async () => {
    const { driver, holder, deliver } = await startDriverAndHolder();
    holder.state.secured = async () => undefined;
    expect(await deliver(late(driver.now()))).toEqual({ kind: 'undeliverable', reason: 'slot_in_doubt' });
    expect([holder.delivered, holder.handed]).toEqual([[], []]);
  });

  it('I1 no oversell: does not get one of whose slot the store says nothing', async () => {
    const { driver, holder, deliver } = await startDriverAndHolder();
    holder.state.secured = async () => {
      throw new Error('the store is away');
    };
    expect(await deliver(late(driver.now()))).toEqual({ kind: 'undeliverable', reason: 'slot_in_doubt' });
    expect(holder.delivered).toEqual([]);
  });

  it('I1 no oversell: does not get one that was written while its holder’s clocks stood still, unless it has a slot', async () => {
    const { driver, holder, deliver } = await startDriverAndHolder();
    holder.state.secured = async () => undefined;
    expect(await deliver(early(driver.now()))).toEqual({ kind: 'undeliverable', reason: 'slot_in_doubt' });
    expect([holder.delivered, holder.handed]).toEqual([[], []]);
  });

  it.each([
    ['another attempt on it', { attempt: 2 }],
    ['another node, in the same attempt', { nodeId: 'node-d' }],
  ])('does not get one of a job that is meant for %s by now', async (_, other) => {
    const { b, driver, holder, deliver } = await startDriverAndHolder();
    holder.sockets.set('node-d', 3);
    driver.records.set('node-d', sheetFor({ nodeId: 'node-d', owner: b.self }));
    expect(await deliver({ ...late(driver.now()), ...other })).toEqual({
      kind: 'unknown',
      reason: 'superseded',
    });
    expect(holder.delivered).toEqual([]);
  });

  it('gets one that came at once without a question to the store', async () => {
    const { holder, deliver } = await startDriverAndHolder();
    holder.state.secured = async () => undefined;
    expect(await deliver()).toMatchObject({ kind: 'written' });
  });
});
