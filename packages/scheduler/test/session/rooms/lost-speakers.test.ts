/** Rooms whose speakers or instances are lost, on stepped time. */
import { describe, expect, it } from 'vitest';
import { startTalk } from './support/rooms-rig.ts';
import { acceptedBy } from './support/utterances.ts';

describe('a speaker whose connection has ended', () => {
  it('is still in the room with what is cut afterwards, until it has left or is elsewhere', async () => {
    const { a, b, clock, host, es } = await startTalk();
    await host.disconnect();
    await host.say('one');
    await a.recognise('one');
    await a.translate('one', 'es');
    expect(es.captions()).toEqual(['1 <one es>']);
    await b.enter('host', 'en');
    await clock.advance(0);
    expect(a.rooms.voiceOf('host')).toBeUndefined();
    expect(b.rooms.voiceOf('host')).toMatchObject({ kind: 'speaks' });
    await es.disconnect();
    expect(b.rooms.voiceOf('es')).toMatchObject({ kind: 'speaks' });
    await clock.advance(12_000);
    expect(b.rooms.voiceOf('es')).toBeUndefined();
  });
});

describe('the death of an instance', () => {
  it('R5: a survivor continues its utterances from the log, and its members are away', async () => {
    const { a, b, host, es, fr, clock, record } = await startTalk();
    await host.say('one');
    await host.say('two');
    await a.recognise('one');
    await a.translate('one', 'es');
    a.kill();
    await b.rooms.takeOver('a');
    await clock.advance(0);
    expect((await record())?.members.find(({ memberId }) => memberId === 'host')?.awaySince).toBeDefined();
    expect(
      b.plans.plans.map(({ request }) => [request.name, request.wanted.map(({ language }) => language)]),
    ).toEqual([
      ['host.1', ['fr']],
      ['host.2', ['en']],
    ]);
    await b.translate('one', 'fr');
    b.plans.plans.at(-1)?.recognise();
    await clock.advance(0);
    expect(es.captions()).toEqual(['1 <one es>']);
    expect(fr.captions()).toEqual(['1 <one fr>']);
    // Doing it again changes nothing.
    await b.rooms.takeOver('a');
    expect(b.plans.plans).toHaveLength(2);
  });
});

describe('the death of an instance that has not informed the others', () => {
  it('R5: a survivor continues what only the log has, and later utterances do not wait for it', async () => {
    const { a, b, clock, host, fr, stores, record } = await startTalk();
    const { roomId = '' } = (await record()) ?? {};
    await stores.log.accept(roomId, acceptedBy('host', 'host 1', 'en', 'a/1'));
    a.kill();
    await b.rooms.takeOver('a');
    await clock.advance(0);
    expect(b.plans.plan().request.wanted).toMatchObject([{ language: 'en' }]);
    b.plans.plan().fail('en');
    await clock.advance(0);
    await fr.say('two');
    await b.recognise('two');
    await b.translate('two', 'es');
    expect(host.refused).toBeUndefined();
    const es = await b.enter('late', 'es');
    expect(es.captions()).toEqual(['2 <two es>']);
  });
});

describe('audio that was lost with its instance', () => {
  it('R5: is used when its client sends it again elsewhere', async () => {
    const { a, b, clock, host, es } = await startTalk();
    await host.say('one');
    a.kill();
    await b.rooms.takeOver('a');
    await clock.advance(0);
    const again = await b.enter('host', 'en');
    const lost = b.plans.plans.length;
    await again.say('one');
    expect(b.plans.plans).toHaveLength(lost + 1);
    await b.recognise('one');
    await b.translate('one', 'es');
    expect(es.captions()).toEqual(['1 <one es>']);
    expect(again.settled).toEqual(['one']);
  });

  it('R5: is used although another survivor has continued the utterance without it', async () => {
    const { a, b, clock, host, es, start } = await startTalk();
    const c = start('c');
    await host.say('one');
    a.kill();
    await b.rooms.takeOver('a');
    await clock.advance(0);
    const again = await c.enter('host', 'en');
    await again.say('one');
    await c.recognise('one');
    await c.translate('one', 'es');
    expect(es.captions()).toEqual(['1 <one es>']);
    expect(again.settled).toEqual(['one']);
  });
});

describe('an utterance of a session that comes back on another instance', () => {
  const comeBack = ({ clock, b }: Awaited<ReturnType<typeof startTalk>>) => {
    const outcomes: string[] = [];
    const { plan } = acceptedBy('host', 'host.1');
    const plans = b.rooms.plans.run(
      {
        ...plan,
        tenantId: 't',
        deadlineAt: clock.now() + 30_000,
        wanted: [{ language: 'en', isVoiceWanted: false }],
        input: { kind: 'audio', source: { kind: 'held', bytes: 0 }, audio: undefined },
      },
      {
        admitted() {},
        recognised() {},
        moved() {},
        settled: (_part, outcome) => outcomes.push(outcome.kind),
      },
    );
    return { outcomes, plans };
  };

  it('R1: is said in the room once its client has entered it again', async () => {
    const talk = await startTalk();
    const { b, clock, record, stores } = talk;
    talk.a.kill();
    comeBack(talk);
    await clock.advance(300);
    expect(b.plans.plans).toHaveLength(0);
    await b.enter('host', 'en');
    await clock.advance(300);
    expect(b.plans.plans).toHaveLength(1);
    const read = await stores.log.read((await record())?.roomId ?? '', 0, 10);
    expect(read).toMatchObject({ lines: [{ entry: { kind: 'accept', speaker: 'host' } }] });
  });

  it('is recognised for its speaker alone if the client enters no room', async () => {
    const talk = await startTalk();
    const { b, clock } = talk;
    talk.a.kill();
    const { outcomes } = comeBack(talk);
    await clock.advance(5_500);
    expect(b.plans.plans).toHaveLength(1);
    b.plans.plan().finish('en');
    expect(outcomes).toEqual(['result']);
  });
});
