/** Debounces changes: collects them, and delivers them together after a pause. */
import { JSONObject } from '@lumino/coreutils';

export class DebouncedChanges {
  constructor(
    private readonly _deliver: (changes: JSONObject) => void,
    private readonly _ms: number
  ) {}

  /** Later values replace earlier ones, key by key. */
  add(changes: JSONObject): void {
    this._changes = { ...this._changes, ...changes };
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => {
      const all = this._changes;
      this._changes = {};
      this._deliver(all);
    }, this._ms);
  }

  /** Drops the changes that were not delivered yet. */
  dispose(): void {
    window.clearTimeout(this._timer);
  }

  private _changes: JSONObject = {};
  private _timer = 0;
}
