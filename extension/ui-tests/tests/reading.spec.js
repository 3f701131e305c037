const { execFileSync } = require('node:child_process');
const { expect, test } = require('@playwright/test');
const { accessible, command, lab, shot, theme } = require('../helpers');

const UNIT = '02-masks/02-masks.ipynb';

test('a lesson is read, predicted without a run, built, checked by its button, and compared; one key shows the notebook', async ({
  page
}) => {
  await lab(page, UNIT, { reading: true });
  const notebook = page.locator('.jp-Notebook');
  await expect(notebook).toHaveClass(/tfkit-Reading/);
  const setup = page.locator('.tfkit-R-setupPart');
  await expect(setup).toContainText('run ✓', { timeout: 90000 }); // on opening
  expect(await page.evaluate(() => window.jupyterapp.shell.currentWidget.context.model.dirty)).toBe(false);
  await expect(page.locator('.tfkit-R-coverPart svg')).toBeVisible();
  await expect(notebook).not.toContainText('import torch');
  await shot(page, 'reading-light');

  const bar = page.locator('.tfkit-Stages');
  await bar.getByRole('button', { name: 'predict' }).click();
  const form = page.getByRole('form', { name: 'Prediction 02.causal' });
  await expect(form).toBeInViewport();
  await expect(notebook).not.toContainText('predict(');
  await accessible(page, '.tfkit-Stages', '.tfkit-R-predictPart');
  await form.getByRole('button', { name: 'row 0, column 0' }).click();
  await form.getByLabel('L (L + 1) / 2').check();
  await shot(page, 'reading-predict');
  await form.getByRole('button', { name: 'Seal the prediction' }).click();
  await expect(page.locator('.tfkit-R-predictPart').first()).toContainText('sealed');
  await expect(bar.getByRole('button', { name: '✓ predict' })).toBeVisible();

  await bar.getByRole('button', { name: 'build' }).click();
  const answer = execFileSync('autograder', ['corpus', 'show', 'masks.causal', 'own_position_hidden'], {
    encoding: 'utf-8'
  });
  await page.evaluate(
    source => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(source),
    answer
  );
  const part = page.locator('.jp-mod-active .tfkit-R-checkPart');
  await part.getByRole('button', { name: 'Check' }).click();
  await expect(page.locator('.tfkit-Verdict').first()).toHaveAttribute('data-state', 'failed', { timeout: 90000 });
  await expect(bar.locator('[aria-current]')).toHaveText('check');
  await accessible(page, '.tfkit-R-checkPart');
  await shot(page, 'reading-check');
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
  await page.setViewportSize({ width: 1360, height: 1000 });

  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Alt+r');
  await expect(notebook).not.toHaveClass(/tfkit-Reading/);
  await expect(bar).toBeHidden();
  await expect(compare.locator('.cm-content')).toContainText('try:');
  await command(page, 'docmanager:reload');
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
});
