import { describe, expect, it } from 'vitest';
import { subjectOf } from './subject';

const having = (tfkit: unknown): { getMetadata(key: string): unknown } => ({
  getMetadata: key => (key === 'tfkit' ? tfkit : undefined)
});

describe('the subject of the next hunt', () => {
  it('is the exercise of the active cell, and elsewhere in a lesson its unit', () => {
    const lesson = having({ unit: '02-masks' });
    expect(subjectOf(lesson, having({ role: 'check', exercise: 'masks.causal' }))).toEqual({ hunt: 'masks.causal' });
    expect(subjectOf(lesson, having(undefined))).toEqual({ unit: '02-masks' });
    expect(subjectOf(lesson, null)).toEqual({ unit: '02-masks' });
  });

  it('is the same again in the notebook of a hunt', () => {
    expect(subjectOf(having({ hunt: 'page.gpt2' }), having({ role: 'hunt' }))).toEqual({ hunt: 'page.gpt2' });
  });

  it('is nothing in other notebooks', () => {
    expect(subjectOf(having(undefined), having({ exercise: 'masks.causal' }))).toBeNull();
    expect(subjectOf(having({ hunt: 3 }), null)).toBeNull();
    expect(subjectOf(null, null)).toBeNull();
  });
});
