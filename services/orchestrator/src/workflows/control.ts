/** Live coordination of one run; it never goes through continue-as-new. */
export type SessionControl = {
  /** Approvals whose decision has been announced. */
  decided: Set<string>;
  /** Present while a turn runs. */
  interrupt?: () => void;
  stepsInRun: number;
  /** History length of the task that handled the newest update. */
  lastUpdateAt: number;
};

export function createControl(): SessionControl {
  return { decided: new Set(), stepsInRun: 0, lastUpdateAt: -1 };
}

/** Nothing happens when no turn runs. */
export function interruptTurn(control: SessionControl): void {
  control.interrupt?.();
}
