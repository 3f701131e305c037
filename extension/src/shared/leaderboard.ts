/** The capstone's leaderboard: the students who asked to be listed, fewest bits first, and the number of others. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../widgets/dom';

export interface IRow {
  /** The name that the student chose; empty if none. */
  readonly called: string;
  readonly bits: number;
  readonly floor: number;
  readonly excess: number;
  readonly seconds: number | null;
}

export interface ILeaderboard {
  readonly course: string;
  readonly assignment: string;
  readonly rows: readonly IRow[];
  readonly others: number;
}

/** The ranks: students whose bits agree in the three digits shown share one. */
export function ranks(rows: readonly IRow[]): number[] {
  const shown = rows.map(({ excess }) => excess.toFixed(3));
  return shown.map(bits => shown.indexOf(bits) + 1);
}

function board({ assignment, rows, others }: ILeaderboard, trans: TranslationBundle): HTMLElement {
  const title = trans.__('Leaderboard: %1', assignment);
  const names = [
    trans.__('Place'),
    trans.__('Name'),
    trans.__('Bits per byte'),
    trans.__('Above the entropy of the text')
  ];
  const order = ranks(rows);
  const lines = rows.map(({ called, bits, excess }, i) =>
    h(
      'tr',
      {},
      h('td', {}, String(order[i])),
      h('th', { scope: 'row' }, called || trans.__('anonymous')),
      h('td', {}, bits.toFixed(3)),
      h('td', {}, excess.toFixed(3))
    )
  );
  const head = h('tr', {}, ...names.map(name => h('th', { scope: 'col' }, name)));
  const table = h('table', {}, h('thead', {}, head), h('tbody', {}, ...lines));
  const part = h('div', { className: 'tfkit-Class-table', tabIndex: 0, role: 'group', 'aria-label': title }, table);
  const nobody = h('p', {}, trans.__('Nobody has asked to be listed.'));
  const rest = h('p', {}, trans._n('%1 other is not listed', '%1 others are not listed', others));
  return h(
    'section',
    { className: 'tfkit-Leaderboard tfkit-Pane', 'aria-label': title },
    h('h3', {}, title),
    rows.length ? part : nobody,
    ...(others ? [rest] : [])
  );
}

/** A section for each capstone that was measured. */
export const leaderboards = (found: readonly ILeaderboard[], trans: TranslationBundle): HTMLElement[] =>
  found.map(one => board(one, trans));
