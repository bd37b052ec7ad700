/** Clients that request translations, over sessions or HTTP. */
export interface ChaosClient {
  readonly name: string;
  /** The network breaks; the client does not. Resolves when it is connected again, if it has a connection. */
  cut(): Promise<void> | void;
  /** Its network is slow, or stops if the delay is infinite. */
  delay(ms: number): void;
  /** Sends nothing more; resolves when every request has its outcome, or never will. */
  finish(): Promise<void>;
  close(): Promise<void> | void;
}
