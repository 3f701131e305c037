/** Debounces changes: collects them, and delivers them together once no more have come for a moment. */
import { JSONObject } from '@lumino/coreutils';

export class Gathered {
  constructor(
    private readonly _take: (changes: JSONObject) => void,
    private readonly _ms: number
  ) {}

  /** Later values replace earlier ones, key by key. */
  add(changes: JSONObject): void {
    this._changes = { ...this._changes, ...changes };
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => {
      const all = this._changes;
      this._changes = {};
      this._take(all);
    }, this._ms);
  }

  /** Drops the changes that were not delivered yet. */
  dispose(): void {
    window.clearTimeout(this._timer);
  }

  private _changes: JSONObject = {};
  private _timer = 0;
}
