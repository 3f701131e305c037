/** A picture for each unit, 240 by 108, drawn from the unit's own formula in the colours of autograder/feedback/tokens.css. */
import { svg } from '../../widgets/dom';

const [WIDTH, HEIGHT] = [240, 108];
const HATCH = 'url(#tfkit-hatch)';
const QUIET = 'var(--tfk-line-strong)';

type Point = readonly [number, number];

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const category = (i: number): string => `var(--tfk-c${i})`;

/** Shares of the scores: positive, and they sum to one. */
export function softmax(scores: readonly number[]): number[] {
  const powers = scores.map(score => Math.exp(score - Math.max(...scores)));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map(power => power / sum);
}

/** Sinusoidal positions: sines in the even rows, cosines in the odd ones, their wavelengths in a geometric series. */
export function sinusoid(position: number, row: number, rows: number): number {
  const angle = position / 60 ** ((row - (row % 2)) / rows);
  return row % 2 ? Math.cos(angle) : Math.sin(angle);
}

/** The schedule of Vaswani et al.: the learning rate rises for `warmup` steps, then falls with the root of the step. */
export function schedule(step: number, warmup: number): number {
  return Math.min(step ** -0.5, step * warmup ** -1.5);
}

/** Numbers between 0 and 1, the same for the same seed (a linear congruential generator). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

export interface IHypothesis {
  readonly step: number;
  readonly parent: IHypothesis | null;
  readonly score: number;
  kept: boolean;
}

/** Beam search over random probabilities: every hypothesis with three children a step, of which `width` are kept. */
export function beam(steps: number, width: number, seed: number): IHypothesis[] {
  const draw = random(seed);
  let alive: IHypothesis[] = [{ step: 0, parent: null, score: 0, kept: true }];
  const all = [...alive];
  for (const step of range(steps).map(i => i + 1)) {
    const children = alive.flatMap(parent =>
      softmax(range(3).map(() => 3 * draw())).map(p => ({
        step,
        parent,
        score: parent.score + Math.log(p),
        kept: false
      }))
    );
    alive = [...children].sort((a, b) => b.score - a.score).slice(0, width);
    alive.forEach(one => (one.kept = true));
    all.push(...children);
  }
  return all;
}

/** A share between 0 and 1 on the sequential scale; a number between −1 and 1 on the diverging one. */
const sequential = (share: number): string =>
  share < 0.5
    ? `color-mix(in oklab, var(--tfk-seq-mid) ${(share * 200).toFixed(0)}%, var(--tfk-seq-lo))`
    : `color-mix(in oklab, var(--tfk-seq-hi) ${(share * 200 - 100).toFixed(0)}%, var(--tfk-seq-mid))`;
const diverging = (value: number): string =>
  `color-mix(in oklab, var(--tfk-${value < 0 ? 'neg' : 'pos'}) ${(Math.abs(value) * 100).toFixed(0)}%, var(--tfk-zero))`;

const box = (
  x: number,
  y: number,
  width: number,
  height: number,
  fill: string,
  more: Record<string, unknown> = {}
): SVGElement =>
  svg('rect', {
    x: x.toFixed(1),
    y: y.toFixed(1),
    width: width.toFixed(1),
    height: height.toFixed(1),
    rx: 1.5,
    fill,
    ...more
  });
const dot = ([x, y]: Point, r: number, fill: string): SVGElement =>
  svg('circle', { cx: x.toFixed(1), cy: y.toFixed(1), r, fill });
const stroke = (d: string, color: string, width: number, more: Record<string, unknown> = {}): SVGElement =>
  svg('path', {
    d,
    fill: 'none',
    stroke: color,
    'stroke-width': width.toFixed(1),
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
    ...more
  });
const line = (points: readonly Point[], color: string, width: number, more: Record<string, unknown> = {}): SVGElement =>
  stroke(`M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`, color, width, more);

/** Squares in rows and columns, in the middle of the picture; null leaves a place empty. */
function grid(
  rows: number,
  columns: number,
  size: number,
  fill: (row: number, column: number) => string | null,
  middle = WIDTH / 2
): SVGElement[] {
  const [left, top] = [middle - (columns * size) / 2, (HEIGHT - rows * size) / 2];
  return range(rows).flatMap(r =>
    range(columns).flatMap(c => {
      const color = fill(r, c);
      return color ? [box(left + c * size, top + r * size, size - 1.2, size - 1.2, color)] : [];
    })
  );
}

/** Seven states in a row, each from the one before, and the last one looking back at all of them. */
function recurrence(): SVGElement[] {
  const at = range(7).map(i => [33 + i * 29, 72] as const);
  const weights = softmax(range(7).map(i => 1.6 * Math.cos(1.9 * i)));
  const back = at.slice(0, -1).map(([x], i) =>
    stroke(`M${at[6][0]} 60Q${(x + at[6][0]) / 2} ${52 - 7 * (6 - i)} ${x} 60`, category(2), 0.8 + 9 * weights[i], {
      opacity: 0.85
    })
  );
  return [line(at, category(1), 2.4), ...back, ...at.map((point, i) => dot(point, 10, sequential(0.3 + 0.1 * i)))];
}

/** Causal weights: each row a softmax over itself and the past, the future hatched. */
function masks(): SVGElement[] {
  const rows = range(9).map(r => softmax(range(r + 1).map(c => -(r - c) / 2.4)));
  return grid(9, 9, 9, (r, c) => (c <= r ? sequential(0.3 + (0.7 * rows[r][c]) / Math.max(...rows[r])) : HATCH));
}

/** Four heads: itself, the word before, the first word, every third. */
function heads(): SVGElement[] {
  const looks = [
    (r: number, c: number) => c === r,
    (r: number, c: number) => c === Math.max(0, r - 1),
    (_: number, c: number) => c === 0,
    (r: number, c: number) => (r + c) % 3 === 0
  ];
  return looks.flatMap((look, head) => {
    const middle = 39 + head * 54;
    const rows = range(6).map(r => softmax(range(r + 1).map(c => (look(r, c) ? 2.5 : 0))));
    const frame = box(middle - 25.5, 28.5, 51, 51, 'var(--tfk-card)', {
      stroke: category(head + 1),
      'stroke-width': 2,
      rx: 4
    });
    return [frame, ...grid(6, 6, 8, (r, c) => (c <= r ? sequential(0.1 + 0.85 * rows[r][c]) : null), middle)];
  });
}

function positions(): SVGElement[] {
  const [rows, columns] = [9, 25];
  return grid(rows, columns, 8.6, (r, c) => diverging(sinusoid(c, r, rows)));
}

/** Three layers between the input's and the output's residual stream; each adds what its two parts compute. */
function transformer(): SVGElement[] {
  const streams = [60, 180].map(x =>
    line(
      [
        [x, 96],
        [x, 12]
      ],
      category(8),
      2.5
    )
  );
  const layers = range(3).flatMap(layer => {
    const y = 80 - layer * 26;
    const ways = [
      line(
        [
          [60, y + 6],
          [78, y]
        ],
        category(1),
        1.6
      ),
      line(
        [
          [108, y],
          [132, y]
        ],
        category(8),
        1.6
      ),
      line(
        [
          [162, y],
          [180, y - 6]
        ],
        category(2),
        1.6
      )
    ];
    return [
      ...ways,
      box(78, y - 8, 30, 16, category(1), { rx: 3 }),
      box(132, y - 8, 30, 16, category(2), { rx: 3 }),
      dot([60, y - 10], 3.5, category(1)),
      dot([180, y - 8], 3.5, category(2))
    ];
  });
  return [...streams, ...layers];
}

/** A loss that falls, and the schedule of the learning rate below it. */
function training(): SVGElement[] {
  const draw = random(4);
  const times = range(80).map(i => i / 79);
  const loss = times.map(
    t => [28 + t * 186, 18 + 62 * (1 - Math.exp(-5 * t)) + 7 * (draw() - 0.5) * (1.3 - t)] as const
  );
  const rate = times.map(t => [28 + t * 186, 92 - 66 * (schedule(t * 16 + 0.02, 3.2) / schedule(3.2, 3.2))] as const);
  return [
    line(
      [
        [24, 94],
        [218, 94]
      ],
      QUIET,
      1.2
    ),
    line(rate, category(2), 2, { 'stroke-dasharray': '5 4' }),
    line(loss, category(1), 2.2)
  ];
}

/** A beam of two: what was dropped is thin, what is alive thick, the best of all in the strong colour. */
function decoding(): SVGElement[] {
  const steps = 4;
  const all = beam(steps, 2, 11);
  const places = new Map<IHypothesis, Point>();
  for (const step of range(steps + 1)) {
    const here = all.filter(one => one.step === step);
    here.forEach((one, i) => places.set(one, [30 + step * 46, 54 + (i - (here.length - 1) / 2) * 15]));
  }
  const ends = all.filter(one => one.step === steps).sort((a, b) => b.score - a.score);
  const best = new Set<IHypothesis>();
  for (let one: IHypothesis | null = ends[0]; one; one = one.parent) {
    best.add(one);
  }
  const color = (one: IHypothesis): string => (best.has(one) ? category(2) : one.kept ? category(1) : QUIET);
  const links = all
    .filter(one => one.parent)
    .map(one => line([places.get(one.parent!)!, places.get(one)!], color(one), best.has(one) ? 3 : one.kept ? 2 : 1));
  return [...links, ...all.map(one => dot(places.get(one)!, one.kept ? 4.5 : 2.5, color(one)))];
}

/** Two blanks, and how every other word helps to fill them from both sides. */
function encoders(): SVGElement[] {
  const place = (i: number): number => 29 + i * 24;
  const arcs = [2, 5].flatMap((blank, k) => {
    const weights = softmax(
      range(8).map(i => (i === blank ? -9 : 1.5 * Math.cos(2.3 * i + k) - 0.2 * Math.abs(i - blank)))
    );
    const others = range(8).filter(i => i !== blank);
    return others.map(i =>
      stroke(
        `M${place(i) + 10} 68Q${(place(i) + place(blank)) / 2 + 10} ${68 - Math.abs(i - blank) * 11} ${place(blank) + 10} 68`,
        category(k ? 4 : 1),
        0.7 + 6 * weights[i],
        { opacity: 0.8 }
      )
    );
  });
  const words = range(8).map(i =>
    [2, 5].includes(i)
      ? box(place(i), 70, 20, 16, HATCH, { stroke: category(2), 'stroke-width': 2, rx: 3 })
      : box(place(i), 70, 20, 16, sequential(0.3 + 0.08 * (i % 4)), { rx: 3 })
  );
  return [...arcs, ...words];
}

/** Four columns of memory in front of the causal triangle. */
function decoders(): SVGElement[] {
  const memory = 4;
  return grid(6, 10, 14, (r, c) =>
    c < memory
      ? `color-mix(in oklab, ${category(4)} 45%, var(--tfk-sunk))`
      : c <= r + memory
        ? sequential(0.2 + 0.8 * Math.exp((c - r - memory) / 2.2))
        : null
  );
}

/** Spans are cut from a text above and asked for below. */
function corruption(): SVGElement[] {
  const spans = [
    [2, 2],
    [6, 3]
  ];
  const place = (i: number): number => 27 + i * 17.2;
  const cut = (i: number): number => spans.findIndex(([start, length]) => i >= start && i < start + length);
  return range(11).flatMap(i => {
    const k = cut(i);
    const top = box(place(i), 20, 14, 14, k < 0 ? sequential(0.35) : HATCH, { rx: 2.5 });
    const to = place(i) + (k ? 14 : 10);
    return k < 0
      ? [top]
      : [
          top,
          stroke(`M${place(i) + 7} 36C${place(i) + 7} 54 ${to + 7} 50 ${to + 7} 68`, category(k + 1), 1.8),
          box(to, 70, 14, 14, category(k + 1), { rx: 2.5 })
        ];
  });
}

/** A sparse mask: two words that see all and are seen by all, a window, and a few at random. */
function sparse(): SVGElement[] {
  const draw = random(2);
  return grid(15, 15, 6, (r, c) => {
    const far = draw() < 0.07;
    return r < 2 || c < 2
      ? category(2)
      : Math.abs(r - c) < 2
        ? sequential(0.75)
        : far
          ? category(4)
          : 'var(--tfk-track)';
  });
}

/** A picture in patches, and a query with its four nearest neighbours. */
function retrieval(): SVGElement[] {
  const draw = random(6);
  const query: Point = [178, 54];
  const found = range(22).map(() => [134 + 84 * draw(), 14 + 80 * draw()] as const);
  const far = ([x, y]: Point): number => Math.hypot(x - query[0], y - query[1]);
  const near = [...found].sort((a, b) => far(a) - far(b)).slice(0, 4);
  const dots = found.map(point => dot(point, 3.2, near.includes(point) ? category(2) : QUIET));
  return [
    ...grid(5, 5, 15, (r, c) => sequential(0.5 + 0.45 * Math.sin(0.9 * r + 0.7 * c)), 70),
    ...near.map(point => line([query, point], category(2), 1.4)),
    ...dots,
    dot(query, 5.5, category(1))
  ];
}

/** Many experts, few at a time: each token goes to the two whose scores are highest. */
function experts(): SVGElement[] {
  const draw = random(13);
  const tokens = range(7).map(i => [36 + 28 * i, 24] as const);
  const at = range(6).map(i => [45 + 30 * i, 84] as const);
  const ways = tokens.flatMap(token => {
    const scores = at.map(() => draw());
    const best = range(6)
      .sort((a, b) => scores[b] - scores[a])
      .slice(0, 2);
    return best.map(i => line([token, at[i]], category(i + 1), 0.8 + 2 * scores[i]));
  });
  return [
    ...ways,
    ...tokens.map(point => dot(point, 5, QUIET)),
    ...at.map(([x, y], i) => box(x - 10, y - 8, 20, 16, category(i + 1)))
  ];
}

/** The table of scores, of which only one block is ever there; and the row of sums that goes from block to block. */
function blocks(): SVGElement[] {
  const [rows, columns, width] = [7, 16, 4];
  const table = grid(rows, columns, 11, (r, c) => {
    const block = Math.floor(c / width);
    return block < 2
      ? 'var(--tfk-track)'
      : block > 2
        ? HATCH
        : sequential(0.25 + 0.7 * Math.abs(Math.sin(1.7 * r + 2.3 * c)));
  });
  const [left, top] = [WIDTH / 2 - (columns * 11) / 2, HEIGHT / 2 + (rows * 11) / 2 + 6];
  const carried = range(3).map(i =>
    stroke(`M${left + (i + 0.5) * width * 11} ${top}q${width * 5.5} 12 ${width * 11} 0`, category(2), 2.2)
  );
  return [
    ...table,
    ...carried,
    ...range(4).map(i => dot([left + (i + 0.5) * width * 11, top], i === 2 ? 5 : 3.5, category(i === 2 ? 2 : 1)))
  ];
}

/** Answers to one question, better and worse than their mean; and the curve that rises while the better become likelier. */
function tuning(): SVGElement[] {
  const draw = random(15);
  const bars = range(8).map(i => {
    const advantage = 2 * draw() - 1;
    const height = 6 + 34 * Math.abs(advantage);
    return box(10 + 13 * i, advantage > 0 ? 54 - height : 54, 9, height, category(advantage > 0 ? 2 : 1), { rx: 1.5 });
  });
  const points = range(12).map(i => [130 + 8 * i, 92 - 76 / (1 + Math.exp(4 - 0.9 * i))] as const);
  return [
    ...bars,
    stroke('M8 54H114', QUIET, 1),
    stroke(`M${points.map(point => point.join(' ')).join('L')}`, category(4), 2.2)
  ];
}

/** What each layer would say, from the first at the bottom to the last at the top: the same words, more and more certain. */
function inside(): SVGElement[] {
  const draw = random(16);
  const scores = range(9).map(() => range(6).map(() => 3 * draw()));
  return grid(6, 9, 14, (r, c) =>
    sequential(softmax(scores[c].map((score, i) => (score + (i === c % 6 ? 2 : 0)) * (1 - r / 6)))[c % 6])
  );
}

/** Bits per byte while a student's model is trained: the entropy of the text, below which no model gets, and bands. */
function capstone(): SVGElement[] {
  const points = range(25).map(i => [10 + 8.5 * i, 20 + 62 * (1 - Math.exp(-i / 5))] as const);
  const bands = [30, 48, 64].map((y, i) => box(10, y, 204, 88 - y, sequential(0.12 + 0.14 * i), { rx: 2 }));
  return [
    ...bands,
    stroke('M10 88H214', QUIET, 1.4, { 'stroke-dasharray': '4 3' }),
    stroke(`M${points.map(point => point.join(' ')).join('L')}`, category(1), 2.2)
  ];
}

/** Which inputs reach which outputs: the past, and one token too many, which a fault lets through. */
function debugging(): SVGElement[] {
  return grid(9, 9, 9, (r, c) => (c <= r ? sequential(0.55) : c === r + 1 ? category(1) : HATCH));
}

/** For a unit of another package: attention weights derived from its name. */
function anyUnit(name: string): SVGElement[] {
  const draw = random([...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7));
  const rows = range(8).map(() => softmax(range(8).map(() => 3 * draw())));
  return grid(8, 8, 10, (r, c) => sequential(0.1 + (0.9 * rows[r][c]) / Math.max(...rows[r])));
}

const MOTIFS = new Map<string, () => SVGElement[]>(
  Object.entries({
    '01-recurrence-to-attention': recurrence,
    '02-masks': masks,
    '03-heads': heads,
    '04-positions': positions,
    '05-transformer': transformer,
    '06-training': training,
    '07-decoding': decoding,
    '08-encoders': encoders,
    '09-decoders': decoders,
    '10-seq2seq-objectives': corruption,
    '11-long-and-efficient': sparse,
    '12-images-retrieval-generation': retrieval,
    '13-from-gpt2-to-today': experts,
    '14-fast': blocks,
    '15-after-pretraining': tuning,
    '16-looking-inside': inside,
    '17-capstone': capstone,
    '18-debugging-transformers': debugging
  })
);

/** The picture of a unit. It adds nothing to the text beside it, and is hidden from screen readers. */
export function motif(name: string): SVGElement {
  const drawn = MOTIFS.get(name)?.() ?? anyUnit(name);
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'tfkit-Motif', 'aria-hidden': 'true', focusable: 'false' },
    ...drawn
  );
}

/** The fill pattern of masked squares; once per page. */
export function hatch(): SVGElement {
  const lines = [
    svg('rect', { width: 6, height: 6, fill: 'var(--tfk-void)' }),
    svg('rect', { width: 1.6, height: 6, fill: 'var(--tfk-hatch)' })
  ];
  const pattern = svg(
    'pattern',
    { id: 'tfkit-hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    ...lines
  );
  return svg(
    'svg',
    { width: 0, height: 0, class: 'tfkit-Hatch', 'aria-hidden': 'true', focusable: 'false' },
    svg('defs', {}, pattern)
  );
}

let alone = 0;

/** The picture of a unit with a hatch of its own, for a page or a file where the home page's is hidden or absent. */
export function motifAlone(name: string): SVGElement {
  const id = `tfkit-hatch-${++alone}`;
  const picture = motif(name);
  picture.querySelectorAll(`[fill="${HATCH}"]`).forEach(hatched => hatched.setAttribute('fill', `url(#${id})`));
  const [defs] = hatch().children;
  defs.firstElementChild!.id = id;
  picture.prepend(defs);
  return picture;
}
