/** A verdict, drawn under its cell. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { stateIcons } from '../../shared/icons';
import { h } from '../../widgets/dom';
import { drawExample, drawMap } from './example';

export interface ICheckResult {
  name: string;
  status: string;
  message: string;
  map?: string[];
}

export interface IVerdict {
  exercise: string;
  status: 'passed' | 'failed' | 'not_graded';
  score: number;
  max_score: number;
  checks: ICheckResult[];
  misconception: string | null;
  hint?: string | null;
  reason?: string;
  counterexample: Record<string, unknown> | null;
  /** Python that draws the counterexample with the code in the kernel. */
  code?: string | null;
}

/** What can be done with a verdict. */
export interface IAction {
  readonly label: string;
  run(): void;
}

/** What a check is doing or has found, as a live region: a screen reader tells it without losing its place. */
export class VerdictWidget extends Widget {
  constructor(private _trans: TranslationBundle) {
    super();
    this.addClass('tfkit-Verdict');
    this.node.setAttribute('role', 'status');
    this.node.setAttribute('aria-live', 'polite');
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

  showVerdict(verdict: IVerdict, actions: readonly IAction[] = []): void {
    const buttons = actions.map(({ label, run }) => h('button', { type: 'button', onclick: run }, label));
    const offered = buttons.length ? [h('p', { className: 'tfkit-Actions' }, ...buttons)] : [];
    this._show(verdict.status, this._headline(verdict), ...this._words(verdict), ...this._checks(verdict.checks), ...this._example(verdict), ...offered);
  }

  private _headline(verdict: IVerdict): HTMLElement {
    const words = {
      passed: this._trans.__('Passed'),
      failed: this._trans.__('Not yet right'),
      not_graded: this._trans.__('Could not be checked')
    };
    const mark = stateIcons[verdict.status].element({ tag: 'span', className: 'tfkit-State' });
    mark.setAttribute('aria-hidden', 'true');
    const points = this._trans.__('%1 of %2 points', verdict.score, verdict.max_score);
    return h('p', { className: 'tfkit-Headline' }, mark, h('strong', {}, `${words[verdict.status]}: ${verdict.exercise}`), ` (${points})`);
  }

  private _words(verdict: IVerdict): HTMLElement[] {
    const said = [verdict.hint ?? verdict.misconception?.replace(/_/g, ' '), verdict.reason];
    return said.filter((text): text is string => !!text).map(text => h('p', { className: 'tfkit-Hint' }, text));
  }

  private _checks(checks: ICheckResult[]): HTMLElement[] {
    if (!checks.length) {
      return [];
    }
    const rows = checks.map(check =>
      h('tr', { className: `tfkit-${check.status}` }, h('th', { scope: 'row' }, check.name), h('td', {}, check.status.replace(/_/g, ' ')), h('td', {}, check.message, ...this._map(check)))
    );
    const head = h('tr', {}, ...['Check', 'Result', 'What was seen'].map(text => h('th', { scope: 'col' }, this._trans.__(text))));
    const table = h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows));
    const failed = checks.some(check => check.status === 'failed');
    return [h('details', { open: failed }, h('summary', {}, this._trans._n('%1 check', '%1 checks', checks.length)), table)];
  }

  private _map(check: ICheckResult): HTMLElement[] {
    const key = this._trans.__('Rows are outputs, columns inputs: ● may be seen and is, ▲ is seen and must not be, ○ should be seen and is not');
    return check.map?.length ? [drawMap(check.map, key)] : [];
  }

  private _example(verdict: IVerdict): HTMLElement[] {
    return verdict.counterexample ? [drawExample(verdict.counterexample, this._trans.__('The smallest example found'))] : [];
  }

  private _show(state: string, ...children: HTMLElement[]): void {
    this.node.dataset.state = state;
    this.node.replaceChildren(...children);
  }
}
