import { PageConfig } from '@jupyterlab/coreutils';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { answerInTab, inTab } from './tab';

const UNITS = [{ path: '02-masks.ipynb', exercises: [{ id: 'masks.causal', state: 'not_started', score: 0 }] }];

beforeEach(() => {
  PageConfig.setOption('baseUrl', 'http://here/course/');
  vi.stubGlobal(
    'fetch',
    vi.fn((url: string) => Promise.resolve(new Response(JSON.stringify({ units: UNITS, url }))))
  );
});
afterEach(() => {
  PageConfig.setOption('tfkitTab', '');
  localStorage.clear();
  vi.unstubAllGlobals();
});

it('knows a site without a server by its page', () => {
  expect(inTab()).toBe(false);
  PageConfig.setOption('tfkitTab', 'true');
  expect(inTab()).toBe(true);
});

it('answers with the file of the site and what this browser has kept', async () => {
  const outcome = { exercise: 'masks.causal', status: 'passed', score: 1, max_score: 1 };
  await answerInTab('progress', { method: 'POST', body: JSON.stringify(outcome) });
  const { units } = (await answerInTab('course', {})) as { units: typeof UNITS };
  expect(fetch).toHaveBeenCalledWith('http://here/course/tfkit/course');
  expect(units[0].exercises[0]).toMatchObject({ id: 'masks.causal', state: 'passed', score: 1 });
});

it('begins anew where what was kept is damaged', async () => {
  localStorage.setItem('tfkit:progress:http://here/course/', '{"masks');
  const { units } = (await answerInTab('course', {})) as { units: typeof UNITS };
  expect(units[0].exercises[0].state).toBe('not_started');
});

it('says of what only a server can do that it needs one', async () => {
  await expect(answerInTab('class', {})).rejects.toThrow('needs a server');
});
