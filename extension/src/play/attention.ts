/** Which tokens a head looks at: lines from the chosen token, and a small map of each head to choose among them. */
import { h, svg } from '../widgets/dom';
import { translated } from '../widgets/words';
import { chooseQuery, Decode, IPart, IShown, percent, queryPosition, quoted, READS, roving, word } from './shown';
import { IConfig } from './transformer';

/** A head's weights as a map, row for row. */
function paint(canvas: HTMLCanvasElement, shown: IShown, layer: number, head: number): void {
  const [n, context] = [shown.tokens.length, canvas.getContext('2d')];
  canvas.width = canvas.height = n;
  if (!context) {
    return;
  }
  context.fillStyle = getComputedStyle(canvas).color;
  shown.positions.forEach(({ weights }, row) =>
    weights[layer][head].forEach((weight, column) => {
      context.globalAlpha = Math.sqrt(weight);
      context.fillRect(column, row, 1, 1);
    })
  );
}

/** Lines over the words from the query at `from` to those it looks at. */
function lines(box: HTMLElement, buttons: HTMLElement[], weights: number[], from: number): SVGElement[] {
  const frame = box.getBoundingClientRect();
  const top = (node: HTMLElement): [number, number] => {
    const { left, top, width } = node.getBoundingClientRect();
    return [left + width / 2 - frame.left, top - frame.top];
  };
  const [x, y] = top(buttons[from]);
  return weights.map((weight, at) => {
    const [to, height] = top(buttons[at]);
    const bow = Math.min(y, height) - Math.min(38, 10 + Math.abs(x - to) / 8);
    const path =
      at === from
        ? `M${x - 7} ${y}C${x - 14} ${y - 22} ${x + 14} ${y - 22} ${x + 7} ${y}`
        : `M${x} ${y}C${x} ${bow} ${to} ${bow} ${to} ${height}`;
    return svg('path', {
      d: path,
      'stroke-width': (0.5 + 6 * weight).toFixed(2),
      'stroke-opacity': Math.sqrt(weight).toFixed(3)
    });
  });
}

/** The tokens as buttons, each shaded by its weight, and the lines over them. */
function sentenceRow(shown: IShown, redraw: () => void): { node: HTMLElement; draw(weights: number[]): void } {
  const drawing = svg('svg', { class: 'play-lines', 'aria-hidden': 'true' });
  const row = h('ol', {
    className: 'play-tokens',
    'aria-label': translated('Tokens: choose one to see what it looks at')
  });
  const node = h('div', { className: 'play-sentence' }, drawing, row);
  row.addEventListener('keydown', event => roving(event, [...row.querySelectorAll('button')]));
  const token = (spelled: string, at: number, weight: number | undefined): HTMLElement => {
    const here = at === queryPosition(shown);
    const name = at === 0 ? translated('start of the text') : word(spelled);
    const seen = weight === undefined ? translated('comes later') : percent(weight);
    const button = h(
      'button',
      { type: 'button', 'aria-pressed': here, tabIndex: here ? 0 : -1, 'aria-label': `${name}: ${seen}`, title: seen },
      h('span', { lang: READS }, at === 0 ? '▸' : word(spelled))
    );
    button.style.setProperty('--weight', `${Math.round(100 * Math.sqrt(weight ?? 0))}%`);
    button.onclick = button.onpointerenter = (): void => chooseQuery(shown, at, redraw);
    return h('li', weight === undefined ? { className: 'play-later' } : {}, button);
  };
  const draw = (weights: number[]): void => {
    const from = queryPosition(shown);
    const held = row.contains(document.activeElement);
    row.replaceChildren(...shown.tokens.map((one, at) => token(one, at, weights[at])));
    const buttons = [...row.querySelectorAll('button')];
    if (held) {
      buttons[from].focus();
    }
    drawing.replaceChildren(...lines(node, buttons, weights, from));
  };
  return { node, draw };
}

/** A small map of each head, in a row for each layer; choosing one calls `choose`. */
function headMaps(shown: IShown, { layers, heads }: IConfig, choose: (layer: number, head: number) => void): IPart {
  const maps = Array.from({ length: layers * heads }, (_, at) => {
    const [layer, head] = [Math.floor(at / heads), at % heads];
    const canvas = h('canvas', { 'aria-hidden': 'true' });
    const button = h(
      'button',
      { type: 'button', 'aria-label': translated('layer %1, head %2', layer + 1, head + 1) },
      canvas
    );
    button.onclick = (): void => choose(layer, head);
    return { button, canvas, layer, head };
  });
  const buttons = maps.map(({ button }) => button);
  const node = h('div', {
    className: 'play-heads',
    role: 'group',
    'aria-label': translated('Heads: a row for each layer')
  });
  for (let layer = 0; layer < layers; layer++) {
    const name = h('span', { 'aria-hidden': 'true' }, translated('layer %1', layer + 1));
    node.append(name, ...buttons.slice(layer * heads, (layer + 1) * heads));
  }
  node.addEventListener('keydown', event => roving(event, buttons, heads));
  const draw = (): void =>
    maps.forEach(({ button, canvas, layer, head }) => {
      const here = layer === shown.layer && head === shown.head;
      button.setAttribute('aria-pressed', String(here));
      button.tabIndex = here ? 0 : -1;
      paint(canvas, shown, layer, head);
    });
  return { node, draw };
}

export function attentionPart(shown: IShown, config: IConfig, decode: Decode, redraw: () => void): IPart {
  let chosenByHand = false;
  const row = sentenceRow(shown, redraw);
  const maps = headMaps(shown, config, (layer, head) => {
    [shown.layer, shown.head, chosenByHand] = [layer, head, true];
    redraw();
  });
  const about = h('p', { className: 'play-note' });
  const draw = (): void => {
    if (!chosenByHand) {
      const [best] = shown.positions[shown.positions.length - 1].lens[config.layers];
      [shown.layer, shown.head] = headToShow(shown, decode(best.token));
    }
    const weights = shown.positions[queryPosition(shown)].weights[shown.layer][shown.head];
    row.draw(weights);
    about.textContent = sentence(shown, weights);
    maps.draw();
  };
  new ResizeObserver(() => shown.tokens.length && draw()).observe(row.node);
  const lead = translated(
    'Point at a word: the lines go to the words it looks at. Each small map is a head; choose one.'
  );
  const node = h(
    'section',
    { className: 'play-attention' },
    h('h3', {}, translated('Attention')),
    h('p', { className: 'play-lead' }, lead),
    h('div', { className: 'play-two' }, h('div', {}, row.node, about), maps.node)
  );
  return { node, draw };
}

/** What the lines say, in words. */
function sentence(shown: IShown, weights: number[]): string {
  const best = weights.map((weight, at) => ({ weight, at })).sort((a, b) => b.weight - a.weight);
  const names = best.slice(0, 3).filter(({ weight }) => weight >= 0.05);
  const list = names.map(({ weight, at }) => `${quoted(shown, at)} ${percent(weight)}`);
  const query = quoted(shown, queryPosition(shown));
  return translated('Layer %1, head %2: %3 looks at %4.', shown.layer + 1, shown.head + 1, query, list.join(', '));
}

/**
 * The head to begin with. If the word that is likely next stands in the text, it is the one whose last token looks most at it: it
 * may have fetched it. Else it is the one that looks most at any word. Many heads look at the start, at the first word or at the
 * neighbour whatever the text is: there the first two do not count, and the neighbour by half.
 */
export function headToShow(
  { positions, tokens }: Pick<IShown, 'positions' | 'tokens'>,
  next: string
): [number, number] {
  const last = positions.length - 1;
  const counts = tokens.map((token, at) => (at > 0 && token.trim() === next.trim() ? 1 : 0));
  const weighed = counts.some(one => one)
    ? counts
    : tokens.map((_, at) => (at < 2 || at === last ? 0 : at === last - 1 ? 0.5 : 1));
  let [best, found]: [number, [number, number]] = [-1, [0, 0]];
  positions[last].weights.forEach((heads, layer) =>
    heads.forEach((weights, head) => {
      const most = Math.max(...weights.map((weight, at) => weight * weighed[at]));
      if (most > best) {
        [best, found] = [most, [layer, head]];
      }
    })
  );
  return found;
}
