/** What a verdict shows beside its words: the smallest case that fails, and who sees whom. */
import { h } from '../../widgets/dom';

const WIDEST = 8;
const shown = (x: unknown): string => (typeof x === 'number' ? String(Number(x.toPrecision(4))) : String(x));
const isVector = (x: unknown): x is unknown[] => Array.isArray(x) && x.length > 0 && !x.some(Array.isArray);

/** A table: a row for each thing that is told of the case, a small matrix where it is one. */
export function drawExample(example: Record<string, unknown>, title: string): HTMLElement {
  const told = Object.entries(example).filter(([, value]) => value !== null);
  const rows = told.map(([name, value]) =>
    h('tr', {}, h('th', { scope: 'row' }, name.replace(/_/g, ' ')), h('td', {}, ...drawValue(value)))
  );
  return h('details', { open: true }, h('summary', {}, title), h('table', { className: 'tfkit-Example' }, h('tbody', {}, ...rows)));
}

function drawValue(value: unknown): (Node | string)[] {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    return Object.entries(value).map(([name, part]) => h('div', {}, `${name} = `, ...drawValue(part)));
  }
  if (isVector(value)) {
    return [drawGrid([value])];
  }
  if (Array.isArray(value) && value.length && value.every(isVector)) {
    return [drawGrid(value)];
  }
  return Array.isArray(value) ? value.flatMap(drawValue) : [h('code', {}, shown(value))];
}

function drawGrid(rows: unknown[][]): HTMLElement {
  const cells = (row: unknown[]) => [...row.slice(0, WIDEST).map(shown), ...(row.length > WIDEST ? ['…'] : [])];
  const lines = rows.slice(0, WIDEST).map(row => h('tr', {}, ...cells(row).map(text => h('td', {}, text))));
  const more = rows.length > WIDEST ? [h('tr', {}, h('td', {}, '…'))] : [];
  return h('table', { className: 'tfkit-Matrix' }, h('tbody', {}, ...lines, ...more));
}

/** Rows: outputs, columns: inputs; the signs say the same as their colours. */
export function drawMap(rows: string[], key: string): HTMLElement {
  const lines = rows.map(row => h('tr', {}, ...[...row].map(sign => h('td', { 'data-sign': sign }, sign))));
  return h('div', {}, h('table', { className: 'tfkit-Flow', 'aria-label': key }, h('tbody', {}, ...lines)), h('small', {}, key));
}
