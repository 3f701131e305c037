/** An exercise from the home page to what comes after it, by the keyboard alone. */
const { rmSync } = require('node:fs');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { lab, largeEnough, shot } = require('../helpers');

test.use({ reducedMotion: 'reduce' });

const ROOT = join(__dirname, '..', '.tmp', 'root');
const RECORDS = [join(ROOT, '02-masks', '.tfkit', 'predictions.json'), join(ROOT, '.tfkit', 'progress.json')];
const WRONG = `import torch
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu()`;
const RIGHT = `import torch
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()`;

/** Presses Tab until a part has the focus, or one of its own has. */
async function tabTo(page, part, key = 'Tab') {
  const isFocused = () => part.evaluate(node => node.contains(document.activeElement));
  for (let i = 0; i < 40 && !(await isFocused()); i++) {
    await page.keyboard.press(key);
  }
  expect(await isFocused(), `${key} reaches ${part}`).toBe(true);
}

/** Replaces the code of the cell that has the focus, and presses its Check button. */
async function check(page, cell, code) {
  await expect(cell.locator('.cm-content')).toBeFocused();
  const keys = cell.locator('.tfkit-R-keys');
  await expect(keys).toHaveText('Esc leaves the code, Tab goes on to this button.');
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(code);
  await page.keyboard.press('Escape'); // leaves the editor, in which Tab indents
  await expect(keys).toBeHidden();
  await page.keyboard.press('Tab');
  await expect(cell.getByRole('button', { name: 'Check', exact: true })).toBeFocused();
  await page.keyboard.press('Enter');
}

test('an exercise is passed by the keyboard alone: home, prediction, two answers, and what comes next', async ({
  page
}) => {
  RECORDS.forEach(file => rmSync(file, { force: true })); // a prediction is sealed once: a second try would find its card
  await lab(page, undefined, { reading: true });
  await expect(page.locator('#tfkit-home .tfkit-Card')).toHaveCount(1);
  await tabTo(page, page.locator('#tfkit-home .tfkit-Continue'));
  await page.keyboard.press('Enter');
  await expect(page.locator('.tfkit-R-setupPart')).toContainText('run ✓', { timeout: 90000 });

  const asked = page.getByRole('form', { name: 'Prediction 02.causal' });
  await tabTo(page, asked.getByRole('button', { name: 'row 0, column 0' }));
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowDown'); // on to another square: Space sets it
  await page.keyboard.press('Space');
  await expect(asked.getByRole('button', { name: 'row 1, column 0' })).toHaveAttribute('aria-pressed', 'true');
  await tabTo(page, asked.locator('fieldset').nth(1));
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await expect(asked.getByRole('button', { name: 'Seal the prediction' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: '02.causal' })).toBeFocused();

  await page.keyboard.press('ArrowDown'); // the cell of the exercise
  await page.keyboard.press('Enter');
  const cell = page.locator('.jp-CodeCell.jp-mod-active');
  await expect(cell.locator('.jp-cell-toolbar')).toBeAttached();
  const hasToolbar = await cell.evaluate(node => {
    node.classList.add('jp-toolbar-overlap'); // as JupyterLab does where the first line reaches under the toolbar
    return getComputedStyle(node.querySelector('.jp-cell-toolbar')).display !== 'none';
  });
  expect(hasToolbar, 'one Check button is enough').toBe(false);
  await check(page, cell, WRONG);
  const card = cell.locator('.tfkit-Verdict');
  await expect(card).toHaveAttribute('data-state', 'failed', { timeout: 90000 });
  await expect(card).toHaveRole('status'); // what appears in it is announced
  await expect(cell.getByRole('button', { name: 'Check', exact: true })).toBeFocused();
  await shot(page, 'keyboard-wrong');
  await largeEnough(page, '.tfkit-Verdict', '.tfkit-Stages', '.tfkit-R');
  await tabTo(page, card.getByRole('link', { name: /^Read again/ }));
  await page.keyboard.press('Enter');
  await expect(page.locator('.jp-MarkdownCell.jp-mod-active')).toBeFocused();
  await expect(page.getByRole('heading', { name: /^1 · The causal mask/ })).toBeInViewport();

  for (let i = 0; i < 8 && !(await cell.locator('.tfkit-R-checkPart').count()); i++) {
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
  await check(page, cell, RIGHT);
  await expect(card).toHaveAttribute('data-state', 'passed', { timeout: 90000 });
  await tabTo(page, card.getByRole('button', { name: 'Next', exact: true }));
  await shot(page, 'keyboard-passed');
  await page.keyboard.press('Enter');
  await expect(cell.locator('.cm-content')).toContainText('print(causal_mask(4).int())');
  await expect(cell).toBeFocused(); // not its editor, in which Tab would indent
  await page.keyboard.press('Tab');
  await expect(cell.getByRole('button', { name: 'Run' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(cell.locator('.jp-OutputArea')).toContainText('as you predicted', { timeout: 90000 });
});
