/** Ways to break a node: what it sends, reads, or prints is changed on the way. */
import type { Message, Tampering } from '../../src/conformance/scripted-scheduler.ts';
import type { ProgramFaults } from './in-process.ts';

export type Fields = Record<string, unknown>;

export interface Broken {
  readonly tampering?: Tampering;
  readonly program?: ProgramFaults;
}

type Where = (message: Message, connection: number) => boolean;
const always: Where = () => true;

/** What the node sends is changed. */
export const edits =
  (type: string, change: (message: Fields) => Fields, where = always) =>
  (): Broken => ({
    tampering: {
      fromNode: (message, connection) =>
        message.type === type && where(message, connection)
          ? [{ ...message, ...change(message) } as Message]
          : [message],
    },
  });

/** The node does not send it, and the scenario waits for nothing else. */
export const omits =
  (type: string, where = always) =>
  (): Broken => {
    let isOver = false;
    return {
      tampering: {
        fromNode(message, connection) {
          if (message.type !== type || !where(message, connection)) return [message];
          isOver = true;
          return [];
        },
        isOver: () => isOver,
      },
    };
  };

export const adds = (after: string, message: Fields) => (): Broken => ({
  tampering: { fromNode: (sent) => (sent.type === after ? [sent, message as Message] : [sent]) },
});

/** What the node understands of a message is something else. */
export const misreads = (type: string, change: (message: Fields) => Fields) => (): Broken => ({
  tampering: {
    toNode(text) {
      const message = read(text);
      return message.type === type ? [JSON.stringify({ ...message, ...change(message) })] : [text];
    },
  },
});

/** The node ignores a message, and the scenario waits for nothing else. */
export const ignores =
  (type: string, where: (message: Fields) => boolean = () => true) =>
  (): Broken => {
    let isOver = false;
    return {
      tampering: {
        toNode(text) {
          const message = read(text);
          if (message.type !== type || !where(message)) return [text];
          isOver = true;
          return [];
        },
        isOver: () => isOver,
      },
    };
  };

export const misprints = (event: string, change: Fields) => (): Broken => {
  let isOver = false;
  return {
    program: {
      event(printed) {
        if (printed.event !== event) return printed;
        isOver = true;
        return { ...printed, ...change };
      },
    },
    tampering: { isOver: () => isOver },
  };
};

export const configured = (change: Fields) => (): Broken => ({
  program: { config: (config) => ({ ...config, ...change }) },
});

export function read(text: string): Fields {
  try {
    return Object(JSON.parse(text)) as Fields;
  } catch {
    return {};
  }
}

export const onConnection =
  (number: number): Where =>
  (_, connection) =>
    connection === number;

/** Ends the wait for the outcome once the job is acknowledged: there is no deadline. */
export function ignoresDeadline(): Broken {
  let isAcknowledged = false;
  return {
    tampering: {
      toNode(text) {
        const { deadline_ms: _, ...job } = read(text);
        return [JSON.stringify(job)];
      },
      fromNode(message) {
        isAcknowledged ||= message.type === 'job_ack';
        return [message];
      },
      isOver: () => isAcknowledged,
    },
  };
}
