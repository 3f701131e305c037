/** A real model that speaks through the student's own functions, at the end of a unit, in the notebook's kernel: course/real_model.py. */
import type { ISanitizer } from '@jupyterlab/apputils';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';

const UNITS = ['01-recurrence-to-attention', '02-masks', '03-heads', '07-decoding', '13-from-gpt2-to-today']; // those of `WAYS` in course/real_model.py

type Asked = Pick<Kernel.IKernelConnection, 'requestExecute'>;

/** Whether a unit's functions have a place in the model. */
export const speaks = (unit: string): boolean => UNITS.includes(unit);

/** What the model writes, as HTML that is not to be trusted. Rejects with the last line of the kernel's error. */
export async function speech(kernel: Asked, unit: string, language: string): Promise<string> {
  const named = [unit, language].map(one => JSON.stringify(one)).join(', ');
  const code = `from course.real_model import show as _tfkit_show\n_tfkit_show(${named})`;
  const asked = kernel.requestExecute({ code, store_history: false, stop_on_error: false });
  let html = '';
  asked.onIOPub = ({ header, content }: KernelMessage.IIOPubMessage): void => {
    if (header.msg_type === 'display_data') {
      const { data } = content as KernelMessage.IDisplayDataMsg['content'];
      html += (data['text/html'] ?? '') as string;
    }
  };
  const reply = await asked.done;
  const told = reply?.content as { status: string; evalue?: string } | undefined;
  if (told?.status !== 'ok') {
    throw new Error(told?.evalue ?? '');
  }
  return html;
}

/** The button, and below it what the model wrote. */
export function speechPart(say: () => Promise<string>, sanitizer: ISanitizer, trans: TranslationBundle): HTMLElement {
  const status = h('span', { role: 'status' });
  const written = h('div', { className: 'tfkit-End-written' });
  const button = h('button', { type: 'button' }, trans.__('Let SmolLM2 speak through your code'));
  button.onclick = async () => {
    if (button.getAttribute('aria-disabled') === 'true') {
      return;
    }
    button.setAttribute('aria-disabled', 'true'); // it keeps the focus
    status.textContent = trans.__('It reads and writes: this takes some seconds …');
    try {
      written.innerHTML = sanitizer.sanitize(await say());
      status.textContent = '';
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      status.textContent = message || trans.__('The kernel gave no answer: restart it, and try again.');
    } finally {
      button.removeAttribute('aria-disabled');
    }
  };
  const about = trans.__(
    'A real model of 135 million parameters, with your functions in place of the library’s, and then with a mistake in one of them.'
  );
  return h('section', { className: 'tfkit-End-speech' }, h('p', {}, about), button, status, written);
}
