const { expect, test } = require('@playwright/test');
const { accessible, activate, command, keeps, lab, prints, shot, theme } = require('../helpers');

const view = page => page.locator('.tfk:visible').first();

test('another token is taken by the kernel, and both runs are walked together, saved, and seen again without it', async ({
  page
}) => {
  await lab(page, 'branch.ipynb');
  await activate(page, 0);
  await command(page, 'notebook:run-cell');
  const take = view(page).getByRole('button', { name: /^Take .* instead$/ });
  await expect(take.first()).toBeVisible({ timeout: 60000 });
  await view(page).getByRole('button', { name: 'Step forward', exact: true }).click();
  const name = (await take.nth(1).getAttribute('aria-label')).match(/^Take (.*) instead$/)[1];
  await take.nth(1).click();
  await expect(view(page).getByRole('button', { name: 'First difference: step 2' })).toBeVisible({ timeout: 30000 });
  await view(page).getByRole('button', { name: 'First difference: step 2' }).click();
  await expect(view(page).locator('[role=status]')).toHaveText(/B chosen by hand \(the runs diverge here\)/);
  await expect(view(page).locator('.tfk-parting').nth(1)).toHaveText(name);
  await prints(page, 1, new RegExp(`'${name}'\\]`));
  await view(page).scrollIntoViewIfNeeded();
  await shot(page, 'branch');
  await accessible(page, '.tfk');
  await keeps(page, { step: 1, other: { kind: 'decoding' } });
  await command(page, 'docmanager:save');
  await command(page, 'kernelmenu:shutdown');

  await lab(page, 'branch.ipynb');
  await expect(view(page).getByRole('button', { name: 'First difference: step 2' })).toBeVisible();
  await expect(take).toHaveCount(0); // there is no kernel to ask
  await theme(page, 'Dark');
  await shot(page, 'branch-reopened-dark');
});

test('another prompt is decoded, and what cannot be is told', async ({ page }) => {
  await lab(page, 'branch.ipynb');
  await activate(page, 0);
  await command(page, 'notebook:run-cell');
  const prompt = view(page).getByLabel('Another prompt').first();
  await prompt.fill('a bird');
  await view(page).getByRole('button', { name: 'Decode' }).click();
  await expect(view(page).locator('[role=log]')).toContainText("ValueError: 'bird' is not in list");
  await prompt.fill('a dog');
  await prompt.press('Enter');
  await expect(view(page).locator('h3')).toHaveText('a dog', { timeout: 30000 });
});
