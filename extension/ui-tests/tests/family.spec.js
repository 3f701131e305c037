const { expect, test } = require('@playwright/test');
const { accessible, command, lab, shot } = require('../helpers');

test('the family tree shows what a child changes in its parent, and the status bar how far one is', async ({
  page
}) => {
  await lab(page);
  const progress = page.locator('.tfkit-Progress button');
  await expect(progress).toHaveText(/^Course \d\/\d$/);
  await command(page, 'tfkit:family');
  const family = page.locator('.tfkit-Family');
  const roberta = family.getByRole('button', { name: 'roberta', exact: true });
  await expect(roberta).toBeVisible({ timeout: 30000 });
  await roberta.click();
  await expect(family.getByRole('group', { name: 'Anatomy' })).toContainText('≠ changed', { timeout: 120000 });
  await expect(family.getByRole('group', { name: 'Anatomy' }).locator('h3')).toHaveText('bert → roberta');
  await shot(page, 'family');
  await accessible(page, '.tfkit-Family', '.tfkit-Progress');
  await progress.click();
  await expect(page.locator('#tfkit-course')).toBeVisible();
});
