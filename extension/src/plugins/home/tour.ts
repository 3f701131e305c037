/** The tour of the home page: it explains the parts of the page in a minute. It takes the focus only once the reader starts it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';

export interface ITourStep {
  readonly title: string;
  readonly words: string;
  /** A selector of the part that the step is about; a step whose part is missing is left out. */
  readonly target: string;
}

const MARK = 'tfkit-Tour-target';
const GAP = 16; // pixels: between the card and the page's end, and around what is shown

/** The steps, in the order in which a student needs them. */
export function tourSteps(trans: TranslationBundle): ITourStep[] {
  return [
    {
      title: trans.__('New here?'),
      words: trans.__('A tour of this page takes a minute. Arrow keys go on and back, Escape ends it.'),
      target: '.tfkit-Home h1'
    },
    {
      title: trans.__('Go on here'),
      words: trans.__('This button opens the first notebook; later it opens the exercise at which to continue.'),
      target: '.tfkit-Home .tfkit-Continue'
    },
    {
      title: trans.__('Check your answer'),
      words: trans.__(
        'Write your answer in its cell, then press Check above it. Within seconds you see which checks pass and what you may have misunderstood. Check as often as you like; this part shows your progress.'
      ),
      target: '.tfkit-Home .tfkit-Tally'
    },
    {
      title: trans.__('Find anything'),
      words: trans.__('Units, exercises, and the terms of the glossary with their definitions.'),
      target: '.tfkit-Home .tfkit-Find'
    },
    {
      title: trans.__('The path'),
      words: trans.__('Each picture is a unit, each dot under it an exercise. Take them in order, or as you please.'),
      target: '.tfkit-Home .tfkit-Path h2'
    },
    {
      title: trans.__('Always at hand'),
      words: trans.__(
        'The Course panel lists every exercise beside your notebook. View → Course: Home leads back here, View → Course: Tour to this tour.'
      ),
      target: '.jp-SideBar [data-id="tfkit-course"], .tfkit-Home h1'
    }
  ];
}

export class Tour {
  readonly node = h('section', { className: 'tfkit-Tour' });

  /** `ended` is called once: after the last step, or when the reader ends the tour. */
  constructor(
    private readonly _steps: readonly ITourStep[],
    private readonly _trans: TranslationBundle,
    private readonly _ended: () => void,
    /** Puts the card where it belongs: the offer is part of the page, the steps are over it. */
    private readonly _place: (card: HTMLElement, offered: boolean) => void = () => undefined,
    private readonly _page: Document = document
  ) {
    this.node.setAttribute('aria-label', _trans.__('Tour'));
    this.node.addEventListener('keydown', event => this._key(event));
    this._draw();
  }

  /** Marks the part that the step is about; to be called again after the page was redrawn. */
  mark(): void {
    this._page.querySelectorAll(`.${MARK}`).forEach(node => node.classList.remove(MARK));
    if (this._at > 0) {
      this._target?.classList.add(MARK);
    }
  }

  end(): void {
    const focused = this.node.contains(this._page.activeElement);
    this._at = 0;
    this.mark();
    this.node.closest<HTMLElement>('.tfkit-Home')?.style.removeProperty('scroll-padding');
    this.node.remove();
    if (focused) {
      const next = this._page.querySelector<HTMLElement>('.tfkit-Home .tfkit-Continue');
      (next ?? this._page.querySelector<HTMLElement>('.tfkit-Home'))?.focus();
    }
    this._ended();
  }

  private get _here(): ITourStep[] {
    return this._steps.filter(({ target }) => this._page.querySelector(target));
  }

  private get _target(): Element | null {
    return this._page.querySelector(this._here[this._at]?.target ?? ':not(*)');
  }

  private _go(to: number): void {
    if (to >= this._here.length) {
      return this.end();
    }
    const offered = this._at === 0;
    this._at = Math.max(0, to);
    if (offered !== (this._at === 0)) {
      this._place(this.node, this._at === 0);
    }
    this._draw();
    this._heading.focus({ preventScroll: true }); // screen readers read the new step, and keys still reach the tour
    this._show();
  }

  /** Scrolls the part that the step is about into the room above the card: to its middle, or to the top where the part is higher. */
  private _show(): void {
    const home = this.node.closest<HTMLElement>('.tfkit-Home');
    if (!home || !this._target) {
      return;
    }
    const covered = this._at > 0 ? this.node.offsetHeight + GAP : 0;
    home.style.scrollPadding = this._at > 0 ? `${GAP}px 0 ${covered + GAP}px` : '';
    const high = this._target.clientHeight > home.clientHeight - covered - 2 * GAP;
    const still = this._page.defaultView?.matchMedia('(prefers-reduced-motion: reduce)').matches;
    this._target.scrollIntoView({ block: high ? 'start' : 'center', behavior: still ? 'auto' : 'smooth' });
  }

  private _draw(): void {
    const steps = this._here;
    const { title, words } = steps[this._at] ?? this._steps[0];
    const button = (label: string, act: () => void, className = ''): HTMLElement =>
      h('button', { type: 'button', className, onclick: act }, label);
    const [first, last] = [this._at === 0, this._at === steps.length - 1];
    this._heading.textContent = title;
    this.node.classList.toggle('tfkit-mod-offer', first);
    const buttons = first
      ? [button(this._trans.__('No, thank you'), () => this.end())]
      : [
          button(this._trans.__('Back'), () => this._go(this._at - 1)),
          ...(last ? [] : [button(this._trans.__('End the tour'), () => this.end())])
        ];
    const on = first ? this._trans.__('Show me around') : last ? this._trans.__('Done') : this._trans.__('Next');
    buttons.push(button(on, () => this._go(this._at + 1), 'tfkit-Tour-on'));
    const place = h('span', { className: 'tfkit-Tour-place' });
    place.textContent = first ? '' : this._trans.__('%1 of %2', this._at, steps.length - 1);
    this.node.replaceChildren(
      h('div', {}, this._heading, h('p', {}, words)),
      h('div', { className: 'tfkit-Tour-bar' }, place, ...buttons)
    );
    this.mark();
  }

  private _key(event: KeyboardEvent): void {
    const keys: Record<string, () => void> = {
      ArrowRight: () => this._go(this._at + 1),
      ArrowLeft: () => this._go(this._at - 1),
      Escape: () => this.end()
    };
    if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    }
  }

  private readonly _heading = h('h2', { tabIndex: -1 });
  private _at = 0;
}
