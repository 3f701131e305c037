import { afterEach, expect, it, vi } from 'vitest';
import { languageOf, sayLanguage, writtenIn } from './language';

afterEach(() => vi.restoreAllMocks());

it('the page says the language of the lab, and dates are written in it as in the reader’s country', () => {
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['de-CH', 'fr-CH', 'en-GB']);
  sayLanguage({ languageCode: 'fr_FR' });
  expect([document.documentElement.lang, writtenIn()]).toEqual(['fr-FR', 'fr-CH']);
  sayLanguage(null);
  expect([document.documentElement.lang, writtenIn()]).toEqual(['en', 'en-GB']);
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue([]);
  expect(writtenIn()).toBe('en');
});

it('a lesson is in the language of its metadata, English without one', () => {
  expect([{ unit: '02', language: 'fr' }, { unit: '02' }, {}, undefined].map(languageOf)).toEqual([
    'fr',
    'en',
    null,
    null
  ]);
});
