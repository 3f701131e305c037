import { nullTranslator } from '@jupyterlab/translation';
import { expect, it, vi } from 'vitest';
import { speaks, speech, speechPart } from './speech';

const trans = nullTranslator.load('tfkit_lab');
const sanitizer = { sanitize: (html: string) => html.replace(/<script>.*<\/script>/, '') } as never;

/** A kernel that displays these pages and ends with a reply, and what it was asked. */
function kernel(reply: object, ...pages: string[]) {
  const requestExecute = vi.fn(() => {
    const asked = {
      onIOPub: (_: unknown): void => undefined,
      done: Promise.resolve().then(() => {
        asked.onIOPub({ header: { msg_type: 'status' }, content: { execution_state: 'busy' } });
        const display = { msg_type: 'display_data' };
        pages.forEach(html => asked.onIOPub({ header: display, content: { data: { 'text/html': html } } }));
        return { content: reply };
      })
    };
    return asked;
  });
  return { requestExecute } as never as Parameters<typeof speech>[0] & { requestExecute: typeof requestExecute };
}

it('asks the kernel for what the model writes, outside of its history', async () => {
  const asked = kernel({ status: 'ok' }, '<p>once', ' upon</p>');
  expect(await speech(asked, '02-masks', 'fr-FR')).toBe('<p>once upon</p>');
  expect(asked.requestExecute.mock.calls[0]).toEqual([
    expect.objectContaining({ code: expect.stringContaining('_tfkit_show("02-masks", "fr-FR")'), store_history: false })
  ]);
});

it('says why the model cannot speak', async () => {
  const missing = kernel({ status: 'error', ename: 'FileNotFoundError', evalue: 'run tfkit get SmolLM2' });
  await expect(speech(missing, '02-masks', 'en')).rejects.toThrow('run tfkit get SmolLM2');
});

it('shows what was written below the button, once for two clicks, or what is lacking', async () => {
  const say = vi.fn(() => Promise.resolve('<p>once</p><script>alert(1)</script>'));
  const part = speechPart(say, sanitizer, trans);
  const [button, status] = [part.querySelector('button')!, part.querySelector('[role=status]')!];
  button.click();
  button.click();
  expect(say).toHaveBeenCalledOnce();
  expect(status.textContent).toMatch(/takes some seconds/);
  await vi.waitFor(() => expect(part.querySelector('.tfkit-End-written')!.innerHTML).toBe('<p>once</p>'));
  expect([status.textContent, button.getAttribute('aria-disabled')]).toEqual(['', null]);
  say.mockRejectedValueOnce(new Error('run tfkit get SmolLM2'));
  button.click();
  await vi.waitFor(() => expect(status.textContent).toBe('run tfkit get SmolLM2'));
  say.mockRejectedValueOnce(new Error());
  button.click();
  await vi.waitFor(() => expect(status.textContent).toMatch(/The kernel gave no answer/));
});

it('is there for units whose functions have a place in the model', () => {
  expect([speaks('02-masks'), speaks('08-encoders')]).toEqual([true, false]);
});
