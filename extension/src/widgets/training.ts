/** Curves of a run. Every column of pixels shows the minimum and maximum of its steps, so that no spike is averaged away. */
import { ITraining } from '../generated/training';
import { validate } from '../generated/training.valid';
import { h, svg, tableHead } from './dom';
import { IRenderProps } from './model';
import { ICanvas, picture } from './picture';
import { translated } from './words';

export type ISeries = ITraining['series'][number];

const WIDTH = 560; // of the curve, at most
const MIN_WIDTH = 200;
const HEIGHT = 130; // of the curve, with some room above and below
const LEFT = 62; // for the numbers beside it
const BELOW = 18; // for the steps under it
const RIGHT = 12;

/** For each column the minimum and maximum of its values; null if it has none. */
export function columns(
  { steps, values }: ISeries,
  first: number,
  last: number,
  count = WIDTH
): ([number, number] | null)[] {
  const found = new Array<[number, number] | null>(count).fill(null);
  values.forEach((value, i) => {
    if (value !== null) {
      const x = Math.min(count - 1, Math.floor(((steps[i] - first) / (last - first || 1)) * (count - 1)));
      const known = found[x];
      found[x] = known ? [Math.min(known[0], value), Math.max(known[1], value)] : [value, value];
    }
  });
  return found;
}

/** The value at a step, or the last before it. */
export function valueAt({ steps, values }: ISeries, step: number): number | null {
  const after = steps.findIndex(s => s > step);
  return values[(after < 0 ? steps.length : after) - 1] ?? null;
}

const words = (value: number | null): string =>
  value === null
    ? '–'
    : Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-3)
      ? value.toExponential(2)
      : value.toPrecision(4);

function path(found: ([number, number] | null)[], y: (value: number) => number): string {
  let pen = 'M';
  return found
    .map((pair, x) => {
      if (!pair) {
        return '';
      }
      const [from, to] = [y(pair[0]), y(pair[1])];
      const part = `${pen}${LEFT + x} ${from.toFixed(1)}V${to.toFixed(1)}`;
      pen = 'L';
      return part;
    })
    .join('');
}

function chart(series: ISeries, [first, last]: [number, number], at: number, wide: number): HTMLElement {
  const known = series.values.filter((v): v is number => v !== null);
  const [low, high] = [
    known.reduce((a, b) => Math.min(a, b), Infinity),
    known.reduce((a, b) => Math.max(a, b), -Infinity)
  ];
  const y = (value: number): number => HEIGHT - 6 - ((value - low) / (high - low || 1)) * (HEIGHT - 12);
  const x = LEFT + ((at - first) / (last - first || 1)) * (wide - 1);
  const summary = [low, high, known[known.length - 1]].map(words);
  const label = translated(
    '%1 from step %2 to %3: between %4 and %5, at the end %6',
    series.name,
    first,
    last,
    ...summary
  );
  const root = svg('svg', {
    width: LEFT + wide + RIGHT,
    height: HEIGHT + BELOW,
    class: 'tfk-curve',
    role: 'img',
    'aria-label': label
  });
  for (const value of new Set([high, (low + high) / 2, low])) {
    root.append(
      svg('line', { x1: LEFT, x2: LEFT + wide, y1: y(value), y2: y(value), class: 'tfk-level' }),
      svg('text', { x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end' }, words(value))
    );
  }
  for (const [step, anchor] of [
    [first, 'start'],
    [last, 'end']
  ] as const) {
    const end = { x: step === first ? LEFT : LEFT + wide, y: HEIGHT + BELOW - 4, 'text-anchor': anchor };
    root.append(svg('text', end, translated('step %1', step)));
  }
  root.append(
    svg('line', { x1: x, x2: x, y1: 0, y2: HEIGHT, class: 'tfk-here' }),
    svg('path', { d: path(columns(series, first, last, wide), y) })
  );
  const here = valueAt(series, at);
  if (here !== null) {
    root.append(svg('circle', { cx: x, cy: y(here), r: 3.5 }));
  }
  const scroll = h('div', { className: 'tfk-scroll', tabIndex: 0, role: 'group', 'aria-label': series.name }, root);
  return h('section', {}, h('h4', {}, series.name), scroll);
}

function build({ trace, root, place, announce }: ICanvas<ITraining>): () => void {
  const every = trace.series.flatMap(s => [s.steps[0], s.steps[s.steps.length - 1]]);
  const [first, last] = [Math.min(...every), Math.max(...every)];
  const slider = h('input', { type: 'range', min: String(first), max: String(last), 'aria-label': translated('Step') });
  slider.oninput = () => place.set({ step: Number(slider.value) });
  const now = h('output');
  const charts = h('div');
  const body = h('tbody');
  const table = h(
    'table',
    { 'aria-label': translated('Values at this step') },
    tableHead([translated('curve'), translated('at this step'), translated('least'), translated('most')]),
    body
  );
  root.append(h('div', { className: 'tfk-bar' }, h('label', {}, translated('Step'), slider, now)), charts, table);
  return () => {
    const step = Math.max(first, place.at('step', last));
    slider.value = String(step);
    now.textContent = translated('%1 of %2', step, last);
    const wide = root.clientWidth ? Math.max(MIN_WIDTH, Math.min(WIDTH, root.clientWidth - LEFT - RIGHT - 40)) : WIDTH;
    charts.replaceChildren(...trace.series.map(s => chart(s, [first, last], step, wide)));
    const rows = trace.series.map(s => [s.name, words(valueAt(s, step)), ...extremes(s)]);
    body.replaceChildren(
      ...rows.map(([name, ...cells]) => h('tr', {}, h('th', { scope: 'row' }, name), ...cells.map(c => h('td', {}, c))))
    );
    announce(translated('Step %1: %2', step, rows.map(([name, value]) => `${name} ${value}`).join(', ')));
  };
}

function extremes({ steps, values }: ISeries): string[] {
  let [least, most] = [-1, -1];
  values.forEach((v, i) => {
    least = v !== null && (least < 0 || v < (values[least] as number)) ? i : least;
    most = v !== null && (most < 0 || v > (values[most] as number)) ? i : most;
  });
  return [least, most].map(i => (i < 0 ? '–' : translated('%1 (step %2)', words(values[i]), steps[i])));
}

export const mount = picture<ITraining>(
  () => translated('Training'),
  validate,
  build,
  ({ series }) => {
    const odd = series.find(s => s.steps.length !== s.values.length);
    return odd ? `${odd.name} has ${odd.values.length} values for ${odd.steps.length} steps` : null;
  }
);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
