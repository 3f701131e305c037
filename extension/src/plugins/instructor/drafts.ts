/** What is typed for each group of answers and not given yet: the page is drawn again often, and must not lose it. */
import type { IDraft, MarkForm } from './markform';

export class Drafts {
  /** The students of a group whom the mark is not for; the set keeps what is added to it. */
  leftOut(group: string): Set<string> {
    const known = this._leftOut.get(group) ?? new Set();
    this._leftOut.set(group, known);
    return known;
  }

  of(group: string): IDraft | null {
    return this._drafts.get(group) ?? null;
  }

  /** Names the form on the page that the group is marked with. */
  watch(group: string, form: MarkForm): void {
    this._forms.set(group, form);
  }

  /** Takes over what is in the forms, before others replace them. */
  collect(): void {
    for (const [group, { draft }] of this._forms) {
      if (draft) {
        this._drafts.set(group, draft);
      } else {
        this._drafts.delete(group);
      }
    }
    this._forms.clear();
  }

  /** Forgets a group, whose mark is given. */
  drop(group: string): void {
    this._forms.delete(group);
    this._drafts.delete(group);
    this._leftOut.delete(group);
  }

  private readonly _forms = new Map<string, MarkForm>();
  private readonly _drafts = new Map<string, IDraft>();
  private readonly _leftOut = new Map<string, Set<string>>();
}
