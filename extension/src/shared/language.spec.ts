import { afterEach, expect, it, vi } from 'vitest';
import { decimal, languageOf, sayLanguage, writtenIn } from './language';

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

it('numbers have a comma where the reader’s language has one, and no more digits than asked for', () => {
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue([]);
  sayLanguage({ languageCode: 'fr_FR' });
  expect([decimal(0.5, 2), decimal(1.25, 0, 2), decimal(3, 0, 2), decimal(1234.5, 1)]).toEqual([
    '0,50',
    '1,25',
    '3',
    '1234,5'
  ]);
  sayLanguage(null);
  expect([decimal(0.5, 2), decimal(-0.25, 2)]).toEqual(['0.50', '-0.25']);
});
