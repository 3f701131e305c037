import { readFileSync } from 'node:fs';
import { beforeEach, expect, it, vi } from 'vitest';
import { RecordedModel } from './model';
import { mount } from './walk';

const trace = JSON.parse(readFileSync('../tests/extension/golden/pictures/walk.json', 'utf-8')) as object;
const field = (): HTMLInputElement => document.querySelector('.tfk-sentence input')!;

function walk(requests: string[]): { model: RecordedModel; sent: unknown[] } {
  const model = new RecordedModel({ trace, place: {}, requests, message: '', n_answers: 0 });
  const sent: unknown[] = [];
  Object.assign(model, { send: (message: unknown) => sent.push(message) });
  mount(model, document.body);
  return { model, sent };
}

beforeEach(() => document.body.replaceChildren());

it('sends what is typed, and keeps it and the focus when the walk over it is drawn', async () => {
  const { model, sent } = walk(['sentence']);
  field().focus();
  field().value = 'the dog sleeps';
  field().form!.requestSubmit();
  field().form!.requestSubmit(); // one at a time
  expect(sent).toEqual([{ do: 'sentence', text: 'the dog sleeps' }]);
  const view = document.querySelector('.tfk')!;
  expect(view.getAttribute('aria-busy')).toBe('true');
  model.set('trace', { ...trace, title: 'the dog sleeps' });
  expect(document.querySelector('h3')!.textContent).toBe('the dog sleeps');
  expect(field().value).toBe('the dog sleeps');
  await vi.waitFor(() => expect(document.activeElement).toBe(field()));
  model.set('n_answers', 1);
  expect(document.querySelectorAll('.tfk[aria-busy]')).toHaveLength(0);
});

it('leaves the focus where the reader has taken it while the kernel computed', async () => {
  const other = document.body.appendChild(document.createElement('input'));
  const { model } = walk(['sentence']);
  field().focus();
  field().value = 'the dog sleeps';
  field().form!.requestSubmit();
  other.focus();
  model.set('trace', { ...trace, title: 'the dog sleeps' });
  await new Promise(resolve => setTimeout(resolve));
  expect(field().value).toBe('the dog sleeps');
  expect(document.activeElement).toBe(other);
});

it('says why the kernel could not, and lets one ask again', () => {
  const { model, sent } = walk(['sentence']);
  field().value = 'zyzzyva';
  field().form!.requestSubmit();
  model.set('message', 'ValueError: no such word');
  model.set('n_answers', 1);
  expect(document.querySelector('.tfk-sentence [role=status]')!.textContent).toBe('ValueError: no such word');
  field().form!.requestSubmit();
  expect(sent).toHaveLength(2);
});

it('is not there in a recording', () => {
  walk([]);
  expect(document.querySelector('.tfk-sentence')).toBeNull();
  expect(document.querySelector('.tfk-walk-row')).not.toBeNull();
});
