/** Gathers changes, and hands them over together when a moment has passed without another. */
import { JSONObject } from '@lumino/coreutils';

export class Gathered {
  constructor(
    private readonly _take: (changes: JSONObject) => void,
    private readonly _ms: number
  ) {}

  /** What is told later wins, key by key. */
  add(changes: JSONObject): void {
    this._changes = { ...this._changes, ...changes };
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => {
      const all = this._changes;
      this._changes = {};
      this._take(all);
    }, this._ms);
  }

  /** What was not handed over yet never is. */
  dispose(): void {
    window.clearTimeout(this._timer);
  }

  private _changes: JSONObject = {};
  private _timer = 0;
}
