/** The common parts of views of recorded pictures: validation, the saved position, screen reader announcements. */
import { h } from './dom';
import { IModel } from './model';
import { onTheme } from './palette';
import { ISentence, sentenceForm } from './sentence';
import { IValidate, schemaProblem } from '../schemas/errors';
import { shareBar } from './share';
import { CSS, PICTURE_CSS } from './style';
import { translated } from './words';

export interface IPlace {
  /** The chosen number between 0 and `most`, or `otherwise` where nothing was chosen. */
  at(key: string, most: number, otherwise?: number): number;
  set(changes: Record<string, number>): void;
}

export interface ICanvas<T> {
  trace: T;
  place: IPlace;
  root: HTMLElement;
  /** Announces a change to screen readers. */
  announce(words: string): void;
}

/** Builds a view once, and returns a function that draws it at the current position. */
export type BuildView<T> = (canvas: ICanvas<T>) => () => void;

interface ITitled {
  title: string;
}

export type Mount = (model: IModel, el: HTMLElement) => () => void;

/** The `mount` of a view: `label` is called when it is drawn, for the reader's language; `check` finds errors that the schema cannot express. */
export function picture<T extends ITitled>(
  label: () => string,
  validate: IValidate,
  build: BuildView<T>,
  check?: (trace: T) => string | null
): Mount {
  return (model, el) => {
    let node: HTMLElement | null = null;
    let draw = (): void => undefined;
    let asked: ISentence | null = null;
    const rebuild = (): void => {
      const before = asked;
      const hadFocus = !!before?.node.contains(document.activeElement); // which it loses when it is removed
      node?.remove();
      const trace = model.get('trace') as T;
      const wrong = schemaProblem(validate, trace) ?? check?.(trace);
      if (wrong) {
        node = h(
          'div',
          { className: 'tfk tfk-error', role: 'alert' },
          translated('This trace cannot be shown: %1.', wrong)
        );
        draw = () => undefined;
        asked = null;
      } else {
        [node, draw] = drawn(label(), model, trace, build);
        asked = sentenceForm(model, node);
        if (asked) {
          node.querySelector('h3')!.after(asked.node);
        }
      }
      el.append(node);
      asked?.replace(before, hadFocus);
      draw();
    };
    const change = (): void => draw();
    const answered = (): void => asked?.answer((model.get('message') ?? '') as string);
    rebuild();
    model.on('change:trace', rebuild);
    model.on('change:place', change);
    model.on('change:n_answers', answered);
    const still = onTheme(change);
    return () => {
      still();
      model.off('change:trace', rebuild);
      model.off('change:place', change);
      model.off('change:n_answers', answered);
      node?.remove();
    };
  };
}

function drawn<T extends ITitled>(
  label: string,
  model: IModel,
  trace: T,
  build: BuildView<T>
): [HTMLElement, () => void] {
  const live = h('div', { className: 'tfk-sr', role: 'status', 'aria-live': 'polite' });
  const root = h('div', { className: 'tfk', role: 'group', 'aria-label': label });
  const title = h('h3', {}, trace.title || label);
  const state = (): Record<string, unknown> => ({ trace, place: model.get('place') ?? {} });
  root.append(h('style', {}, CSS + PICTURE_CSS), shareBar(root, trace.title || label, state), title);
  const draw = build({ trace, root, place: placeOf(model, root), announce: words => (live.textContent = words) });
  root.append(live);
  return [root, draw];
}

function placeOf(model: IModel, root: HTMLElement): IPlace {
  const known = (): Record<string, number> => (model.get('place') ?? {}) as Record<string, number>;
  return {
    at: (key, most, otherwise = 0) => Math.max(0, Math.min(most, Math.trunc(Number(known()[key] ?? otherwise) || 0))),
    set: changes => {
      const place = { ...known(), ...changes };
      model.set('place', place);
      model.save_changes();
      root.dispatchEvent(new CustomEvent('tfkit:state', { bubbles: true, detail: { place } }));
    }
  };
}

/** A select box over names, whose value is stored in the place. */
export function choice(
  label: string,
  names: string[],
  place: IPlace,
  key: string
): { node: HTMLElement; show(): void } {
  const select = h('select', {}, ...names.map((name, i) => h('option', { value: String(i) }, name)));
  select.onchange = () => place.set({ [key]: Number(select.value) });
  const show = (): void => {
    select.value = String(place.at(key, names.length - 1));
  };
  return { node: h('label', { hidden: names.length < 2 }, label, select), show };
}
