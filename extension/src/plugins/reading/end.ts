/** The end of a unit: what was built, a real model that speaks through it, a picture to share, and what comes next. It appears once every exercise is passed. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { IPlace, nameOf, nextOf } from '../../shared/nextStep';
import type { IUnit } from '../../shared/tokens';
import { h } from '../../widgets/dom';
import type * as Sharing from '../../widgets/sharing';
import { motifAlone } from '../home/motifs';
import { builtIn } from './built';
import { Part } from './widgets';

export interface IEndServices {
  readonly trans: TranslationBundle;
  /** Opens a step of the course. */
  open(place: IPlace): void;
  /** Loads the module that writes pictures. */
  load(): Promise<typeof Sharing>;
}

/** Whether every exercise of a unit is passed; a unit without any has no such end. */
export const isFinished = ({ exercises }: IUnit): boolean =>
  exercises.length > 0 && exercises.every(({ state }) => state === 'passed');

/** The picture to share: the unit's own drawing and what was built. Without a name unless one is typed. */
function shareCard(unit: IUnit, trans: TranslationBundle): { card: HTMLElement; name: HTMLElement } {
  const picture = motifAlone(unit.name);
  const name = h('span', { className: 'tfkit-End-name' });
  const built = unit.exercises.map(({ title }) => h('li', {}, `✓ ${title}`));
  const card = h(
    'div',
    { className: 'tfkit-End-card' },
    h('div', { className: 'tfkit-Picture' }, picture),
    h('div', {}, h('strong', {}, unit.title), h('ul', {}, ...built), h('p', {}, name, trans.__('built by hand')))
  );
  return { card, name };
}

export class UnitEnd extends Part {
  constructor(
    private readonly _unit: IUnit,
    private readonly _services: IEndServices,
    private readonly _speech: HTMLElement | null = null
  ) {
    super('end');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _services.trans.__('The end of the unit'));
  }

  /** Draws the end where the unit is finished, and what comes next of `units`. */
  draw(unit: IUnit, units: readonly IUnit[]): void {
    const next = nextOf(units, unit.exercises[unit.exercises.length - 1]?.id);
    const finished = isFinished(unit);
    this.node.hidden = !finished;
    const shown = JSON.stringify([finished, next?.unit.path, next?.step]);
    if (finished && shown !== this._shown) {
      const speech = this._speech ? [this._speech] : [];
      this.node.replaceChildren(...this._done(), ...speech, this._share(), ...this._next(next));
    }
    this._shown = shown;
  }

  private _done(): HTMLElement[] {
    const { trans } = this._services;
    const { length } = this._unit.exercises;
    const badge = h('p', { className: 'tfkit-End-badge' }, `✓ ${trans.__('%1 of %2', length, length)}`);
    const built = builtIn(this._unit.name, trans);
    return [badge, h('h2', {}, trans.__('%1: done', this._unit.title)), ...(built ? [h('p', {}, built)] : [])];
  }

  private _share(): HTMLElement {
    const { trans, load } = this._services;
    const { card, name } = shareCard(this._unit, trans);
    const typed = h('input', { type: 'text', maxLength: 60, autocomplete: 'off' });
    typed.oninput = () => (name.textContent = typed.value.trim() ? `${typed.value.trim()} · ` : '');
    const status = h('span', { role: 'status' });
    const button = (words: string, act: (sharing: typeof Sharing) => string | Promise<string>): HTMLElement => {
      const node = h('button', { type: 'button' }, words);
      node.onclick = async () => {
        try {
          status.textContent = await act(await load());
        } catch (error) {
          status.textContent = error instanceof Error ? error.message : String(error);
        }
      };
      return node;
    };
    const label = h('label', {}, trans.__('A name on it, if you like:'), ' ', typed);
    const file = this._unit.name;
    const png = button(trans.__('Save the picture'), sharing => sharing.savePng(card, file));
    const drawing = button(trans.__('Save as a drawing'), sharing => sharing.saveSvg(card, file));
    return h('figure', {}, card, h('figcaption', {}, png, drawing, label, status));
  }

  private _next(next: IPlace | null): HTMLElement[] {
    const { trans, open } = this._services;
    if (!next) {
      return [h('p', {}, trans.__('Nothing of the course is left to do.'))];
    }
    const here = next.unit.path === this._unit.path;
    const name = nameOf(next, trans);
    const words = here ? trans.__('Left in this unit: %1', name) : trans.__('Next: %1', next.unit.title);
    const button = h('button', { type: 'button', className: 'tfkit-mod-strong', onclick: () => open(next) }, words);
    const about = here ? [] : [h('p', {}, next.unit.about)];
    return [h('div', { className: 'tfkit-End-next' }, ...about, button)];
  }

  private _shown = '';
}
