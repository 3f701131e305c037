/** Extensions of an assignment's due date: a row for each student who handed something in. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import type { Ask, IExtension, IExtensions } from './protocol';

/** Draws the table into `node`, and again after each change. */
export async function drawExtensions(
  node: HTMLElement,
  course: string,
  assignment: string,
  ask: Ask,
  trans: TranslationBundle
): Promise<void> {
  const status = h('p', { role: 'status' });
  const send = async (change: object = {}): Promise<void> => {
    try {
      const body = { course, assignment, ...change };
      show((await ask<IExtensions>('marking/extensions', body)).students);
    } catch (error) {
      status.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const row = ({ student, hours }: IExtension): HTMLElement => {
    const input = h('input', { type: 'number', min: '0', step: '1', value: String(hours) });
    input.setAttribute('aria-label', trans.__('Hours for %1', student));
    const give = h('button', { type: 'button' }, trans.__('Give'));
    give.onclick = () => void send({ student, hours: Number(input.value) });
    const cells = [h('td', {}, input), h('td', {}, give)];
    return h('tr', { className: hours ? 'tfkit-mod-extended' : '' }, h('th', { scope: 'row' }, student), ...cells);
  };
  const show = (students: readonly IExtension[]): void => {
    const heads = [trans.__('Student'), trans.__('Hours after the due date'), ''];
    const head = h('tr', {}, ...heads.map(name => (name ? h('th', { scope: 'col' }, name) : h('td', {}))));
    const table = h('table', {}, h('thead', {}, head), h('tbody', {}, ...students.map(row)));
    const none = h('p', {}, trans.__('Nobody has handed this in.'));
    const note = trans.__(
      'Stored in the gradebook: these hours are added to the due date before the late penalty is computed. An extension in nbgrader_config.py takes precedence.'
    );
    const title = h('h1', {}, trans.__('Extensions'), ' ', h('small', {}, assignment));
    status.textContent = '';
    node.replaceChildren(title, h('p', { className: 'tfkit-Facts' }, note), students.length ? table : none, status);
  };
  node.replaceChildren(status);
  await send();
}
