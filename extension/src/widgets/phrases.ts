/** Phrases that point, in a notebook of the lab or on a page: which one is shown, and when. What it lights depends on where it is. */
import { h } from './dom';
import { IPointer, POINTING, pointerOf } from './pointing';
import { translated } from './words';

const phraseAt = ({ target }: Event): HTMLElement | null =>
  (target as Element).closest?.<HTMLElement>(POINTING) ?? null;

/** One phrase is shown at a time: the one under the pointer, else the one with the focus, else the pressed one. */
export abstract class PhraseKeeper {
  /** root: below it are the phrases, and what they light. */
  protected constructor(root: HTMLElement) {
    root.addEventListener('pointerover', event => this._show(phraseAt(event) ?? this._kept));
    root.addEventListener('pointerleave', () => this._show(this._kept));
    root.addEventListener('focusin', event => this._focus(phraseAt(event)));
    root.addEventListener('focusout', () => this._focus(null));
    root.addEventListener('click', event => this._onClick(event));
    root.addEventListener('keydown', event => this._onKey(event), true); // before a notebook takes the space bar to scroll
  }

  /** What a phrase says aloud when it is pressed; to be put beside the root. */
  protected readonly _said = h('span', { role: 'status' });

  /** Lights what a phrase points at, and returns the elements in which something is lit. */
  protected abstract _light(phrase: HTMLElement, pointer: IPointer): Element[];

  /** Puts out what is lit. */
  protected abstract _putOut(): void;

  /** From where to where one sees, in pixels of the window. */
  protected abstract _seen(): { readonly top: number; readonly bottom: number };

  /** Brings what a pressed phrase lights into sight. */
  protected _reveal(lit: readonly Element[]): void {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    lit[0].scrollIntoView({ block: 'nearest', behavior: still ? 'auto' : 'smooth' });
  }

  private _onClick(event: MouseEvent): void {
    const phrase = phraseAt(event);
    if (phrase && pointerOf(phrase.getAttribute('href'))) {
      event.preventDefault(); // it leads nowhere
      this._press(phrase === this._pressed ? null : phrase);
    }
  }

  private _onKey(event: KeyboardEvent): void {
    const phrase = phraseAt(event);
    if (phrase && event.key === ' ') {
      event.preventDefault();
      event.stopPropagation();
      phrase.click();
    } else if (event.key === 'Escape' && this._shown) {
      this._press(null);
    }
  }

  private _focus(phrase: HTMLElement | null): void {
    this._focused = phrase;
    this._show(this._kept);
  }

  /** What is shown while the pointer is at no phrase. */
  private get _kept(): HTMLElement | null {
    return this._focused?.isConnected ? this._focused : this._pressed; // not every browser tells when what has the focus is removed
  }

  /** Keeps what a phrase shows, and brings it into sight; null lets it go. */
  private _press(phrase: HTMLElement | null): void {
    this._pressed?.setAttribute('aria-pressed', 'false');
    this._pressed = phrase;
    this._focused = phrase && this._focused; // what is let go stays out though it has the focus
    phrase?.setAttribute('aria-pressed', 'true');
    this._show(phrase);
    if (this._lit.length) {
      phrase?.removeAttribute('data-note'); // it is in sight in a moment
      this._reveal(this._lit);
    }
    this._said.textContent = phrase?.dataset.note ?? '';
  }

  private _show(phrase: HTMLElement | null): void {
    if (phrase === this._shown && (!phrase || this._lit.some(one => one.isConnected))) {
      return; // a figure that is drawn later, or again, is still to be lit
    }
    this._shown?.removeAttribute('data-note');
    this._putOut();
    [this._lit, this._shown] = [[], phrase];
    const pointer = pointerOf(phrase?.getAttribute('href') ?? null);
    if (phrase && pointer) {
      this._lit = this._light(phrase, pointer);
      const note = this._note(pointer);
      if (note) {
        phrase.dataset.note = note;
      }
    }
  }

  /** What the phrase says beside itself: where to look, if what it lights is out of sight. */
  private _note({ code }: IPointer): string {
    const seen = this._seen();
    const places = this._lit.map(one => one.getBoundingClientRect()).filter(({ height }) => height > 0);
    if (!places.length) {
      return code ? translated('no such line to be seen yet') : translated('nothing drawn yet');
    }
    if (places.some(({ top, bottom }) => top < seen.bottom && bottom > seen.top)) {
      return '';
    }
    return places[0].top >= seen.bottom ? '↓' : '↑';
  }

  private _shown: HTMLElement | null = null;
  private _focused: HTMLElement | null = null;
  private _pressed: HTMLElement | null = null;
  private _lit: Element[] = [];
}
