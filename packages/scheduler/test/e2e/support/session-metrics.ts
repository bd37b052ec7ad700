/** One figure of GET /metrics. */
import type { RunningApp } from './start-app.ts';

/** `series`: the name, with its labels as printed. An absent series counts as 0. */
export async function figure(app: Pick<RunningApp, 'get'>, series: string): Promise<number> {
  const { body } = await app.get<string>('/metrics');
  const line = body.split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}
