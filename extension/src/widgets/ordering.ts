/**
 * Lines to put in order: those to choose from, and the answer that is made of them. A line is moved by dragging it, by the
 * buttons for the chosen line, or by keys; every move is announced. The kernel judges the order by running it.
 */
import { h } from './dom';
import { IModel, IRenderProps } from './model';
import { translated } from './words';

interface ITask {
  exercise: string;
  title: string;
  intro: string;
  before: string;
  after: string;
  level: number;
  lines: string[];
}

interface IVerdict {
  status: string;
  sentences: string[];
  line: number | null;
}

/** A line of the answer: its number, from 1 on, and its indentation in steps. */
type Placed = [number, number];

const DEEPEST = 8;
const STEP = 28; // pixels that a drag to the side takes for a step of indentation
const STARTS = 5; // pixels after which a press is a drag
const COLUMNS = 4; // of a step of indentation

class Ordering {
  readonly node: HTMLElement;

  constructor(private readonly _model: IModel) {
    this._task = _model.get('task') as ITask;
    this._check.onclick = () => this._send();
    this._tools = this._toolbar();
    const head = h(
      'div',
      { className: 'tfkit-v-head' },
      h('span', { className: 'tfkit-v-badge' }, translated('Lines in order')),
      ' ',
      h('strong', { className: 'tfkit-v-title' }, this._task.title),
      ' ',
      h('code', {}, this._task.exercise)
    );
    const keys = translated(
      'Keys: Enter adds a line, or puts one back; ↑ and ↓ go to another line, with Alt they move it; ← and → indent.'
    );
    const answer = h(
      'section',
      {},
      h('h4', {}, translated('Your answer')),
      this._given(this._task.before),
      this._answer,
      this._given(this._task.after),
      this._tools
    );
    const pool = h('section', {}, h('h4', {}, translated('Lines to choose from')), this._pool);
    this.node = h(
      'div',
      { className: 'tfkit-verdict tfkit-ordering', role: 'group', 'aria-label': translated('Lines in order') },
      head,
      h('p', {}, this._task.intro),
      h('div', { className: 'tfkit-o-columns' }, pool, answer),
      h('p', { className: 'tfkit-o-keys' }, keys),
      h('div', { className: 'tfkit-o-bar' }, this._check),
      this._result,
      this._status
    );
    this.node.onkeydown = event => this._onKey(event);
    this._tell();
  }

  /** Draws the answer that the kernel holds, if it is another one. */
  readonly refresh = (): void => this._draw();

  /** Shows what the kernel says of the answer. */
  readonly tell = (): void => this._tell();

  private _given(code: string): HTMLElement {
    return h('pre', { className: 'tfkit-o-given', hidden: !code }, h('code', {}, code.trim().replace(/\n\n+/g, '\n')));
  }

  private get _placed(): Placed[] {
    return this._model.get('answer') as Placed[];
  }

  private get _left(): number[] {
    const used = new Set(this._placed.map(([n]) => n));
    return this._task.lines.map((_, i) => i + 1).filter(n => !used.has(n));
  }

  /** Stores another answer, and puts the focus on the line of this number. */
  private _change(answer: Placed[], focus: number, message: string): void {
    this._chosen = focus;
    this._model.set('answer', answer);
    this._model.set('result', null); // it was of another order
    this._model.set('problem', '');
    this._model.save_changes();
    this._tell();
    this.node.querySelector<HTMLElement>(`[data-line="${focus}"]`)?.focus();
    this._status.textContent = message;
  }

  private _at(n: number): number {
    return this._placed.findIndex(([m]) => m === n);
  }

  /** Puts a line into the answer, at a place and with an indentation; by default at its end, as deep as the line above. */
  private _put(n: number, place?: number, level?: number): void {
    const others = this._placed.filter(([m]) => m !== n);
    const at = Math.max(0, Math.min(place ?? others.length, others.length));
    const above = others[at - 1];
    const opens = above && this._task.lines[above[0] - 1].trimEnd().endsWith(':');
    const deep = Math.max(0, Math.min(level ?? (above ? above[1] + (opens ? 1 : 0) : 0), DEEPEST));
    others.splice(at, 0, [n, deep]);
    const words = translated('Line %1 of %2, indentation %3', at + 1, others.length, deep);
    this._change(others, n, `${words}: ${this._task.lines[n - 1]}`);
  }

  private _remove(n: number): void {
    const at = this._at(n);
    const next = this._placed[at + 1] ?? this._placed[at - 1];
    const others = this._placed.filter(([m]) => m !== n);
    this._change(others, next ? next[0] : n, translated('Put back: %1', this._task.lines[n - 1]));
  }

  /** Moves the chosen line of the answer by lines and steps of indentation. */
  private _move(n: number, lines: number, steps: number): void {
    const at = this._at(n);
    if (at >= 0 && at + lines >= 0 && at + lines < this._placed.length) {
      this._put(n, at + lines, this._placed[at][1] + steps);
    }
  }

  private _toolbar(): HTMLElement {
    const tool = (sign: string, name: string, act: (n: number) => void): HTMLElement =>
      h(
        'button',
        { type: 'button', 'aria-label': name, title: name, onclick: () => this._chosen && act(this._chosen) },
        sign
      );
    return h(
      'div',
      { className: 'tfkit-o-tools', role: 'group', 'aria-label': translated('The chosen line') },
      tool('↑', translated('Move up'), n => this._move(n, -1, 0)),
      tool('↓', translated('Move down'), n => this._move(n, 1, 0)),
      tool('←', translated('Less indentation'), n => this._move(n, 0, -1)),
      tool('→', translated('More indentation'), n => this._move(n, 0, 1)),
      tool('✕', translated('Put back'), n => this._remove(n))
    );
  }

  private _draw(): void {
    const [placed, left] = [this._placed, this._left];
    const wrong = ((this._model.get('result') ?? {}) as Partial<IVerdict>).line;
    this._answer.replaceChildren(
      ...placed.map(([n, level], i) => this._line(n, level, i, placed.length, i + 1 === wrong))
    );
    this._pool.replaceChildren(...left.map((n, i) => this._line(n, -1, i, left.length, false)));
    const empty = h('li', { className: 'tfkit-o-empty' }, translated('Add a line here.'));
    this._answer.append(...(placed.length ? [] : [empty]));
    this._tools.hidden = this._at(this._chosen) < 0;
    const busy = Boolean(this._model.get('busy'));
    this._check.textContent = busy ? translated('Checking …') : translated('Check the order');
    this._check.disabled = busy || !placed.length;
  }

  /** A line's button; `level` is -1 for one that is not in the answer. */
  private _line(n: number, level: number, place: number, count: number, wrong: boolean): HTMLElement {
    const text = this._task.lines[n - 1];
    const name =
      level < 0
        ? translated('Add: %1', text)
        : `${translated('Line %1 of %2, indentation %3', place + 1, count, level)}: ${text}`;
    const shift = `${Math.max(level, 0) * COLUMNS}ch`;
    const grip = h('span', { className: 'tfkit-o-grip', 'aria-hidden': 'true' }, level < 0 ? '+' : String(place + 1));
    const code = h('code', {}, text);
    const button = h('button', { type: 'button', 'aria-label': name, className: 'tfkit-o-line' }, grip, code);
    code.style.marginLeft = shift;
    button.dataset.line = String(n);
    const chosen = n === this._chosen;
    const inList = level < 0 ? this._at(this._chosen) < 0 && this._chosen > 0 : this._at(this._chosen) >= 0;
    button.tabIndex = chosen || (!inList && place === 0) ? 0 : -1; // one line of each list is in the tab order
    if (chosen && level >= 0) {
      button.setAttribute('aria-current', 'true');
    }
    button.classList.toggle('tfkit-o-wrong', wrong);
    button.onfocus = () => this._choose(n);
    button.onclick = event => event.detail > 0 && level < 0 && !this._dragged && this._put(n); // keys: see _onKey
    button.onpointerdown = event => this._press(event, button, n, level, grip);
    return h('li', {}, button);
  }

  private _choose(n: number): void {
    this._chosen = n;
    this._tools.hidden = this._at(n) < 0;
    for (const line of this.node.querySelectorAll<HTMLElement>('.tfkit-o-line')) {
      const own = line.dataset.line === String(n);
      if (own && this._at(n) >= 0) {
        line.setAttribute('aria-current', 'true');
      } else {
        line.removeAttribute('aria-current');
      }
      if (own || line.closest('ol, ul') === this.node.querySelector(`[data-line="${n}"]`)?.closest('ol, ul')) {
        line.tabIndex = own ? 0 : -1;
      }
    }
  }

  private _onKey(event: KeyboardEvent): void {
    event.stopPropagation(); // the notebook has other uses for these keys
    const line = (event.target as HTMLElement).closest<HTMLElement>('.tfkit-o-line');
    if (!line) {
      return;
    }
    const n = Number(line.dataset.line);
    const inAnswer = this._at(n) >= 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === 'Enter' || event.key === ' ') {
      (inAnswer ? this._remove : this._put).call(this, n);
    } else if (inAnswer && (event.key === 'Delete' || event.key === 'Backspace')) {
      this._remove(n);
    } else if (down && event.altKey && inAnswer) {
      this._move(n, down, 0);
    } else if (down) {
      const next = down < 0 ? line.parentElement!.previousElementSibling : line.parentElement!.nextElementSibling;
      next?.querySelector<HTMLElement>('.tfkit-o-line')?.focus();
    } else if (across && inAnswer) {
      this._move(n, 0, across);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Begins a drag; a finger drags by the grip alone, so that it can scroll the page everywhere else. */
  private _press(event: PointerEvent, line: HTMLElement, n: number, level: number, grip: HTMLElement): void {
    this._dragged = false;
    if (event.button !== 0 || (event.pointerType === 'touch' && !grip.contains(event.target as Node))) {
      return;
    }
    const [x, y] = [event.clientX, event.clientY];
    line.onpointermove = moved => {
      const [across, down] = [moved.clientX - x, moved.clientY - y];
      if (!this._dragged && Math.hypot(across, down) < STARTS) {
        return;
      }
      if (!this._dragged) {
        line.setPointerCapture(event.pointerId);
        line.classList.add('tfkit-o-dragged');
      }
      this._dragged = true;
      line.style.transform = `translate(${across}px, ${down}px)`;
      this._mark(this._target(moved, n));
    };
    const end = (): void => {
      line.onpointermove = line.onpointerup = line.onpointercancel = null;
      line.style.transform = '';
      line.classList.remove('tfkit-o-dragged');
      this._mark(undefined);
    };
    line.onpointercancel = end;
    line.onpointerup = up => {
      end();
      if (this._dragged) {
        const place = this._target(up, n);
        const steps = Math.round((up.clientX - x) / STEP);
        if (place !== undefined) {
          this._put(n, place, level < 0 ? undefined : level + steps);
        } else if (level >= 0) {
          this._remove(n);
        }
      }
    };
  }

  /** The place in the answer that is under the pointer, counted without the line that is dragged; undefined outside. */
  private _target(event: PointerEvent, n: number): number | undefined {
    const box = this._answer.parentElement!.getBoundingClientRect();
    const [x, y] = [event.clientX, event.clientY];
    if (x < box.left - STEP || x > box.right + STEP || y < box.top - STEP || y > box.bottom + STEP) {
      return undefined;
    }
    const others = this._placed.filter(([m]) => m !== n);
    const above = others.filter(([m]) => {
      const own = this._answer.querySelector(`[data-line="${m}"]`)!.getBoundingClientRect();
      return y > own.top + own.height / 2;
    });
    return above.length;
  }

  private _mark(place: number | undefined): void {
    this._answer.classList.toggle('tfkit-o-open', place !== undefined);
    const lines = [...this._answer.querySelectorAll('.tfkit-o-line:not(.tfkit-o-dragged)')];
    lines.forEach((line, i) => line.classList.toggle('tfkit-o-before', i === place));
  }

  private _send(): void {
    if (this._placed.length) {
      this._model.send?.({ do: 'check', order: this._placed });
    }
  }

  /** Shows the verdict or the problem, and draws the answer anew: the verdict names a line of it. */
  private _tell(): void {
    const found = this._model.get('result') as IVerdict | null;
    const problem = this._model.get('problem') as string;
    const words = problem ? [problem] : (found?.sentences ?? []);
    this._result.replaceChildren(
      ...words.map((text, i) =>
        h(
          'p',
          i ? {} : { className: 'tfkit-v-hint' },
          i || !found ? text : `${found.status === 'passed' ? '✓' : '✗'} ${text}`
        )
      )
    );
    this._result.className = `tfkit-o-result tfkit-is-${found?.status ?? 'pending'}`;
    this._draw();
  }

  private readonly _task: ITask;
  private readonly _tools: HTMLElement;
  private readonly _pool = h('ul', { className: 'tfkit-o-pool', 'aria-label': translated('Lines to choose from') });
  private readonly _answer = h('ol', { className: 'tfkit-o-answer', 'aria-label': translated('Your answer') });
  private readonly _check = h('button', { type: 'button', className: 'tfkit-o-check' });
  private readonly _result = h('div', { role: 'alert' });
  private readonly _status = h('p', { className: 'tfkit-o-status', role: 'status', 'aria-live': 'polite' });
  private _chosen = 0;
  private _dragged = false;
}

export function mount(model: IModel, el: HTMLElement): () => void {
  const ordering = new Ordering(model);
  el.append(ordering.node);
  const heard: [string, () => void][] = [
    ['change:answer', ordering.refresh],
    ['change:busy', ordering.refresh],
    ['change:result', ordering.tell],
    ['change:problem', ordering.tell]
  ];
  heard.forEach(([event, act]) => model.on(event, act));
  return () => {
    heard.forEach(([event, act]) => model.off(event, act));
    el.replaceChildren();
  };
}

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
