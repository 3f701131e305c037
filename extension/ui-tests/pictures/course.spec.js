/** The lab as a student has it who has passed the first exercise: the home page, and the verdict on a wrong mask. */
const { execFileSync } = require('node:child_process');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { activate, command, lab, setSource, theme } = require('../helpers');

const FOLDER = process.env.PICTURES || 'screenshots';
const to = name => ({ path: join(FOLDER, `${name}.png`) });
const collected = (exercise, name) =>
  execFileSync('autograder', ['corpus', 'show', exercise, name], { encoding: 'utf-8' });

/** Checks one of our own answers in its notebook, without the sentence that it begins with. */
async function checked(page, unit, exercise, name) {
  const opened = `${unit}/${unit}.ipynb`;
  await command(page, 'tfkit:open-exercise', { path: opened, exercise });
  await page.waitForFunction(
    id => window.jupyterapp.shell.currentWidget?.content?.activeCell?.model.getMetadata('tfkit')?.exercise === id,
    exercise
  );
  await activate(page, { role: 'exercise', exercise });
  await setSource(
    page,
    collected(exercise, name)
      .replace(/^"""[^]*?"""\s*/, '')
      .trim()
  );
  await page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true }).click();
  const verdict = page.locator('.tfkit-Verdict:visible').last(); // checks go down the notebook
  await expect(verdict).toHaveAttribute('data-state', /passed|failed/, { timeout: 120000 });
  await command(page, 'docmanager:save');
  return verdict;
}

test('the home page and a verdict', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 1860 });
  await lab(page);
  const first = await checked(page, '01-recurrence-to-attention', 'rnn.cell', 'right/matrix_products');
  await expect(first).toHaveAttribute('data-state', 'passed');
  await command(page, 'application:close-all');
  await command(page, 'tfkit:home');
  await command(page, 'tfkit:show-course');
  await command(page, 'application:close-other-tabs');
  await page.locator('#tfkit-home').getByRole('button', { name: 'No, thank you' }).click();
  const news = page.locator('.Toastify__toast', { hasText: 'Jupyter news' }); // `make lab` has switched it off
  await news.getByRole('button', { name: 'No', exact: true }).click();
  await expect(news).toHaveCount(0);
  await expect(page.locator('#tfkit-home')).toContainText(/1 of \d+ exercises passed/);
  await page.mouse.move(0, 0); // a card below it would be lit
  for (const scheme of ['Light', 'Dark']) {
    await theme(page, scheme);
    await page.screenshot(to(`home-${scheme.toLowerCase()}`));
  }

  await theme(page, 'Light');
  await page.setViewportSize({ width: 1360, height: 1000 });
  const verdict = await checked(page, '02-masks', 'masks.causal', 'own_position_hidden');
  await expect(verdict).toHaveAttribute('data-state', 'failed');
  await activate(page, { role: 'exercise', exercise: 'masks.causal' });
  for (const [scheme, name] of [
    ['Light', 'verdict'],
    ['Dark', 'verdict-dark']
  ]) {
    await theme(page, scheme);
    await page.screenshot(to(name));
  }
});

test('the end of a unit, in which SmolLM2 speaks through the first mistake, too', async ({ page }) => {
  test.setTimeout(600000); // four checks, and 32 passes through the model
  await page.setViewportSize({ width: 1360, height: 1700 });
  await lab(page);
  const first = await checked(page, '02-masks', 'masks.causal', 'looks_into_the_future');
  await expect(first).toHaveAttribute('data-state', 'failed');
  for (const [exercise, name] of [
    ['masks.causal', 'lower_triangle'],
    ['masks.padding', 'new_axes'],
    ['masks.decoder', 'both_masks'],
    ['masks.softmax', 'textbook']
  ]) {
    const right = await checked(page, '02-masks', exercise, `right/${name}`);
    await expect(right).toHaveAttribute('data-state', 'passed');
  }
  await command(page, 'tfkit:reading');
  await page.evaluate(() => {
    const { content } = window.jupyterapp.shell.currentWidget;
    return content.scrollToItem(content.widgets.length - 1, 'end');
  });
  const end = page.locator('.tfkit-R-endPart');
  await end.getByRole('button', { name: 'SmolLM2' }).click();
  await expect(end.locator('.tfkit-Speech')).toBeVisible({ timeout: 240000 }); // after `tfkit get SmolLM2-135M-Instruct`
  for (const scheme of ['Light', 'Dark']) {
    await theme(page, scheme);
    await end.screenshot(to(`unit-end-${scheme.toLowerCase()}`));
  }
});
