/** The checks that are running: one for each cell. */
export class RunningChecks<T extends object> {
  /** Begins a check of a cell, and cancels the one before. */
  start(cell: T): AbortController {
    this.stop(cell);
    const check = new AbortController();
    this._running.set(cell, check);
    return check;
  }

  /** Cancels a cell's check, whose outcome no longer matters. */
  stop(cell: T): void {
    const check = this._running.get(cell);
    this._running.delete(cell); // before the abort, so that the check does not report that it was cancelled
    check?.abort();
  }

  /** Whether a check's outcome is to be shown: not if it was stopped, or another one has begun since. */
  matters(cell: T, check: AbortController): boolean {
    return this._running.get(cell) === check;
  }

  /** Forgets a check that has ended. */
  end(cell: T, check: AbortController): void {
    if (this.matters(cell, check)) {
      this._running.delete(cell);
    }
  }

  private readonly _running = new WeakMap<T, AbortController>();
}
