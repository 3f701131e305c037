/** The table of the student's own model on the home page: what it could do after each unit, and what comes next. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { decimal, writtenIn } from '../../shared/language';
import type { IModelLine, IOwnModel, IUnit } from '../../shared/tokens';
import { h, svg, tableHead } from '../../widgets/dom';
import { isFinished, splitTitle } from './journey';

type Go = (to: { path: string; cell?: string }) => void;

const BAR = { width: 72, height: 10 };

const numberOf = (unit: IUnit): number => parseInt(unit.name, 10);

/** A unit's number as its folder has it. */
const twoDigits = (unit: number): string => String(unit).padStart(2, '0');

/** The unit to put in next: the first behind the last line that puts something in, or else the first that was left out. */
export function nextUnit(lines: readonly IModelLine[], units: readonly IUnit[]): IUnit | null {
  const there = new Set(lines.map(({ unit }) => unit));
  const open = units.filter(unit => unit.model_cell && !there.has(numberOf(unit)));
  return open.find(unit => numberOf(unit) > Math.max(...there)) ?? open[0] ?? null;
}

/** A bar for a number of a column; decoration, as the number stands beside it. */
function bar(value: number, most: number, kind: string): SVGElement {
  const box = { ...BAR, viewBox: `0 0 ${BAR.width} ${BAR.height}`, 'aria-hidden': 'true', focusable: 'false' };
  const whole = svg('rect', { ...BAR, rx: 2, class: 'tfkit-Bar-track' });
  const part = svg('rect', {
    ...BAR,
    width: Math.max(2, (BAR.width * value) / most),
    rx: 2,
    class: `tfkit-Bar-${kind}`
  });
  return svg('svg', box, whole, part);
}

function table(lines: readonly IModelLine[], units: readonly IUnit[], trans: TranslationBundle): HTMLElement {
  const titles = new Map(units.map(unit => [numberOf(unit), splitTitle(unit.title)[1]]));
  const [bits, speed] = [lines.map(one => one.bits_per_byte), lines.map(one => one.bytes_per_second)];
  const sameSteps = new Set(lines.map(({ steps }) => steps)).size === 1;
  const measured = (text: string, value: number, all: number[], kind: string): HTMLElement =>
    h('td', {}, h('span', { className: 'tfkit-Measure' }, h('span', {}, text), bar(value, Math.max(...all), kind)));
  const rows = lines.map(line =>
    h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row' },
        h('span', { className: 'tfkit-Number' }, twoDigits(line.unit)),
        ` ${titles.get(line.unit) ?? ''}`
      ),
      measured(decimal(line.bits_per_byte, 2), line.bits_per_byte, bits, 'bits'),
      measured(Math.round(line.bytes_per_second).toLocaleString(writtenIn()), line.bytes_per_second, speed, 'speed'),
      h('td', {}, trans.__('%1 of %2', line.own, line.of)),
      ...(sameSteps ? [] : [h('td', {}, line.steps.toLocaleString(writtenIn()))])
    )
  );
  const names = [
    trans.__('With unit'),
    trans.__('Bits per byte'),
    trans.__('Bytes a second'),
    trans.__('Your own parts'),
    ...(sameSteps ? [] : [trans.__('Steps')])
  ];
  const whole = h('table', {}, tableHead(names), h('tbody', {}, ...rows));
  const label = trans.__('Your model after each unit');
  return h('div', { className: 'tfkit-Model-table', tabIndex: 0, role: 'group', 'aria-label': label }, whole);
}

/** What the newest line says, and the words that the model wrote. */
function summary(lines: readonly IModelLine[], trans: TranslationBundle): HTMLElement[] {
  const [first, last] = [lines[0], lines[lines.length - 1]];
  const less = first.bits_per_byte - last.bits_per_byte;
  const said = [
    trans.__('%1 bits per byte on text that it has not seen', decimal(last.bits_per_byte, 2)),
    ...(less >= 0.005 ? [trans.__('%1 fewer than with unit %2', decimal(less, 2), twoDigits(first.unit))] : [])
  ];
  const writer = [...lines].reverse().find(({ writes }) => writes.trim());
  const words = writer
    ? [h('p', { className: 'tfkit-Writes' }, trans.__('It writes:'), ' ', h('q', {}, writer.writes))]
    : [];
  return [h('p', {}, said.join(', ')), ...words];
}

function next(unit: IUnit, trans: TranslationBundle, go: Go): HTMLElement {
  const ready = isFinished(unit);
  const name = splitTitle(unit.title)[1];
  const words = ready ? trans.__('Put in: %1', name) : trans.__('Next part: %1', name);
  const button = h(
    'button',
    { type: 'button', className: 'tfkit-Model-next' },
    words,
    h('span', { 'aria-hidden': 'true' }, ' →')
  );
  button.dataset.key = 'model';
  button.onclick = () => go(ready ? { path: unit.path, cell: unit.model_cell! } : { path: unit.path });
  return button;
}

/** The section; nothing where no unit of the course puts anything into a model. all: the units that are known; units: those to go through. */
export function ownModel(
  model: IOwnModel | null | undefined,
  all: readonly IUnit[],
  units: readonly IUnit[],
  trans: TranslationBundle,
  go: Go
): HTMLElement[] {
  if (!model || (!model.lines.length && !units.some(unit => unit.model_cell))) {
    return [];
  }
  const { lines, damaged } = model;
  const empty = damaged
    ? trans.__('The table my_model/table.jsonl cannot be read. Delete it, and put the parts in again.')
    : trans.__(
        'A small language model grows out of the parts that you build. Its first line comes at the end of the first unit.'
      );
  const following = nextUnit(lines, units);
  const label = trans.__('Your model');
  const words = h(
    'div',
    {},
    h('h2', {}, label),
    ...(lines.length ? summary(lines, trans) : [h('p', damaged ? { role: 'alert' } : {}, empty)]),
    ...(following ? [next(following, trans, go)] : [h('p', {}, trans.__('Every unit has been put in.'))])
  );
  const className = `tfkit-Model${lines.length ? '' : ' tfkit-mod-empty'}`;
  return [h('section', { className, 'aria-label': label }, words, ...(lines.length ? [table(lines, all, trans)] : []))];
}
