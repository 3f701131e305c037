import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';
import { bars, IPrediction, Predictions } from './predictions';

const said = (student: string, ...answers: unknown[]) => ({
  student,
  at: `2026-01-01T00:00:0${student}`,
  answers: answers.length ? answers : null
});
const PREDICTION: IPrediction = {
  name: '03.parameters',
  questions: [
    { kind: 'number', label: 'How many?' },
    { kind: 'choice', label: 'Which?', options: ['the first', 'the second'] }
  ],
  observed: [16, ['the second']],
  by: [said('1', 16, ['the first']), said('2', 4, ['the second']), said('3'), said('4', 16, ['the second'])]
};

describe('the bars of a prediction', () => {
  it('stand in the order of their numbers, with what came out marked', () => {
    expect(bars(PREDICTION, 0)).toEqual([
      { answer: '4', students: ['2'], observed: false },
      { answer: '16', students: ['1', '4'], observed: true }
    ]);
  });

  it('have options that nobody chose', () => {
    expect(bars(PREDICTION, 1, 1).map(({ answer, students }) => [answer, students.length])).toEqual([
      ['the first', 1],
      ['the second', 0]
    ]);
  });

  it('gather the rarest answers of many', () => {
    const many = { ...PREDICTION, by: Array.from({ length: 30 }, (_, i) => said(String(i), i, ['the first'])) };
    const found = bars(many, 0);
    expect(found.length).toBe(13);
    expect(found[12]).toMatchObject({ answer: '…', observed: false });
    expect(found[12].students.length).toBe(18);
  });
});

describe('the section of the class panel', () => {
  it('replays from the first answer, and names nobody unless asked', () => {
    const section = new Predictions(nullTranslator.load('tfkit_lab'), () => undefined);
    section.show([PREDICTION]);
    expect(section.node.textContent).toContain('4 of 4');
    expect(section.node.querySelectorAll('small').length).toBe(0);
    const range = section.node.querySelector<HTMLInputElement>('input[type=range]')!;
    range.value = '1';
    range.dispatchEvent(new Event('input'));
    expect(section.node.textContent).toContain('1 of 4');
    section.show([{ ...PREDICTION, by: [...PREDICTION.by, said('5', 8, ['the first'])] }]);
    expect(section.node.textContent).toContain('1 of 5'); // what comes in does not disturb a replay
  });

  it('is not there without a prediction', () => {
    const section = new Predictions(nullTranslator.load('tfkit_lab'), () => undefined);
    section.show([]);
    expect(section.node.hidden).toBe(true);
  });
});
