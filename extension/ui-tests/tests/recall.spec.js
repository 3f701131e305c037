const { expect, test } = require('@playwright/test');
const { accessible, activate, command, lab, theme } = require('../helpers');

test('a unit opens with questions from before, answered by keys alone, which then come back on the home page', async ({
  page
}) => {
  await lab(page, 'recall.ipynb');
  await activate(page, 0);
  await command(page, 'notebook:run-cell-and-select-next');
  await command(page, 'notebook:run-cell');
  const form = page.getByRole('form', { name: 'From earlier units' });
  await expect(form).toContainText('1 of 3');
  for (const [name, look] of [
    ['Dark', 'dark'],
    ['Light', 'light']
  ]) {
    await theme(page, name);
    await accessible(page, '.tfkit-recall');
    await form.screenshot({ path: `screenshots/recall-${look}.png` });
  }
  await form.getByRole('button', { name: 'Answer' }).focus();
  await page.keyboard.press('Enter');
  await expect(form.getByRole('alert')).toContainText('Not answered yet');
  for (let n = 1; n <= 3; n++) {
    await expect(form).toContainText(`${n} of 3`);
    await page.waitForFunction(() => document.activeElement.closest('.tfkit-recall fieldset')); // the focus is in the question
    const kind = await form.locator('fieldset').evaluate(set => {
      const input = set.querySelector('input');
      return set.querySelector('.tfkit-c-order') ? 'order' : input ? input.type : 'mask';
    });
    if (kind === 'order') {
      await form.screenshot({ path: 'screenshots/recall-order.png' });
      await form.getByRole('button', { name: 'Move down' }).first().focus();
      await page.keyboard.press('Alt+ArrowDown');
      await expect(form.locator('.tfkit-p-read')).toContainText('Line 2 of');
    } else if (kind === 'text') {
      await page.keyboard.type('1');
    } else {
      await page.keyboard.press('Space');
    }
    await form.getByRole('button', { name: 'Answer' }).focus();
    await page.keyboard.press('Enter');
    const told = form.getByRole('status');
    await expect(told).toContainText(/✓ Right|≠ Not this time/);
    if (kind === 'radio') {
      await expect(form.locator('.tfkit-c-marked')).toContainText('your answer'); // the options stay
    }
    await expect(form.getByRole('button', { name: n < 3 ? 'Next' : 'Done' })).toBeFocused();
    await expect(form).toContainText('Read again:');
    await accessible(page, '.tfkit-recall');
    await form.screenshot({ path: `screenshots/recall-told-${n}.png` });
    await page.keyboard.press('Enter');
  }
  await expect(form).toHaveCount(0);
  const output = page.locator('.jp-Cell').nth(1).locator('.jp-Cell-outputArea');
  await expect(output.locator('.tfkit-c-list > li')).toHaveCount(3);
  await accessible(page, '.tfkit-recall');
  await command(page, 'application:toggle-left-area');
  await page.setViewportSize({ width: 390, height: 900 });
  await output.screenshot({ path: 'screenshots/recall-ended-narrow.png' });
  await page.setViewportSize({ width: 1360, height: 1000 });
  await command(page, 'notebook:run-cell'); // again: what came of them, and no new questions
  await expect(output.locator('.tfkit-c-list > li')).toHaveCount(3);
  await command(page, 'tfkit:home');
  const section = page.locator('#tfkit-home').getByRole('region', { name: 'From earlier units' });
  await expect(section).toContainText('The next question comes back on');
  await accessible(page, '.tfkit-Recall');
  await section.screenshot({ path: 'screenshots/recall-home.png' });
});
