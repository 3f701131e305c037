/** The decoding stepper: `mount(model, el)` draws a recorded run, or two side by side, with steps in both directions. */
import { h, icon, visibleToken } from './dom';
import { listen } from './highlight';
import { IModel } from './model';
import { IPaneState, Pane } from './pane';
import { onTheme, palette } from './palette';
import { shareBar } from './share';
import { probabilities, entropies, Strip } from './strip';
import { CSS } from './style';
import { clamp, divergence, ITrace, problem, countSteps, withDraftTokens } from './trace';
import { translated } from './words';

const STATE_KEYS = ['step', 'layer', 'head', 'pin'] as const;
const HALF = 372; // pixels for the bars and maps of each of two runs side by side, which fill their half
const PACE_MS = 900; // delay between steps while playing

class Stepper {
  readonly root = h('div', {
    className: 'tfk',
    tabIndex: 0,
    role: 'group',
    'aria-label': translated('Decoding stepper')
  });

  constructor(
    private readonly _model: IModel,
    traces: ITrace[]
  ) {
    const able = !!_model.send && this._requests.includes('branch');
    this._panes = traces.map((trace, of) => {
      const take = (ids: number[], name: string): void => this._ask({ do: 'branch', of, ids }, visibleToken(name));
      return new Pane(trace, able ? take : null, traces.length > 1 ? HALF : undefined);
    });
    this._divergence = traces[1] ? divergence(traces[0], traces[1]) : -1;
    this._build();
    this.root.addEventListener('keydown', event => this._key(event));
    this.draw();
  }

  get step(): number {
    return clamp(Number(this._model.get('step')) || 0, 0, this._last);
  }

  /** Redraws only when something visible has changed, because setting a value here triggers an event of the model. */
  draw(): void {
    const shown = [...(Object.values(this._shown) as number[]), ...this._panes.map(pane => pane.wanted)];
    const state = `${shown.join()} ${palette().name}`;
    if (state !== this._drawn) {
      this._drawn = state;
      this._draw();
    }
  }

  /** Shows a message of the kernel, usually why a request failed. */
  showMessage(message: string): void {
    this._message.textContent = message;
  }

  /** The kernel has answered: shows its message, which is empty if it has none. */
  showAnswer(message: string): void {
    this.root.removeAttribute('aria-busy');
    this.showMessage(message);
  }

  dispose(): void {
    window.clearInterval(this._playing);
    this.root.remove();
  }

  private get _requests(): string[] {
    return (this._model.get('requests') ?? []) as string[];
  }

  private get _count(): number {
    return Math.max(...this._panes.map(pane => countSteps(pane.trace)));
  }

  private get _last(): number {
    return Math.max(0, this._count - 1);
  }

  private get _shown(): IPaneState {
    const at = (key: string, most: number): number =>
      clamp(Number(this._model.get(key)) || 0, 0, Math.max(0, most - 1));
    const [layers, heads] = this._panes[0].maps;
    const pinned = Number(this._model.get('pin') ?? -1);
    return {
      step: this.step,
      layer: at('layer', layers),
      head: at('head', heads),
      pinned,
      divergence: this._divergence
    };
  }

  private _set(key: (typeof STATE_KEYS)[number], value: number): void {
    this._model.set(key, value);
    this._model.save_changes();
    this.draw();
    const { step, layer, head, pinned } = this._shown;
    this.root.dispatchEvent(
      new CustomEvent('tfkit:state', { bubbles: true, detail: { step, layer, head, pin: pinned } })
    );
  }

  private _go(step: number): void {
    const to = clamp(step, 0, this._last);
    if (to !== this.step) {
      this._set('step', to);
    }
  }

  private _play(): void {
    const playing = this._playing !== 0;
    window.clearInterval(this._playing);
    this._playing = 0;
    if (!playing) {
      if (this.step >= this._last) {
        this._go(0);
      }
      this._playing = window.setInterval(
        () => (this.step < this._last ? this._go(this.step + 1) : this._play()),
        PACE_MS
      );
    }
    const label = playing ? translated('Play') : translated('Pause');
    this._player.setAttribute('aria-label', label);
    this._player.replaceChildren(icon(playing ? 'play' : 'pause'));
  }

  private _pin(): void {
    this._set('pin', this._shown.pinned === this.step ? -1 : this.step);
  }

  private _ask(message: Record<string, unknown>, what: string): void {
    this.showMessage(translated('Asking the kernel: %1 …', what));
    this.root.setAttribute('aria-busy', 'true'); // the picture fades until the answer is there
    this._model.send?.(message);
  }

  private _key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if ((event.target as HTMLElement).matches('select,input')) {
      event.stopPropagation(); // keys typed here must not reach the notebook
      return;
    }
    const keys: Record<string, () => void> = {
      ArrowRight: () => this._go(this.step + 1),
      ArrowLeft: () => this._go(this.step - 1),
      Home: () => this._go(0),
      End: () => this._go(this._last),
      p: () => this._play(),
      m: () => this._pin()
    };
    if (keys[event.key]) {
      event.preventDefault();
      event.stopPropagation(); // the notebook has uses of its own for these keys
      keys[event.key]();
    }
  }

  private _button(name: Parameters<typeof icon>[0], label: string, key: string, act: () => void): HTMLButtonElement {
    return h('button', { type: 'button', title: `${label} (${key})`, 'aria-label': label, onclick: act }, icon(name));
  }

  private _choice(label: string, key: 'layer' | 'head', count: number): HTMLSelectElement {
    const options = Array.from({ length: count }, (_, i) => h('option', { value: String(i) }, String(i + 1)));
    const select = h('select', { 'aria-label': label }, ...options);
    select.onchange = () => this._set(key, Number(select.value));
    return select;
  }

  private _build(): void {
    const bar = h('div', { className: 'tfk-bar', role: 'toolbar', 'aria-label': translated('Steps') });
    bar.append(
      this._first,
      this._back,
      this._player,
      this._forward,
      this._end,
      this._slider,
      this._jump,
      this._of,
      this._pinner
    );
    this._slider.max = String(this._last);
    this._slider.oninput = () => this._go(Number(this._slider.value));
    this._jump.max = String(this._count);
    this._jump.onchange = () => this._go(Number(this._jump.value) - 1);
    const [layers, heads] = this._panes[0].maps;
    this._layers = this._choice(translated('Layer'), 'layer', layers);
    this._heads = this._choice(translated('Head'), 'head', heads);
    if (layers) {
      bar.append(h('label', {}, translated('Layer'), this._layers), h('label', {}, translated('Head'), this._heads));
    }
    bar.append(...this._hypotheses());
    listen();
    const state = (): Record<string, unknown> =>
      Object.fromEntries(['trace', 'other', ...STATE_KEYS].map(key => [key, this._model.get(key)]));
    this.root.append(
      h('style', {}, CSS),
      shareBar(this.root, this._panes[0].trace.title, state),
      this._heading(),
      bar,
      this._forms(),
      this._panels,
      this._message,
      this._live
    );
    this._panels.classList.toggle('tfk-two', this._panes.length > 1);
    this._strips = this._makeStrips();
    this._panes.forEach((pane, i) => {
      const strips = this._strips[i].map(({ node }) => node);
      this._panels.append(
        h('div', {}, ...this._headOf(pane, i), h('div', { className: 'tfk-row' }, ...strips), pane.node)
      );
    });
  }

  /** Two strips for each run, all with the same scale. */
  private _makeStrips(): Strip[][] {
    const go = (to: number): void => this._go(to);
    const values = this._panes.map(pane => entropies(pane.trace));
    const most = Math.max(...values.flat(), 0);
    const room = this._panes.length > 1 ? HALF : undefined;
    return this._panes.map((pane, i) => [
      new Strip(translated('Entropy'), 'nats', values[i], most, go, room),
      new Strip(translated('Probability of what was chosen'), '', probabilities(pane.trace), 1, go, room)
    ]);
  }

  private _heading(): HTMLElement {
    const [{ trace }] = this._panes;
    return h('h3', {}, trace.title || translated('Decoding: %1', trace.strategy));
  }

  private _headOf(pane: Pane, place: number): HTMLElement[] {
    if (this._panes.length < 2) {
      return [];
    }
    const keep = h('button', { type: 'button', onclick: () => this._keep(place) }, translated('Keep only this'));
    return [h('h4', { className: 'tfk-which' }, `${'AB'[place]}: ${nameOf(pane.trace)}`, ' ', keep)];
  }

  private _keep(place: number): void {
    if (this._model.send && this._requests.length) {
      return this._ask({ do: 'keep', of: place }, translated('Keep only this')); // the kernel must know from which run to continue
    }
    this._model.set('trace', this._panes[place].trace);
    this._model.set('other', null);
    this._model.save_changes();
  }

  /** A select box for the hypothesis to show, if a run has several. */
  private _hypotheses(): HTMLElement[] {
    return this._panes.flatMap((pane, i) => {
      if (!pane.trace.steps.some(s => s.live.length > 1)) {
        return [];
      }
      const name = translated('Hypothesis') + (this._panes.length > 1 ? ` ${'AB'[i]}` : '');
      const select = h('select', { 'aria-label': name });
      select.onchange = () => {
        pane.wanted = Number(select.value);
        this.draw();
      };
      this._beams[i] = select;
      return [h('label', {}, name, select)];
    });
  }

  private _forms(): HTMLElement {
    const box = h('div', { className: 'tfk-bar' });
    if (this._divergence >= 0) {
      const label = translated('First difference: step %1', this._divergence + 1);
      box.append(h('button', { type: 'button', onclick: () => this._go(this._divergence) }, label));
    } else if (this._panes.length > 1) {
      const [one, other] = this._panes.map(pane => countSteps(pane.trace));
      box.append(
        one === other
          ? translated('Both runs produce the same text.')
          : translated('Both runs produce the same text, A in %1 steps and B in %2.', one, other)
      );
    }
    if (this._model.send && this._requests.includes('prompt')) {
      const what = this._panes[0].trace.source ? translated('Another source') : translated('Another prompt');
      const text = h('input', { type: 'text', 'aria-label': what, placeholder: what });
      const go = h('button', { type: 'submit' }, translated('Decode'));
      const form = h('form', { 'data-lm-suppress-shortcuts': 'true' }, h('label', {}, what, text), go);
      form.onsubmit = event => {
        event.preventDefault();
        this._ask({ do: 'prompt', text: text.value }, text.value);
      };
      box.append(form);
    }
    return box;
  }

  private _draw(): void {
    const now = this._shown;
    const { step } = now;
    this._slider.value = String(step);
    this._slider.setAttribute('aria-valuetext', translated('step %1 of %2', step + 1, this._count));
    this._jump.value = String(step + 1);
    this._of.textContent = translated('of %1', this._count);
    for (const button of [this._first, this._back, this._forward, this._end]) {
      const idle = button === this._first || button === this._back ? step <= 0 : step >= this._last;
      button.setAttribute('aria-disabled', String(idle)); // not `disabled`, which would lose the focus and so the keys
    }
    this._pinner.setAttribute('aria-pressed', String(now.pinned === step));
    this._layers.value = String(now.layer);
    this._heads.value = String(now.head);
    const words = this._panes.map((pane, i) => {
      this._strips[i].forEach(strip => strip.mark({ now: step, pinned: now.pinned, divergence: now.divergence }));
      this._drawBeam(pane, i);
      return (this._panes.length > 1 ? `${'AB'[i]} ` : '') + pane.draw(now);
    });
    const parts = step === this._divergence ? translated(' (the runs diverge here)') : '';
    this._live.textContent = translated('Step %1 of %2: %3', step + 1, this._count, words.join('; ')) + parts;
  }

  private _drawBeam(pane: Pane, place: number): void {
    const live = pane.live(this.step);
    const options = live.map((id, i) =>
      h('option', { value: String(id) }, `${i + 1}: ${visibleToken(pane.trace.nodes[id].token)}`)
    );
    const chosen = live.includes(pane.wanted)
      ? pane.wanted
      : (live.find(id => pane.trace.path.includes(id)) ?? live[0]);
    this._beams[place]?.replaceChildren(...options);
    if (this._beams[place] && chosen !== undefined) {
      this._beams[place].value = String(chosen);
    }
  }

  private readonly _first = this._button('first', translated('First step'), translated('Home'), () => this._go(0));
  private readonly _back = this._button('back', translated('Step back'), translated('Left arrow'), () =>
    this._go(this.step - 1)
  );
  private readonly _player = this._button('play', translated('Play'), 'p', () => this._play());
  private readonly _forward = this._button('forward', translated('Step forward'), translated('Right arrow'), () =>
    this._go(this.step + 1)
  );
  private readonly _end = this._button('last', translated('Last step'), translated('End'), () => this._go(this._last));
  private readonly _pinner = this._button('pin', translated('Pin this step'), 'm', () => this._pin());
  private readonly _slider = h('input', { type: 'range', min: '0', 'aria-label': translated('Step') });
  private readonly _jump = h('input', { type: 'number', min: '1', 'aria-label': translated('Go to step') });
  private readonly _of = h('span', { 'aria-hidden': 'true' });
  private _layers = h('select');
  private _heads = h('select');
  private readonly _panels = h('div', { className: 'tfk-panes' });
  private _strips: Strip[][] = [];
  private _beams: HTMLSelectElement[] = [];
  private readonly _message = h('p', { className: 'tfk-note', role: 'log' });
  private readonly _live = h('div', { className: 'tfk-sr', role: 'status', 'aria-live': 'polite' });
  private readonly _panes: Pane[];
  private readonly _divergence: number;
  private _playing = 0;
  private _drawn = '';
}

/** The name of a run: its strategy, the settings, and how many steps were chosen by hand. */
function nameOf(trace: ITrace): string {
  const forced = trace.offset ? translated('steps chosen by hand: %1', trace.offset) : '';
  return [`${trace.strategy} ${settings(trace)}`.trim(), forced].filter(Boolean).join(', ');
}

/** A strategy's settings, without those that are unset or not plain values. */
function settings(trace: ITrace): string {
  const shown = Object.entries(trace.settings ?? {}).filter(([, value]) => value !== null && typeof value !== 'object');
  return shown.length ? `(${shown.map(([name, value]) => `${name} ${String(value)}`).join(', ')})` : '';
}

/** Draws the model's run in `el`; returns a function that removes it with its listeners. Reports an invalid trace in words. */
export function mount(model: IModel, el: HTMLElement): () => void {
  let view: Stepper | null = null;
  let node: HTMLElement | null = null;
  const build = (): void => {
    view?.dispose();
    node?.remove();
    const given: unknown[] = [model.get('trace'), model.get('other')].filter((trace, i) => i === 0 || trace);
    const traces = given.map(withDraftTokens);
    const wrong = traces.map(problem).find(Boolean);
    view = wrong ? null : new Stepper(model, traces as ITrace[]);
    node =
      view?.root ??
      h('div', { className: 'tfk tfk-error', role: 'alert' }, translated('This trace cannot be shown: %1.', wrong!));
    el.append(node);
  };
  const rebuild = (): void => {
    build();
    const detail = { trace: model.get('trace'), other: model.get('other') ?? null };
    node?.dispatchEvent(new CustomEvent('tfkit:state', { bubbles: true, detail }));
  };
  const change = (): void => view?.draw();
  const showMessage = (): void => view?.showMessage((model.get('message') ?? '') as string);
  const showAnswer = (): void => view?.showAnswer((model.get('message') ?? '') as string);
  const listeners: [string, () => void][] = [
    ['trace', rebuild],
    ['other', rebuild],
    ['message', showMessage],
    ['n_answers', showAnswer],
    ...STATE_KEYS.map((key): [string, () => void] => [key, change])
  ];
  build();
  listeners.forEach(([key, act]) => model.on(`change:${key}`, act));
  const stopThemeUpdates = onTheme(change);
  return () => {
    stopThemeUpdates();
    listeners.forEach(([key, act]) => model.off(`change:${key}`, act));
    view?.dispose();
    node?.remove();
  };
}
