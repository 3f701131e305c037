/** A misconception for all to see: the sentence and the lines of an answer that has it, large, without a name. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import type { IMistake } from './words';

/** The lines without the indentation that all of them share. */
export function dedented(lines: readonly string[]): string {
  const least = Math.min(...lines.map(line => line.length - line.trimStart().length));
  return lines.map(line => line.slice(least)).join('\n');
}

/** Opens a window over the page, which Escape or its button closes; the focus then returns to where it was. */
export function project(mistake: IMistake, exercise: string, trans: TranslationBundle, within: HTMLElement): void {
  const close = h('button', { type: 'button', className: 'tfkit-mod-strong' }, trans.__('Close'));
  const title = h('h2', { id: 'tfkit-project-title' }, mistake.sentence);
  const example = mistake.example.length
    ? [
        h('p', {}, trans.__('An answer that does this. It is the course’s own, not a student’s:')),
        h('pre', { tabIndex: 0 }, dedented(mistake.example))
      ]
    : [];
  const dialog = h('dialog', { className: 'tfkit-Project', 'aria-labelledby': 'tfkit-project-title' });
  dialog.append(h('p', { className: 'tfkit-Eyebrow' }, exercise), title, ...example, h('p', {}, close));
  close.onclick = () => dialog.close();
  dialog.onclose = () => dialog.remove();
  dialog.onkeydown = event => event.stopPropagation(); // Escape is the dialog's, not the lab's
  within.append(dialog);
  dialog.showModal();
  close.focus();
}
