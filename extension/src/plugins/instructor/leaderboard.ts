/** The capstone's leaderboard: who asked to be on it, fewest bits first, and how many others were measured. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';

export interface IRow {
  /** What the student chose to be called; empty where they chose nothing. */
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

/** The places: those with as many bits, to the three digits that are shown, share one. */
export function ranks(rows: readonly IRow[]): number[] {
  const shown = rows.map(({ excess }) => excess.toFixed(3));
  return shown.map(bits => shown.indexOf(bits) + 1);
}

function board({ assignment, rows, others }: ILeaderboard, trans: TranslationBundle): HTMLElement {
  const title = trans.__('Leaderboard: %1', assignment);
  const names = [trans.__('Place'), trans.__('Called'), trans.__('Bits a byte'), trans.__('Above the text’s own')];
  const order = ranks(rows);
  const lines = rows.map(({ called, bits, excess }, i) =>
    h(
      'tr',
      {},
      h('td', {}, String(order[i])),
      h('th', { scope: 'row' }, called || trans.__('somebody')),
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
    { className: 'tfkit-Leaderboard', 'aria-label': title },
    h('h3', {}, title),
    rows.length ? part : nobody,
    ...(others ? [rest] : [])
  );
}

/** A section for each capstone that was measured. */
export const leaderboards = (found: readonly ILeaderboard[], trans: TranslationBundle): HTMLElement[] =>
  found.map(one => board(one, trans));
