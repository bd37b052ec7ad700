/** A client of a session with several languages, and its outcomes as short lines. */
import { openSession, type SessionEvent } from '@lingua/sdk/client';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

const WANTED = ['es', 'fr', 'pt'];

export function speakToSeveral(url: string, options: Partial<Parameters<typeof openSession>[0]> = {}) {
  const session = openSession({
    url,
    srcLang: 'en',
    tgtLangs: WANTED,
    voiceLangs: ['es'],
    WebSocket,
    ...options,
  });
  onTestFinished(async () => void (await session.close()));
  const outcomes: string[] = [];
  const errors: SessionEvent<'error'>[] = [];
  session.on('result', ({ utteranceIndex, language, textAsr, textTranslated }) =>
    outcomes.push(`${utteranceIndex} ${language} ${textAsr}|${textTranslated}`),
  );
  session.on('voice', ({ utteranceIndex, language, ttsAudio }) =>
    outcomes.push(`${utteranceIndex} ${language} voice ${Buffer.from(ttsAudio).toString()}`),
  );
  session.on('missing', ({ utteranceIndex, language, part, reason }) =>
    outcomes.push(`${utteranceIndex} ${language} ${part} missing ${reason}`),
  );
  session.on('error', (error) => errors.push(error));
  const say = (text: string) => {
    session.sendAudio(Buffer.from(text));
    session.endUtterance();
  };
  return { session, outcomes, errors, say };
}
