/** Those who want something translated, whichever way they ask. */
export interface ChaosClient {
  readonly name: string;
  /** The network breaks; the client does not. Resolves when it is connected again, where it has a connection to lose. */
  cut(): Promise<void> | void;
  /** Its network is slow, or stands still if it takes for ever. */
  delay(ms: number): void;
  /** Says nothing more; resolves when everything said has its outcome, or never will. */
  finish(): Promise<void>;
  close(): Promise<void> | void;
}
