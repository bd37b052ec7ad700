/** Translation by Apertium's programs, one running pipeline per direction; some directions lead through Spanish. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Translator } from '../engines.ts';
import { type ApertiumPair, installedPairs, MODES_FOLDER } from './installed-pairs.ts';
import { modeCommand } from './mode-command.ts';
import { createRunningMode, type ModeLimits, type RunningMode } from './running-mode.ts';

interface ApertiumLimits extends ModeLimits {
  /** Directions that stay running although no text is there. */
  readonly pipelines: number;
}

export const APERTIUM_LIMITS: ApertiumLimits = {
  waiting: 32,
  textLength: 8_192,
  answerMs: 10_000,
  pipelines: 8,
};

interface Running {
  readonly mode: Promise<RunningMode>;
  calls: number;
}

export interface ApertiumOptions extends Partial<ApertiumLimits> {
  /** Default: where Debian's packages put them. */
  readonly modesFolder?: string;
  /** Absent: all that are installed. */
  readonly pairs?: readonly ApertiumPair[];
}

export async function createApertiumTranslator({
  modesFolder = MODES_FOLDER,
  pairs: wanted,
  ...given
}: ApertiumOptions = {}): Promise<Translator> {
  const limits = { ...APERTIUM_LIMITS, ...given };
  const pairs = wanted ?? (await installedPairs(modesFolder));
  /** The least recently used first. */
  const running = new Map<string, Running>();
  let isClosed = false;

  async function using<Result>(name: string, work: (mode: RunningMode) => Result): Promise<Awaited<Result>> {
    const used = running.get(name) ?? { mode: open(name), calls: 0 };
    running.delete(name);
    running.set(name, used);
    used.calls += 1;
    try {
      closeUnused();
      return await work(await used.mode);
    } finally {
      used.calls -= 1;
    }
  }

  function open(name: string): Promise<RunningMode> {
    const opened = readFile(join(modesFolder, `${name}.mode`), 'utf8').then((text) =>
      createRunningMode(name, modeCommand(text), limits),
    );
    // A package that is being installed may be complete at the next text.
    opened.catch(() => running.delete(name));
    return opened;
  }

  /** Each running direction takes about 100 MB. */
  function closeUnused(): void {
    for (const [name, { mode, calls }] of running) {
      if (running.size <= limits.pipelines) return;
      if (calls > 0) continue;
      running.delete(name);
      void mode.then((unused) => unused.close()).catch(() => {});
    }
  }

  return {
    model: 'apertium',
    pairs,
    async translate(text, { source, target }, signal) {
      signal.throwIfAborted();
      if (isClosed) throw new Error('Apertium is closed');
      const pair = pairs.find((each) => each.source === source && each.target === target);
      if (pair === undefined) throw new TypeError(`Apertium does not translate from ${source} to ${target}`);
      let translated = text;
      for (const mode of pair.modes)
        translated = await using(mode, (running) => running.translate(translated, signal));
      return translated;
    },
    prepare({ source, target }) {
      const pair = pairs.find((each) => each.source === source && each.target === target);
      if (isClosed || pair === undefined) return;
      // The text itself will report what is wrong.
      for (const mode of pair.modes) void using(mode, (running) => running.start()).catch(() => {});
    },
    async close() {
      isClosed = true;
      const modes = await Promise.allSettled([...running.values()].map(({ mode }) => mode));
      await Promise.all(modes.map((mode) => (mode.status === 'fulfilled' ? mode.value.close() : undefined)));
    },
  };
}
