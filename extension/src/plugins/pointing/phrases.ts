/** The phrases of one notebook that point: what they light, and when. */
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import { cellOfMaps, IPointer, lightIn, makeButtons, POINTING, pointerOf, unlightIn } from '../../widgets/pointing';
import { lightCode } from './code';
import { sectionOf } from './section';

const phraseAt = ({ target }: Event): HTMLElement | null =>
  (target as Element).closest?.<HTMLElement>(POINTING) ?? null;

/** Whether a heading that begins a section stands before or after a phrase in its cell. */
function headingsAround(phrase: HTMLElement): { above: boolean; below: boolean } {
  const text = phrase.closest('.jp-RenderedMarkdown');
  const headings = Array.from(text?.querySelectorAll('h1, h2') ?? []);
  const stands = (where: number): boolean => headings.some(one => phrase.compareDocumentPosition(one) & where);
  return { above: stands(Node.DOCUMENT_POSITION_PRECEDING), below: stands(Node.DOCUMENT_POSITION_FOLLOWING) };
}

/** One phrase is shown at a time: the one under the pointer, else the one with the focus, else the pressed one. */
export class Phrases {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _trans: TranslationBundle
  ) {
    const { node } = _panel.content;
    node.addEventListener('pointerover', event => this._show(phraseAt(event) ?? this._kept));
    node.addEventListener('pointerleave', () => this._show(this._kept));
    node.addEventListener('focusin', event => this._focus(phraseAt(event)));
    node.addEventListener('focusout', () => this._focus(null));
    node.addEventListener('click', event => this._onClick(event));
    node.addEventListener('dblclick', event => phraseAt(event) && event.stopPropagation(), true); // else the notebook opens the source
    node.addEventListener('keydown', event => this._onKey(event), true); // before the notebook takes the space bar to scroll
    _panel.node.append(this._said);
    this._prepareTexts();
  }

  /** Makes buttons of the phrases in texts, whenever one is drawn: that is after its cell is ready, and again after it was edited. */
  private _prepareTexts(): void {
    const { content, context, disposed } = this._panel;
    const drawn = new MutationObserver(changes => changes.forEach(({ target }) => makeButtons(target as Element)));
    const watch = (): void => {
      if (content.isDisposed) {
        return;
      }
      content.widgets
        .filter(({ model }) => model.type === 'markdown')
        .forEach(({ node }) => {
          drawn.observe(node, { childList: true, subtree: true });
          makeButtons(node);
        });
    };
    const later = (): void => void window.setTimeout(watch); // when the new cells have their widgets
    void context.ready.then(() => {
      watch();
      const cells = content.isDisposed ? undefined : content.model?.cells;
      cells?.changed.connect(later);
      disposed.connect(() => cells?.changed.disconnect(later)); // other windows of the notebook have the same cells
    });
    disposed.connect(() => drawn.disconnect());
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
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (this._lit.length) {
      phrase?.removeAttribute('data-note'); // it is in sight in a moment
      this._lit[0].scrollIntoView({ block: 'nearest', behavior: still ? 'auto' : 'smooth' });
    }
    this._said.textContent = phrase?.dataset.note ?? '';
  }

  private _show(phrase: HTMLElement | null): void {
    if (phrase === this._shown && (!phrase || this._lit.some(one => one.isConnected))) {
      return; // a figure that is drawn later, or again, is still to be lit
    }
    this._shown?.removeAttribute('data-note');
    this._cells.forEach(cell => {
      unlightIn(cell.node);
      lightCode(cell, null);
    });
    [this._cells, this._lit, this._shown] = [[], [], phrase];
    const pointer = pointerOf(phrase?.getAttribute('href') ?? null);
    if (phrase && pointer) {
      this._light(phrase, pointer);
      const note = this._note(pointer);
      if (note) {
        phrase.dataset.note = note;
      }
    }
  }

  private _light(phrase: HTMLElement, pointer: IPointer): void {
    const section = this._section(phrase);
    const own = section.findIndex(({ node }) => node.contains(phrase));
    const numbered = pointer.map === null ? null : cellOfMaps(section, own);
    this._cells = pointer.table ? section.slice(own, own + 1) : section;
    this._lit = this._cells.flatMap(cell => {
      const hasLines = pointer.code && cell.model.type === 'code' && lightCode(cell, pointer.code) > 0;
      const lines = hasLines ? [cell.editorWidget?.node ?? cell.node] : [];
      return [...lines, ...(numbered === null || numbered === cell ? lightIn(cell.node, pointer) : [])];
    });
  }

  private _section(phrase: HTMLElement): Cell[] {
    const cells = this._panel.content.widgets;
    const index = cells.findIndex(({ node }) => node.contains(phrase));
    const read = cells.map(({ model }) => ({ type: model.type, source: model.sharedModel.getSource() }));
    const [first, last] = sectionOf(read, index, headingsAround(phrase));
    return index < 0 ? [] : cells.slice(first, last + 1);
  }

  /** What the phrase says beside itself: where to look, if what it lights is out of sight. */
  private _note({ code }: IPointer): string {
    const seen = this._panel.content.outerNode.getBoundingClientRect();
    const places = this._lit.map(one => one.getBoundingClientRect()).filter(({ height }) => height > 0);
    if (!places.length) {
      return code ? this._trans.__('no such line to be seen yet') : this._trans.__('nothing drawn yet');
    }
    if (places.some(({ top, bottom }) => top < seen.bottom && bottom > seen.top)) {
      return '';
    }
    return places[0].top >= seen.bottom ? '↓' : '↑';
  }

  private readonly _said = h('span', { className: 'tfkit-Hidden', role: 'status' });
  private _shown: HTMLElement | null = null;
  private _focused: HTMLElement | null = null;
  private _pressed: HTMLElement | null = null;
  private _cells: Cell[] = [];
  private _lit: Element[] = [];
}
