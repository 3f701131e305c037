import { afterEach, expect, it, vi } from 'vitest';
import { sayLanguage } from '../../shared/language';
import { when } from './words';

afterEach(() => vi.restoreAllMocks());

it('dates are written as in the reader’s country', () => {
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['en-GB']);
  sayLanguage(null);
  expect(when('2026-01-01T15:00:00')).toMatch(/^Thu,? 1 Jan,? 15:00$/);
});
