/** What reading mode draws in and above a lesson: its cover, the folded set-up, predictions, buttons, and where one is. */
import { Cell } from '@jupyterlab/cells';
import type { ISanitizer } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { PanelLayout, Widget } from '@lumino/widgets';
import { withoutStyle } from '../../shared/cells';
import type { IExercise, IUnit } from '../../shared/tokens';
import { h } from '../../widgets/dom';
import { RecordedModel } from '../../widgets/model';
import { mount } from '../../widgets/prediction';
import { motifAlone } from '../home/motifs';
import type { IStage, StageName } from './outline';
import type { ISetupState } from './setup';

/** Puts a widget into a cell, once: `at` is its place among the cell's own widgets. */
export function putInto<T extends Part>(cell: Cell, at: 'top' | 'below-input' | 'bottom', make: () => T): T {
  const layout = cell.layout as PanelLayout;
  const known = layout.widgets.find((widget): widget is T => widget instanceof Part);
  if (known) {
    return known;
  }
  const part = make();
  const input = layout.widgets.findIndex(widget => widget.hasClass('jp-Cell-inputWrapper'));
  layout.insertWidget({ top: 0, 'below-input': input + 1, bottom: layout.widgets.length }[at], part);
  return part;
}

/** A part of reading mode in a cell; outside of reading mode the style sheet hides it. */
export class Part extends Widget {
  constructor(name: string) {
    super();
    this.addClass('tfkit-R');
    this.addClass(`tfkit-R-${name}Part`);
  }
}

/** The picture of the unit, and what it takes, above its title. */
export class Cover extends Part {
  constructor(unit: IUnit, trans: TranslationBundle) {
    super('cover');
    const facts = [
      trans._n('%1 exercise', '%1 exercises', unit.exercises.length),
      ...(unit.minutes ? [trans.__('about %1 minutes', unit.minutes)] : [])
    ];
    const picture = h('div', { className: 'tfkit-Picture' }, motifAlone(unit.name));
    this.node.append(h('p', { className: 'tfkit-Facts' }, facts.join(' · ')), picture);
  }
}

/** The set-up in one line, which opens to its code. */
export class Setup extends Part {
  constructor(
    private readonly _lines: number,
    private readonly _trans: TranslationBundle,
    private readonly _toggle: (open: boolean) => void
  ) {
    super('setup');
    this._button.onclick = () => this._set(this._button.getAttribute('aria-expanded') !== 'true');
    this.node.append(this._button, this._state);
    this._set(false);
  }

  /** Says whether the set-up has been run; null where that is not known yet. */
  set state(state: ISetupState | null) {
    this._state.textContent = state ? this._wordsOf(state) : '';
  }

  private _wordsOf({ begun, failed, waiting }: ISetupState): string {
    if (failed) {
      return this._trans.__('it stopped with an error: run its cells');
    }
    if (!waiting) {
      return this._trans.__('run ✓');
    }
    return begun
      ? this._trans._n('%1 cell of it is not run yet', '%1 cells of it are not run yet', waiting)
      : this._trans.__('will be run before your next cell');
  }

  private _set(open: boolean): void {
    this._button.setAttribute('aria-expanded', String(open));
    const words = this._trans._n('Set-up: %1 line', 'Set-up: %1 lines', this._lines);
    this._button.textContent = `${open ? '▾' : '▸'} ${words}`;
    this._toggle(open);
  }

  private readonly _button = h('button', { type: 'button' });
  private readonly _state = h('span', { role: 'status' });
}

/** A button under the code of a cell, a line beside it, and the keys to it, which are shown while the code is edited. */
export class Action extends Part {
  constructor(name: string, label: string, run: () => void, keys = '') {
    super(name);
    const button = h('button', { type: 'button', className: 'tfkit-mod-strong', onclick: run }, label);
    this.node.append(button, this._note);
    if (keys) {
      this.node.append(h('span', { className: 'tfkit-R-keys' }, keys));
    }
  }

  set note(words: string) {
    this._note.textContent = words;
  }

  private readonly _note = h('span', {});
}

export interface IPrediction {
  readonly cell: string;
  readonly name: string;
  readonly questions: unknown[];
  /** The steps, in percent, of how sure one is; null where that is not asked. */
  readonly sure?: readonly number[] | null;
  /** Its card, once it is sealed. */
  readonly card: string | null;
}

/** The questions of a prediction, answered without a kernel, and then its card. */
export class PredictionPart extends Part {
  constructor(
    prediction: IPrediction,
    private readonly _sanitizer: ISanitizer,
    seal: (answers: unknown, sure: unknown) => Promise<string>
  ) {
    super('predict');
    const { name, questions, sure } = prediction;
    if (prediction.card !== null) {
      this._show(name, prediction.card);
      return;
    }
    const model = new RecordedModel({ form: { name, questions, sure: sure ?? [] }, sealed: null, problem: '' });
    const answer = async (message: Record<string, unknown>): Promise<void> => {
      model.set('problem', '');
      try {
        const answers = message.do === 'seal' ? message.answers : null;
        this._show(name, await seal(answers, message.sure ?? null)).focus(); // its button is gone
      } catch (error) {
        model.set('problem', error instanceof Error ? error.message : String(error));
      }
    };
    mount(Object.assign(model, { send: (message: Record<string, unknown>) => void answer(message) }), this.node);
  }

  private _show(name: string, card: string): HTMLElement {
    const shown = h('div', { role: 'group', 'aria-label': name, tabIndex: -1 });
    shown.innerHTML = this._sanitizer.sanitize(withoutStyle(card));
    this.node.replaceChildren(shown);
    return shown;
  }
}

/** Where the reader is: read · predict · build · check · compare. */
export class StageBar extends Widget {
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _go: (cell: string) => void,
    /** What leaves reading mode, and its keys in words. */
    leave: () => void,
    private readonly _keys: () => string
  ) {
    super();
    this.addClass('tfkit-Stages');
    this._list = h('ol', { 'aria-label': _trans.__('Where you are') });
    const button = { type: 'button', className: 'tfkit-Stages-leave', onclick: leave };
    this._button = h('button', button, _trans.__('Whole notebook'));
    this.node.append(this._title, this._list, this._button);
  }

  /** Shows the stages. What is there is changed in place: a button that has the focus keeps it. */
  showStages(exercise: IExercise | null, stages: readonly IStage[]): void {
    this._title.textContent = exercise?.title ?? '';
    const keys = this._keys();
    const words = this._trans.__('Leave reading mode: show every cell');
    this._button.title = keys ? `${words} (${keys})` : words;
    while (this._list.children.length > stages.length) {
      this._list.lastElementChild!.remove();
    }
    while (this._list.children.length < stages.length) {
      this._list.append(h('li', {}, h('button', { type: 'button' })));
    }
    this._list.querySelectorAll('button').forEach((button, i) => this._draw(button, stages[i]));
  }

  private _draw(button: HTMLButtonElement, { name, done, current, cell }: IStage): void {
    button.replaceChildren(...(done ? [h('span', {}, '✓ ')] : []), h('span', {}, this._name(name)));
    button.className = done ? 'tfkit-mod-done' : '';
    button.toggleAttribute('aria-current', current);
    if (current) {
      button.setAttribute('aria-current', 'step');
    }
    button.onclick = () => this._go(cell);
  }

  private _name(name: StageName): string {
    return {
      read: this._trans.__('read'),
      predict: this._trans.__('predict'),
      build: this._trans.__('build'),
      check: this._trans.__('check'),
      compare: this._trans.__('compare')
    }[name];
  }

  private readonly _title = h('strong', {});
  private readonly _list: HTMLOListElement;
  private readonly _button: HTMLButtonElement;
}

/** The line above a notebook that says which predictions "Run All" has passed over. */
export class PassedOver extends Widget {
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _go: (cell: string) => void
  ) {
    super();
    this.addClass('tfkit-PassedOver');
    this.node.setAttribute('role', 'status');
    this.hide();
  }

  /** Names the predictions; `first` is the cell that waits for the first of them. */
  showNames(names: readonly string[], first: string): void {
    this._first = first;
    if (names.join() === this._names) {
      return;
    }
    this._names = names.join();
    this.setHidden(!names.length);
    const said = this._trans._n(
      'Passed over: %1 prediction is not sealed yet.',
      'Passed over: %1 predictions are not sealed yet.',
      names.length
    );
    const show = { type: 'button', onclick: () => this._go(this._first) };
    this.node.replaceChildren(h('span', {}, said), ' ', h('button', show, this._trans.__('Show the first')));
  }

  private _first = '';
  private _names = '';
}
