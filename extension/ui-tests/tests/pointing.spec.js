/** Phrases of a lesson that point: by pointer and by key, at a prediction, at code and at a figure. */
const { rmSync } = require('node:fs');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { accessible, command, excessWidth, lab, openPage, shot, theme } = require('../helpers');

const UNIT = '02-masks/02-masks.ipynb';
const SEALED = join(__dirname, '..', '.tmp', 'root', '02-masks', '.tfkit', 'predictions.json');
const FIGURE = 'masks = {"causal"';

test.beforeEach(() => rmSync(SEALED, { force: true })); // a prediction is sealed once: a second try would find its card

/** Runs the notebook up to the cell with a text, and that one. */
async function runUpTo(page, text) {
  await page.evaluate(wanted => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.activeCellIndex = content.widgets.findIndex(({ model }) => model.sharedModel.getSource().includes(wanted));
  }, text);
  await command(page, 'notebook:run-all-above');
  await command(page, 'notebook:run-cell');
}

/** A map of the figure as it is painted. */
const painted = map => map.locator('canvas').evaluate(canvas => canvas.toDataURL());

test('a phrase lights a row of a prediction, lines of code and squares of a figure, by the pointer and by keys', async ({
  page
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await lab(page, UNIT, { reading: true });
  await expect(page.locator('.tfkit-R-setupPart')).toContainText('run ✓', { timeout: 90000 });
  const phrase = (name, exact = true) => page.getByRole('button', { name, exact });
  const lit = page.locator('.tfkit-mod-lit');
  const form = page.getByRole('form', { name: 'Prediction 02.causal' });

  const row = phrase('row 2');
  await row.scrollIntoViewIfNeeded();
  await expect(form).toBeVisible();
  await expect(row).toHaveAttribute('aria-description', 'Lights up row 2');
  await row.hover();
  await expect(form.locator('.tfkit-mod-lit')).toHaveCount(5); // its name and four squares
  await expect(form.getByRole('button', { name: 'row 2, column 3' }).locator('..')).toHaveClass(/tfkit-mod-lit/);
  await shot(page, 'pointing-row');
  await page.mouse.move(2, 2);
  await expect(lit).toHaveCount(0);

  const address = page.url();
  await row.focus();
  await expect(lit).toHaveCount(5);
  await page.keyboard.press('Tab');
  await expect(phrase('column 2')).toBeFocused();
  await expect(lit).toHaveCount(5); // its name in the head, too
  await page.keyboard.press('Enter');
  await expect(phrase('column 2')).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('Tab'); // what is pressed stays lit
  await expect(lit).toHaveCount(5);
  await accessible(page, '.jp-Cell:has([href="#show:rows=2"])', '.jp-Cell:has(.tfkit-mod-spot)'); // also what is paler then
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Escape');
  await expect(phrase('column 2')).toHaveAttribute('aria-pressed', 'false');
  await row.focus();
  await page.keyboard.press('Space');
  await expect(row).toHaveAttribute('aria-pressed', 'true');
  await row.click();
  await expect(row).toHaveAttribute('aria-pressed', 'false');
  expect(page.url()).toBe(address); // it leads nowhere
  await accessible(page, '.jp-RenderedMarkdown:has([href="#show:rows=2"])');

  const taken = phrase('is taken for [Q,K]');
  await taken.scrollIntoViewIfNeeded();
  await taken.hover();
  const lines = page.locator('.tfkit-LitLine');
  await expect(lines).toHaveCount(2);
  await expect(lines.first()).toContainText('two_axes = torch.zeros');
  await shot(page, 'pointing-code');

  const columns = phrase('the first four columns');
  await columns.scrollIntoViewIfNeeded();
  await columns.hover();
  await expect(columns).toHaveAttribute('data-note', 'nothing drawn yet');
  await columns.dblclick(); // pressed, and let go again: its text stays as it is drawn
  await expect(columns).toHaveAttribute('aria-pressed', 'false');
  await runUpTo(page, FIGURE);
  const maps = page.locator('.tfk-map');
  await expect(maps).toHaveCount(4, { timeout: 90000 });
  await columns.scrollIntoViewIfNeeded();
  await page.mouse.move(2, 2);
  await expect.poll(() => painted(maps.nth(1))).toMatch(/^data:image/);
  const before = [await painted(maps.nth(0)), await painted(maps.nth(1))];
  await columns.hover();
  await expect.poll(() => painted(maps.nth(1))).not.toBe(before[1]);
  expect(await painted(maps.nth(0))).toBe(before[0]); // it speaks of the second
  await shot(page, 'pointing-figure');
  await page.mouse.move(2, 2);
  await expect.poll(() => painted(maps.nth(1))).toBe(before[1]);
  await phrase('the lower triangle with the diagonal').click();
  await theme(page, 'Dark');
  await shot(page, 'pointing-dark');
  await theme(page, 'Light');
  await command(page, 'application:toggle-left-area');
  await page.setViewportSize({ width: 390, height: 844 });
  await phrase('cut off after the fourth column').click();
  await expect(maps.nth(2)).toBeInViewport();
  await shot(page, 'pointing-390');
});

test('phrases point on an exported page, in its colours, in those of the system, and at 400 %', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await openPage(page, 'exported.html');
  const phrase = name => page.getByRole('button', { name });
  const maps = page.locator('.tfk-map canvas');
  const looks = () => maps.evaluateAll(all => all.map(canvas => canvas.toDataURL()));
  const marked = () => page.evaluate(() => [...(CSS.highlights.get('tfkit-lit-lines') ?? [])].map(String));
  await expect(maps.first()).toBeVisible();
  await expect(page.getByRole('link', { name: 'no square' })).toBeVisible(); // it points at nothing
  const before = await looks();
  await phrase('Row 1').hover();
  await expect.poll(async () => (await looks()).every((look, i) => look !== before[i])).toBe(true);
  await phrase('column 0').focus();
  await page.mouse.move(2, 2);
  await expect
    .poll(async () => (await looks()).map((look, i) => look !== before[i]))
    .toEqual(before.map((_, i) => i === 0));
  await phrase('the triangle').focus();
  expect(await looks()).toEqual(before);
  await page.keyboard.press('Space');
  expect(await marked()).toEqual(['mask = torch.ones(4, 4, dtype=torch.bool).tril()']);
  await expect(page.getByText('tril()')).toBeVisible(); // its block was folded
  for (const colours of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { forcedColors: 'active' }]) {
    await page.emulateMedia(colours);
    await accessible(page);
    await shot(page, `pointing-exported-${Object.values(colours)[0]}`);
  }
  await page.keyboard.press('Escape');
  expect(await marked()).toEqual([]);
  await page.setViewportSize({ width: 320, height: 256 });
  await phrase('column 0').focus();
  expect(await excessWidth(page)).toBeLessThanOrEqual(0);
});
