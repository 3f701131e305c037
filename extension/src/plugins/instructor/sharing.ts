/** Distributes the unmarked answers of an assignment among markers, and shows how many each has. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import { titleOf } from './answer';
import type { Ask, IListed } from './protocol';

/** Draws the page into `node`; `done` is called after the answers were shared. */
export function drawSharing(
  node: HTMLElement,
  course: string,
  assignment: string,
  questions: readonly IListed[],
  ask: Ask,
  trans: TranslationBundle,
  done: () => Promise<void>
): void {
  const known = [...new Set(questions.flatMap(({ markers }) => Object.keys(markers)))].sort();
  const names = h('input', { type: 'text', value: known.join(', ') });
  const how = h(
    'select',
    {},
    h('option', { value: 'groups' }, trans.__('groups of similar answers')),
    h('option', { value: 'questions' }, trans.__('whole questions'))
  );
  const status = h('p', { role: 'status' });
  const share = h('button', { type: 'submit', className: 'tfkit-mod-strong' }, trans.__('Share evenly'));
  const form = h(
    'form',
    { className: 'tfkit-Share' },
    h('label', {}, trans.__('Markers, separated by commas'), names),
    h('label', {}, trans.__('Keep together'), how),
    h('p', {}, share),
    status
  );
  form.onsubmit = async event => {
    event.preventDefault();
    try {
      const markers = names.value.split(',');
      await ask('marking/shares', { course, assignment, markers, how: how.value });
      await done();
    } catch (error) {
      status.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const note = trans.__(
    'All unmarked answers are distributed again. Nothing is locked: anyone can mark any answer, and sees to whom it is assigned.'
  );
  const title = h('h1', {}, trans.__('Share'), ' ', h('small', {}, assignment));
  const table = known.length ? [sharesTable(known, questions, trans)] : [];
  node.replaceChildren(title, h('p', { className: 'tfkit-Facts' }, note), form, ...table);
}

function sharesTable(known: readonly string[], questions: readonly IListed[], trans: TranslationBundle): HTMLElement {
  const shared = questions.filter(({ markers }) => Object.keys(markers).length);
  const heads = [trans.__('Marker'), ...shared.map(titleOf), trans.__('To mark')];
  const rows = known.map(name => {
    const cells = shared.map(({ markers }) => {
      const { answers = 0, waiting = 0 } = markers[name] ?? {};
      return h('td', {}, answers ? trans.__('%1 of %2 marked', answers - waiting, answers) : '–');
    });
    const left = shared.reduce((sum, { markers }) => sum + (markers[name]?.waiting ?? 0), 0);
    return h('tr', {}, h('th', { scope: 'row' }, name), ...cells, h('td', {}, String(left)));
  });
  const head = h('tr', {}, ...heads.map(name => h('th', { scope: 'col' }, name)));
  const table = h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows));
  const label = trans.__('Number of answers of each marker');
  return h('div', { className: 'tfkit-Scroll', tabIndex: 0, role: 'group', 'aria-label': label }, table);
}
