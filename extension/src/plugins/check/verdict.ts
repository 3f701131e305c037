/** The card of a verdict under its cell. The server draws it (autograder/feedback/html.py), as it does for check() and feedback. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { writtenIn } from '../../shared/language';
import { h } from '../../widgets/dom';
import { bindQuestion } from './ask';
import { IStoredVerdict } from './storedVerdict';
import { IFaultLine, faultLineIn } from './line';
import { Walkthrough } from './walkthrough';

export interface ICheckResult {
  name: string;
  status: string;
  message: string;
  map?: string[];
}

export interface IVerdict {
  exercise: string;
  status: 'passed' | 'failed' | 'not_graded';
  checks: ICheckResult[];
  counterexample: Record<string, unknown> | null;
  /** Python that draws the counterexample with the code in the kernel. */
  code?: string | null;
  /** The card. */
  html: string;
}

/** A button below a verdict. */
export interface IAction {
  readonly label: string;
  /** Whether it is the main button. */
  readonly strong?: boolean;
  run(): void;
}

/** JupyterLab's own sanitizer for content of a notebook. */
export interface ISanitizer {
  sanitize(dirty: string): string;
}

/** The state or the result of a check, as a live region that screen readers announce. */
export class VerdictWidget extends Widget {
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _sanitizer: ISanitizer,
    private readonly _recheck: () => void
  ) {
    super();
    this.addClass('tfkit-Verdict');
    this.node.setAttribute('role', 'status');
    this.node.setAttribute('aria-live', 'polite');
  }

  /** The verdict that is shown, if one is. */
  get kept(): IStoredVerdict | null {
    return this._kept;
  }

  /** The line that the shown card names. */
  get place(): IFaultLine | null {
    return this._kept ? faultLineIn(this.node) : null;
  }

  showRunning(exercise: string, cancel: () => void): void {
    const button = h('button', { type: 'button', onclick: cancel }, this._trans.__('Cancel'));
    this._show('running', h('p', {}, this._trans.__('Checking %1… ', exercise), button));
  }

  showError(message: string): void {
    this._show('error', h('p', {}, h('strong', {}, this._trans.__('The check could not be run. ')), message));
  }

  showCancelled(): void {
    this._show('cancelled', h('p', {}, this._trans.__('The check was cancelled.')));
  }

  /** Shows a card, below a line about the code that it belongs to. The card is sanitized, as the notebook may be someone else's. */
  showVerdict(kept: IStoredVerdict, stale: boolean, actions: readonly IAction[] = []): void {
    const card = h('div', {});
    card.innerHTML = this._sanitizer.sanitize(kept.html);
    for (const scrolls of card.querySelectorAll('.tfkit-v-box')) {
      scrolls.setAttribute('tabindex', '0'); // lets the keyboard scroll content that is wider than the card
    }
    bindQuestion(card, this._trans);
    const walk = Walkthrough.in(card, this._trans);
    const walked = walk ? [{ label: this._trans.__('Walk to the mistake'), strong: true, run: () => walk.open() }] : [];
    const buttons = [...walked, ...actions].map(({ label, strong, run }: IAction) =>
      h('button', { type: 'button', className: strong ? 'tfkit-mod-strong' : '', onclick: run }, label)
    );
    const offered = buttons.length ? [h('p', { className: 'tfkit-Actions' }, ...buttons)] : [];
    this._show(kept.status, h('p', { className: 'tfkit-Of' }), card, ...offered);
    this._kept = kept;
    this.setStale(stale);
  }

  /** Whether the cell's code has changed since the check. */
  setStale(stale: boolean): void {
    const line = this.node.querySelector('.tfkit-Of');
    if (!this._kept || !line || this.node.dataset.stale === String(stale)) {
      return;
    }
    this.node.dataset.stale = String(stale);
    const again = h(
      'button',
      { type: 'button', className: 'tfkit-Again', onclick: this._recheck },
      this._trans.__('Check again')
    );
    line.replaceChildren(
      ...(stale
        ? [h('strong', {}, this._trans.__('Out of date: the code has changed since.')), ' ', this._of(), ' ', again]
        : [this._of()])
    );
  }

  private _of(): string {
    const { asked, at, code } = this._kept!;
    const time = new Date(at).toLocaleString(writtenIn(), { dateStyle: 'medium', timeStyle: 'short' });
    if (asked === 'button') {
      return this._trans.__('Checked with the button, %1: the cells as they were then.', time);
    }
    const kernel = this._trans.__('Checked with check(), %1: the code that the kernel had run.', time);
    return code === null ? `${kernel} ${this._trans.__('This cell may hold other code.')}` : kernel;
  }

  private _show(state: string, ...children: HTMLElement[]): void {
    this._kept = null;
    delete this.node.dataset.stale;
    this.node.dataset.state = state;
    this.node.replaceChildren(...children);
  }

  private _kept: IStoredVerdict | null = null;
}

/** Scrolls to a card that appears below the edge, unless the reader has left its cell meanwhile. */
export function revealCard(notebook: HTMLElement, cell: HTMLElement, card: HTMLElement): void {
  const [seen, own] = [notebook, cell].map(node => node.getBoundingClientRect());
  if (own.top < seen.bottom && own.bottom > seen.top) {
    card.scrollIntoView({ block: 'nearest' });
  }
}
