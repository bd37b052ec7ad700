/** The conformance node of the TypeScript SDK within the process of the test, because a process per case is slow. */
import type {
  NodeConfig,
  NodeProgram,
  ProgramEvent,
  StartProgram,
} from '../../src/conformance/node-program.ts';
import { startConformanceNode } from '../../src/conformance/typescript-node.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a broken program understands, is told, or prints instead. */
export interface ProgramFaults {
  config?(config: NodeConfig): NodeConfig;
  order?(order: Fields): Fields;
  event?(event: ProgramEvent): ProgramEvent;
}

export const inProcess =
  (faults: ProgramFaults = {}): StartProgram =>
  (config, changed): NodeProgram => {
    const { config: edit = (same) => same, order = (same) => same, event: print = (same) => same } = faults;
    const events: ProgramEvent[] = [];
    let isEnded = false;
    const node = startConformanceNode(
      edit(config),
      (event) => {
        events.push(print(event));
        changed();
      },
      () => {
        isEnded = true;
        changed();
      },
    );
    return {
      tell: (told) => node.obey(order(told)),
      events,
      lastWords: () => '',
      hasEnded: () => isEnded,
      async end() {
        node.end();
      },
    };
  };
