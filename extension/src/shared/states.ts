/** The words for an exercise's state, which panel and home page share. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ExerciseState } from './tokens';

export function stateName(state: ExerciseState, trans: TranslationBundle): string {
  return {
    not_started: trans.__('not started'),
    passed: trans.__('passed'),
    failed: trans.__('not yet right'),
    not_graded: trans.__('could not be checked')
  }[state];
}
