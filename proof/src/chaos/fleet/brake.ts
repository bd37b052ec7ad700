/** Holds all work of the fleet just before its end, so that its slots stay taken until it is released. */
export interface Brake {
  hold(): void;
  letGo(): void;
  /** Resolves at once unless work is held. */
  passed(): Promise<void> | undefined;
}

export function createBrake(): Brake {
  let held: Promise<void> | undefined;
  let letGo: () => void = () => {};
  return {
    hold() {
      held ??= new Promise((resolve) => {
        letGo = resolve;
      });
    },
    letGo() {
      held = undefined;
      letGo();
    },
    passed: () => held,
  };
}
