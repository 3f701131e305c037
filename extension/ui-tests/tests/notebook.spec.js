const { execFileSync } = require('node:child_process');
const { expect, test } = require('@playwright/test');
const { shot } = require('../helpers');

const open = (page, path) => page.goto(`http://127.0.0.1:8899/notebooks/${path}?token=tests`);
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
  await verdict.getByRole('button', { name: 'Open in the view of matrices' }).click();
  await expect(page.locator('#tfkit-example .tfk h3')).toHaveText('masks.softmax');
  await expect(page.locator('#tfkit-example .tfk')).toBeVisible();
  await shot(page, 'notebook7-check');
});
