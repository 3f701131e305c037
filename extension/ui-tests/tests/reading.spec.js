const { readFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { accessible, command, lab, language, shot, theme } = require('../helpers');

const UNIT = '02-masks/02-masks.ipynb';
const SEALED = join(__dirname, '..', '.tmp', 'root', '02-masks', '.tfkit', 'predictions.json');

test.beforeEach(() => rmSync(SEALED, { force: true })); // a prediction is sealed once: a second try would find its card

test('a lesson is read and predicted without a run, has a Check button and no scaffolding; one key shows the notebook', async ({
  page
}) => {
  await lab(page, UNIT, { reading: true });
  const notebook = page.locator('.jp-Notebook');
  await expect(notebook).toHaveClass(/tfkit-Reading/);
  const setup = page.locator('.tfkit-R-setupPart');
  await expect(setup).toContainText('run ✓', { timeout: 90000 }); // on opening
  await expect(page.locator('.tfkit-R-coverPart svg')).toBeVisible();
  const code = text => page.locator('.jp-Cell-inputWrapper:visible', { hasText: text });
  await expect(code('import torch')).toHaveCount(0);
  await shot(page, 'reading-light');

  const bar = page.locator('.tfkit-Stages');
  await bar.getByRole('button', { name: 'predict' }).click();
  const form = page.getByRole('form', { name: 'Prediction 02.causal' });
  await expect(form).toBeInViewport();
  await expect(code(/^predict\(/)).toHaveCount(0);
  await form.getByRole('button', { name: 'row 0, column 0' }).click();
  await form.getByLabel('L (L + 1) / 2').check();
  await shot(page, 'reading-predict');
  await form.getByRole('button', { name: 'Seal the prediction' }).click();
  await expect(page.locator('.tfkit-R-predictPart').first()).toContainText('sealed');
  await expect(bar.getByRole('button', { name: '✓ predict' })).toBeVisible();

  await expect(page.locator('.tfkit-R-checkPart:visible').first().getByRole('button', { name: 'Check' })).toBeVisible();
  await bar.getByRole('button', { name: 'compare' }).click();
  const compare = page.locator('.jp-mod-active');
  await expect(compare.locator('.cm-content')).toContainText('print(causal_mask(4).int())');
  await expect(compare.locator('.cm-content')).not.toContainText(/predicted|try:|compare/);
  await shot(page, 'reading-compare');
  await theme(page, 'Dark');
  await shot(page, 'reading-dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await command(page, 'application:toggle-left-area');
  await shot(page, 'reading-390');
  await expect(bar.getByRole('button', { name: 'compare' })).toBeInViewport({ ratio: 1 });
  const left = async part => (await compare.locator(part).boundingBox()).x;
  expect(await left('.tfkit-R-runPart button')).toBe(await left('.jp-InputArea-editor'));
  await page.setViewportSize({ width: 1360, height: 1000 });

  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Alt+r');
  await expect(notebook).not.toHaveClass(/tfkit-Reading/);
  await expect(bar).toBeHidden();
  await expect(compare.locator('.cm-content')).toContainText('try:');
});

test('the way to a prediction leads to its form where the server and the drawing of cells are slow', async ({
  page
}) => {
  await page.addInitScript(() => {
    window.requestIdleCallback = act => setTimeout(() => act({ didTimeout: false, timeRemaining: () => 1 }), 1500);
    window.cancelIdleCallback = clearTimeout;
  });
  await page.route(/\/tfkit\/lesson\b/, async route => {
    await new Promise(resolve => setTimeout(resolve, 3000));
    await route.continue();
  });
  await lab(page, UNIT, { reading: true });
  await page.locator('.tfkit-Stages').getByRole('button', { name: 'predict' }).click();
  await expect(page.getByRole('form', { name: 'Prediction 02.causal' })).toBeInViewport();
});

/** Answers as if everything that the course asks for were done. */
async function allDone(page) {
  await page.route(/\/tfkit\/course\b/, async route => {
    const { units } = await (await route.fetch()).json();
    for (const { exercises, steps } of units) {
      exercises.forEach(exercise => (exercise.state = 'passed'));
      steps.forEach(step => (step.done = true));
    }
    await route.fulfill({ json: { units } });
  });
}

for (const [locale, marked] of [
  ['en', /^✓ compare$/],
  ['fr_FR', /^✓ comparer$/]
]) {
  test(`the stages are whole on a telephone when all of them are done, in ${locale}`, async ({ page }) => {
    await allDone(page);
    await lab(page);
    await language(page, locale);
    try {
      await lab(page, UNIT, { reading: true });
      await page.setViewportSize({ width: 390, height: 844 });
      await command(page, 'application:toggle-left-area');
      const last = page.locator('.tfkit-Stages li').last().getByRole('button', { name: marked });
      await expect(last).toBeInViewport({ ratio: 1 });
      await shot(page, `reading-done-390-${locale}`);
      await command(page, 'notebook:move-cursor-down');
      await page.evaluate(() => {
        const { content } = window.jupyterapp.shell.currentWidget;
        return content.scrollToItem(content.widgets.length - 1, 'end');
      });
      const end = page.locator('.tfkit-R-endPart');
      await expect(end.getByRole('heading')).toHaveText(locale === 'en' ? /Masks: done$/ : /Masks\u00a0: terminé$/);
      await end.scrollIntoViewIfNeeded();
      await expect(end.getByRole('button', { name: /SmolLM2/ })).toHaveText(
        locale === 'en' ? 'Let SmolLM2 speak through your code' : 'Laisser SmolLM2 parler par votre code'
      );
      await accessible(page, '.tfkit-R-endPart');
      await shot(page, `reading-end-390-${locale}`);
      const file = page.waitForEvent('download');
      await end
        .getByRole('button', { name: locale === 'en' ? 'Save as a drawing' : 'Enregistrer comme dessin' })
        .click();
      const drawn = readFileSync(await (await file).path(), 'utf-8');
      expect(drawn).toMatch(/^<svg [^]*<pattern [^]*tfkit-hatch-[^]*built by hand|construit à la main/);
    } finally {
      await language(page, 'en');
    }
  });
}

test('a new kernel gets the set-up before the next cell, and Run waits for a prediction', async ({ page }) => {
  await lab(page, UNIT, { reading: true });
  const setup = page.locator('.tfkit-R-setupPart');
  await expect(setup).toContainText('run ✓', { timeout: 90000 });
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart());
  await expect(setup).toContainText('will be run before your next cell');
  await page.evaluate(() => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.activeCellIndex = content.widgets.findIndex(cell =>
      /predicted\("02.two-axes"/.test(cell.model.sharedModel.getSource())
    );
    return content.scrollToItem(content.activeCellIndex);
  });
  await page.locator('.jp-mod-active .tfkit-R-runPart').getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('.jp-mod-active .jp-OutputArea')).toContainText('Predict first', { timeout: 90000 });
  await expect(setup).toContainText('run ✓');
  const line = page.locator('.tfkit-PassedOver');
  await expect(line).toContainText('Passed over: 1 prediction is not sealed yet.');
  const form = page.getByRole('form', { name: 'Prediction 02.two-axes' });
  await form.getByRole('button', { name: 'Skip' }).click();
  await expect(page.getByRole('group', { name: '02.two-axes' })).toBeFocused();
  await expect(line).toBeHidden(); // though its cell was not run again
});

test('Run All passes over what is not predicted, and a line at the top says so', async ({ page }) => {
  await lab(page, 'unsealed.ipynb');
  await command(page, 'notebook:run-all-cells');
  const line = page.locator('.tfkit-PassedOver');
  await expect(line).toContainText('Passed over: 1 prediction is not sealed yet.', { timeout: 60000 });
  await expect(page.locator('.jp-OutputArea-output').last()).toHaveText('the end');
  await accessible(page, '.tfkit-PassedOver');
  await line.getByRole('button', { name: 'Show the first' }).click();
  await expect(page.locator('.jp-mod-active .jp-OutputArea')).toContainText('Predict first');
  await shot(page, 'passed-over');
  await command(page, 'docmanager:save');
  await lab(page, 'unsealed.ipynb');
  await expect(line).toContainText('Passed over: 1 prediction'); // on opening, too
});
