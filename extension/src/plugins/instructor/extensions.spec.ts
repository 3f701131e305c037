import { nullTranslator } from '@jupyterlab/translation';
import { expect, it, vi } from 'vitest';
import { drawExtensions } from './extensions';
import type { Ask, IExtension } from './protocol';

const trans = nullTranslator.load('tfkit_lab');
const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

it('shows who has how many hours, and gives more', async () => {
  let students: IExtension[] = [
    { student: 'ada', hours: 0 },
    { student: 'ben', hours: 48 }
  ];
  const ask = vi.fn((_: string, body: unknown) => {
    const { student, hours } = body as { student?: string; hours?: number };
    students = students.map(one => (one.student === student ? { student, hours: hours! } : one));
    return Promise.resolve({ students });
  });
  const node = document.createElement('div');
  await drawExtensions(node, 'mine', '02-masks', ask as unknown as Ask, trans);
  const hours = (): string[] => [...node.querySelectorAll<HTMLInputElement>('tbody input')].map(({ value }) => value);
  expect(hours()).toEqual(['0', '48']);
  node.querySelector<HTMLInputElement>('tbody input')!.value = '24';
  node.querySelector<HTMLButtonElement>('tbody button')!.click();
  await settled();
  expect(ask).toHaveBeenLastCalledWith('marking/extensions', {
    course: 'mine',
    assignment: '02-masks',
    student: 'ada',
    hours: 24
  });
  expect(hours()).toEqual(['24', '48']);
  expect(node.querySelectorAll('.tfkit-mod-extended')).toHaveLength(2);
});

it('says why an extension was refused, and leaves the table as it was', async () => {
  let refuse = false;
  const ask = (): Promise<unknown> =>
    refuse
      ? Promise.reject(new Error('an extension must be between 0 hours and a year'))
      : Promise.resolve({ students: [{ student: 'ada', hours: 0 }] });
  const node = document.createElement('div');
  await drawExtensions(node, 'mine', '02-masks', ask as unknown as Ask, trans);
  refuse = true;
  node.querySelector<HTMLButtonElement>('tbody button')!.click();
  await settled();
  expect(node.querySelector('[role=status]')!.textContent).toBe('an extension must be between 0 hours and a year');
  expect(node.querySelectorAll('tbody tr')).toHaveLength(1);
});
