/** Item analysis of an assignment: which check separates strong from weak, and what it earns. Loaded when it is opened. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { decimal } from '../../shared/language';
import { h, tableHead } from '../../widgets/dom';
import { saveFile } from '../../widgets/file';
import { outcomeBar } from './live';
import type { Ask } from './protocol';
import type { IAssignment } from './submissions';
import { reasonOf } from './words';

export interface ICheckItem {
  readonly exercise: string;
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  /** Mean points, and the mean of what it could earn. */
  readonly earned: number;
  readonly of: number;
  readonly discrimination: number | null;
}

interface IAnalysis {
  readonly checks: readonly ICheckItem[];
  /** How many reached full marks at once and later, where students submitted more than once. */
  readonly attempts: readonly {
    readonly exercise: string;
    readonly students: number;
    readonly first: number;
    readonly reached: number;
    readonly median: number | null;
  }[];
}

/** What a discrimination means; below 0.2 an item hardly separates (Ebel 1954). */
export function separates(discrimination: number | null, trans: TranslationBundle): string {
  if (discrimination === null) {
    return trans.__('all alike');
  }
  const words =
    discrimination < 0 ? trans.__('against the rest') : discrimination < 0.2 ? trans.__('hardly') : trans.__('well');
  return `${words} (${decimal(discrimination, 2).replace('-', '−')})`;
}

function checksTable(one: IAssignment, checks: readonly ICheckItem[], trans: TranslationBundle): HTMLElement {
  const rows = checks.map((item, i) => {
    const run = item.passed + item.failed;
    const bar = outcomeBar({ passed: item.passed, stuck: item.failed }, run);
    const isFirst = checks[i - 1]?.exercise !== item.exercise;
    const title = one.titles[item.exercise] ?? item.exercise;
    const weak = item.discrimination !== null && item.discrimination < 0.2;
    const earned = item.of ? trans.__('%1 of %2', decimal(item.earned, 2), decimal(item.of, 2)) : '–';
    const cells = [trans.__('%1 of %2', item.passed, run), earned].map(text => h('td', {}, text));
    const power = h('td', { className: weak ? 'tfkit-mod-weak' : '' }, separates(item.discrimination, trans));
    const head = h('th', { scope: 'row' }, h('span', { className: isFirst ? '' : 'tfkit-Hidden' }, title));
    return h(
      'tr',
      { className: isFirst ? 'tfkit-mod-first' : '' },
      head,
      h('td', {}, item.name),
      h('td', {}, bar),
      ...cells,
      power
    );
  });
  const heads = [
    trans.__('Exercise'),
    trans.__('Check'),
    trans.__('Shares'),
    trans.__('passed'),
    trans.__('Mean points'),
    trans.__('Separates strong from weak')
  ];
  return h('table', {}, tableHead(heads), h('tbody', {}, ...rows));
}

function attemptsList(one: IAssignment, { attempts }: IAnalysis, trans: TranslationBundle): HTMLElement[] {
  const items = attempts.map(({ exercise, students, first, reached, median }) => {
    const counts = trans.__('%1 of %2 at once, %3 later', first, students, reached - first);
    const typical = median === null ? '' : ` · ${trans.__('median: attempt %1', median)}`;
    return h('li', {}, h('b', {}, one.titles[exercise] ?? exercise), ` ${counts}${typical}`);
  });
  return items.length ? [h('h5', {}, trans.__('Attempts until full marks')), h('ul', {}, ...items)] : [];
}

function saveButtons(one: IAssignment, ask: Ask, status: HTMLElement, trans: TranslationBundle): HTMLElement[] {
  const { course, assignment } = one;
  const button = (words: string, kind: 'html' | 'csv', type: string): HTMLElement => {
    const node = h('button', { type: 'button' }, words);
    node.onclick = async () => {
      status.textContent = trans.__('Writing the file…');
      try {
        const files = await ask<Record<'html' | 'csv', string>>('class/analysis', { course, assignment, files: true });
        saveFile(`${assignment}.${kind}`, files[kind], type);
        status.textContent = trans.__('%1 was saved', `${assignment}.${kind}`);
      } catch (error) {
        status.textContent = reasonOf(error);
      }
    };
    return node;
  };
  return [
    button(trans.__('Save the report as a page'), 'html', 'text/html'),
    button(trans.__('Save the table as CSV'), 'csv', 'text/csv')
  ];
}

/** The folded part of an assignment. */
export function analysisPart(one: IAssignment, ask: Ask, trans: TranslationBundle, language: string): HTMLElement {
  const status = h('p', { role: 'status' });
  const body = h('div', {});
  const bar = h('p', { className: 'tfkit-Actions' }, ...saveButtons(one, ask, status, trans));
  const note = trans.__(
    'A check that everybody passes, or that strong students fail as often as weak ones, tells little: look at it again.'
  );
  const summary = h('summary', {}, trans.__('Item analysis'));
  const part = h('details', { className: 'tfkit-Analysis' }, summary, h('p', {}, note), body, bar, status);
  part.ontoggle = async () => {
    if (!part.open || body.hasChildNodes()) {
      return;
    }
    status.textContent = trans.__('Reading the answers…');
    try {
      const found = await ask<IAnalysis>(`class/analysis?language=${encodeURIComponent(language)}`, {
        course: one.course,
        assignment: one.assignment
      });
      const scrolls = h('div', { className: 'tfkit-Class-table', tabIndex: 0, role: 'group' });
      scrolls.setAttribute('aria-label', trans.__('Item analysis'));
      scrolls.append(checksTable(one, found.checks, trans));
      const none = h('p', {}, trans.__('These submissions were graded by a version that kept no checks.'));
      body.replaceChildren(found.checks.length ? scrolls : none, ...attemptsList(one, found, trans));
      status.textContent = '';
    } catch (error) {
      status.textContent = reasonOf(error);
    }
  };
  return part;
}
