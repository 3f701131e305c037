import { readdirSync, readFileSync } from 'node:fs';
import { Gettext } from '@jupyterlab/translation/lib/gettext';
import { describe, expect, it } from 'vitest';

const sources = ['src/play', 'src/plugins', 'src/shared', 'src/widgets'].flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf-8' })
    .filter(file => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map(file => readFileSync(`${folder}/${file}`, 'utf-8'))
);

describe.each(readdirSync('tfkit_lab/locale'))('the catalogue of %s', locale => {
  const catalogue = JSON.parse(readFileSync(`tfkit_lab/locale/${locale}/LC_MESSAGES/tfkit_lab.json`, 'utf-8'));
  const said = sources.flatMap(text =>
    [...text.matchAll(/\b(?:__|_n|translated)\(\s*'([^']+)'/g)].map(match => match[1])
  );

  it('has every text of the plugins, and no other', () => {
    expect(Object.keys(catalogue).filter(Boolean).sort()).toEqual([...new Set(said)].sort());
  });

  it('is found where JupyterLab looks for it', () => {
    const lab = new Gettext();
    lab.setLocale(locale); // as the setting has it, and as the server is asked
    lab.loadJSON({ ...catalogue, '': { ...catalogue[''], pluralForms: catalogue[''].plural_forms } }, 'tfkit_lab'); // as its manager does
    for (const [key, forms] of Object.entries<string[]>(catalogue).filter(([name]) => name)) {
      const plural = forms.length > 1 ? key : '';
      for (const [count, form] of [
        [1, forms[0]],
        [7, forms[forms.length - 1]]
      ] as const) {
        expect(
          lab.dcnpgettext('tfkit_lab', '', key, plural, count, ...(plural ? [] : ['%1', '%2', '%3', '%4', '%5', '%6']))
        ).toBe(plural ? form.replace('%1', String(count)) : form);
      }
    }
  });

  it.runIf(locale.startsWith('fr'))(
    'has a space that does not break before : ; ! ? and », and the apostrophe ’',
    () => {
      const forms = Object.entries<string[]>(catalogue).flatMap(([name, texts]) => (name ? texts : []));
      expect(forms.filter(form => / [:;!?»]|« |[a-zé]'[a-zé]/i.test(form))).toEqual([]);
    }
  );

  it('keeps the places for what is filled in', () => {
    const places = (text: string): string[] => (text.match(/%\d/g) ?? []).sort();
    for (const [key, forms] of Object.entries<string[]>(catalogue).filter(([name]) => name)) {
      forms.forEach(form => expect(places(form)).toEqual(places(key)));
    }
  });
});
