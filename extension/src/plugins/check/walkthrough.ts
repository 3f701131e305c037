/**
 * The walk to a mistake: the stops that a card holds in a fold (autograder/feedback/html.py), one at a time. The card decides what is in
 * them, so nothing is shown here that the course's settings leave out of it.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';

/** The stops of a card, one of which is shown. */
export class Walkthrough {
  /** The walk of a card; null where the card has none. */
  static in(card: Element, trans: TranslationBundle): Walkthrough | null {
    const fold = card.querySelector<HTMLDetailsElement>('details.tfkit-v-walk');
    const stops = Array.from(fold?.querySelectorAll<HTMLElement>('.tfkit-v-stop') ?? []);
    return fold && stops.length ? new Walkthrough(fold, stops, trans) : null;
  }

  private constructor(
    private readonly _fold: HTMLDetailsElement,
    private readonly _stops: readonly HTMLElement[],
    private readonly _trans: TranslationBundle
  ) {
    const step = (label: string, by: number, sign: string): HTMLButtonElement =>
      h('button', { type: 'button', title: label, 'aria-label': label, onclick: () => this._go(this._at + by) }, sign);
    this._back = step(_trans.__('Previous line'), -1, '‹');
    this._next = step(_trans.__('Next line'), 1, '›');
    this._lines = _stops.map((stop, i) => this._line(stop, i));
    const lines = h('ol', { 'aria-label': _trans.__('Lines') }, ...this._lines.map(line => h('li', {}, line)));
    const bar = h('div', { className: 'tfkit-Walk-bar' }, this._back, this._next, this._place);
    _fold.setAttribute('aria-live', 'off'); // within a card that is announced as a whole when it appears
    const values = _stops[0].parentElement!;
    const walk = h('div', { className: 'tfkit-Walk' }, bar, h('div', { className: 'tfkit-Walk-lines' }, lines), values);
    walk.dataset.lmSuppressShortcuts = 'true'; // the lab's own keys would go to another cell
    walk.addEventListener('keydown', event => this._key(event));
    _fold.append(walk);
    this._go(0);
  }

  /** Opens the fold and goes to the first line. */
  open(): void {
    this._fold.open = true;
    this._go(0);
    this._lines[0].focus({ preventScroll: true });
    this._fold.scrollIntoView({ block: 'nearest' });
  }

  private _line(stop: HTMLElement, i: number): HTMLButtonElement {
    const text = stop.querySelector('pre')?.textContent ?? '';
    const where = stop.querySelector('b')?.textContent ?? '';
    const label = h('span', { className: 'tfkit-Walk-number' }, /\d+/.exec(where)?.[0] ?? '');
    return h('button', { type: 'button', title: where, onclick: () => this._go(i) }, label, ' ', h('code', {}, text));
  }

  private _go(to: number): void {
    const last = this._stops.length - 1;
    this._at = Math.max(0, Math.min(last, to));
    this._stops.forEach((stop, i) => (stop.hidden = i !== this._at));
    this._lines.forEach((line, i) => {
      line.tabIndex = i === this._at ? 0 : -1;
      line.toggleAttribute('aria-current', i === this._at);
      if (i === this._at) {
        line.setAttribute('aria-current', 'step');
      }
      line.classList.toggle('tfkit-mod-departing', i === last && i === this._at);
    });
    this._back.setAttribute('aria-disabled', String(this._at === 0));
    this._next.setAttribute('aria-disabled', String(this._at === last));
    const said = this._stops[this._at].querySelector('p')?.textContent ?? '';
    const place = this._trans.__('%1 of %2', this._at + 1, last + 1);
    this._place.replaceChildren(place, h('span', { className: 'tfkit-Walk-said' }, `, ${said}`));
  }

  private _key(event: KeyboardEvent): void {
    const last = this._stops.length - 1;
    const to = { ArrowUp: this._at - 1, ArrowDown: this._at + 1, ArrowLeft: this._at - 1, ArrowRight: this._at + 1 };
    const ends = { Home: 0, End: last };
    const target = { ...to, ...ends }[event.key];
    const onButton = (event.target as Element).closest('button') !== null; // elsewhere the keys scroll
    if (target === undefined || !onButton || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this._go(target);
    this._lines[this._at].focus();
  }

  private _at = 0;
  private readonly _back: HTMLButtonElement;
  private readonly _next: HTMLButtonElement;
  private readonly _lines: readonly HTMLButtonElement[];
  private readonly _place = h('span', { role: 'status' });
}
