const { execFileSync } = require('node:child_process');
const { expect, test } = require('@playwright/test');
const { SERVER, accessible, shot } = require('../helpers');

const open = (page, path) => page.goto(`${SERVER}/notebooks/${path}?token=tests`);
const stepper = page => page.locator('.tfk:visible').first();

test('the stepper works in Notebook 7', async ({ page }) => {
  await open(page, 'stepper.ipynb');
  await page.locator('.jp-Cell').first().locator('.cm-content').click();
  await page.getByRole('button', { name: /^Run this cell/ }).click();
  await expect(page.locator('.tfkit-Trace > div:last-child .tfk')).toBeVisible({ timeout: 90000 });
  await stepper(page).focus();
  await page.keyboard.press('ArrowRight');
  await expect(stepper(page).locator('[role=status]')).toHaveText(/ of 6/);
  await shot(page, 'notebook7-stepper');
});

/** A front end without our extension: it is taken out of the page's list before the page's scripts read that. */
const withoutExtension = page =>
  page.addInitScript(() =>
    document.addEventListener('readystatechange', () => {
      const data = document.getElementById('jupyter-config-data');
      if (data && document.readyState === 'interactive') {
        const config = JSON.parse(data.textContent);
        config.federated_extensions = config.federated_extensions.filter(({ name }) => name !== '@tfkit/lab');
        data.textContent = JSON.stringify(config);
      }
    })
  );

test('without our extension a picture says how to step, the widget then steps, and check() answers', async ({
  page
}) => {
  await withoutExtension(page);
  await open(page, 'bare.ipynb');
  const cell = n => page.locator('.jp-Cell').nth(n);
  await expect(async () => {
    await cell(0).locator('.cm-content').click(); // runs nothing until the kernel has answered
    await page.keyboard.press('Shift+Enter');
    await expect(cell(0).locator('.jp-InputPrompt')).not.toHaveText('[ ]:', { timeout: 2000 });
  }).toPass({ timeout: 60000 });
  for (let n = 1; n < 4; n++) {
    await page.keyboard.press('Shift+Enter');
  }
  await expect(cell(0).locator('.jp-OutputArea')).toContainText('TFKIT_WIDGET_VIEW=1', { timeout: 90000 });
  await expect(page.locator('.tfkit-Trace')).toHaveCount(0);
  const live = cell(2).locator('.tfk');
  await expect(live).toBeVisible();
  await live.getByRole('button', { name: 'Step forward', exact: true }).click();
  await expect(live.locator('[role=status]')).toHaveText(/^Step 2 of 6/);
  await expect(cell(3).locator('.tfkit-verdict')).toContainText(/0 of 1|1 of 1/, { timeout: 90000 }); // a verdict's card
  await shot(page, 'notebook7-without');
});

test('Check says in Notebook 7 what is wrong, and the failing case opens beside it', async ({ page }) => {
  await open(page, '02-masks/02-masks.ipynb');
  const cell = page.locator('.jp-Cell', { hasText: 'def masked_softmax' }).first();
  await cell.locator('.cm-content').click();
  const wrong = execFileSync('autograder', ['corpus', 'show', 'masks.softmax', 'mask_ignored'], { encoding: 'utf-8' });
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(wrong);
  await page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true }).click();
  const verdict = page.locator('.tfkit-Verdict').last(); // those of earlier tests are restored above it
  await expect(verdict).toHaveAttribute('data-state', 'failed', { timeout: 90000 });
  await verdict.getByRole('button', { name: 'Open in the matrix view' }).click();
  await expect(page.locator('#tfkit-example .tfk h3')).toHaveText('masks.softmax');
  await expect(page.locator('#tfkit-example .tfk')).toBeVisible();
  await shot(page, 'notebook7-check');
  await page.getByRole('menuitem', { name: 'View' }).click();
  await page.getByRole('menuitem', { name: 'Course: Home' }).click();
  await expect(page.locator('#tfkit-home .tfkit-Card')).toBeVisible(); // beside the notebook, too
  await accessible(page, '#tfkit-home');
  await shot(page, 'notebook7-home');
});
