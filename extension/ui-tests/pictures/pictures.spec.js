/** The pictures of the documentation: the gallery's views, and the instructor's pages with a mock class. */
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { command, lab, language } = require('../helpers');

const FOLDER = process.env.PICTURES || 'screenshots';
const GALLERY = `file://${join(__dirname, '../../../docs/gallery.html')}`;
const to = name => ({ path: join(FOLDER, `${name}.png`) });

// titles in the gallery, and the names of their pictures
const BOTH = {
  'MiniLM reads a sentence': 'attention',
  'SmolLM2, layer by layer': 'lens',
  'From Madrid back to Rome': 'patching',
  'One step of a small GPT-2': 'walk'
};
const LIGHT = {
  'SmolLM2 completes a sentence': 'stepper',
  'Who said Rome?': 'contributions',
  'Attention, masked too late': 'walk-own-code',
  'Greedy, and a sample': 'stepper-two-runs',
  'Transformer-XL: memory': 'memory',
  'Longformer: window and global': 'window',
  'Reformer: chunks and buckets': 'buckets',
  'XLNet, in a chosen order': 'two-streams',
  'A mask kept, and one forgotten': 'masks',
  Positions: 'positions',
  'What is to be learned': 'corruption',
  Retrieval: 'retrieval',
  Training: 'training',
  'bert-base-uncased → roberta-base': 'anatomy'
};

for (const [scheme, titles] of [
  ['light', { ...BOTH, ...LIGHT }],
  ['dark', BOTH]
]) {
  test(`the gallery's views, ${scheme}`, async ({ browser }) => {
    const page = await browser.newPage({ viewport: { width: 1180, height: 2600 }, colorScheme: scheme });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.goto(GALLERY);
    for (const [title, name] of Object.entries(titles)) {
      const view = page.locator('.tfk', { has: page.getByRole('heading', { name: title, exact: true }) });
      await view.scrollIntoViewIfNeeded();
      await expect(view).toBeVisible();
      await page.waitForTimeout(300); // maps are unpacked
      await view.screenshot(to(title in BOTH ? `${name}-${scheme}` : name));
    }
  });
}

test("the instructor's pages", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 760 });
  await lab(page);
  await command(page, 'application:toggle-left-area');
  await command(page, 'tfkit:class-page');
  const panel = page.locator('#tfkit-class');
  await expect(panel.locator('.tfkit-Live tbody tr').first()).toBeVisible();
  await expect(panel.locator('.tfkit-Predictions')).toContainText('How many parameters');
  await page.setViewportSize({ width: 1360, height: 720 });
  await panel.screenshot(to('class-live'));
  await page.setViewportSize({ width: 1280, height: 760 });
  await command(page, 'tfkit:marking');
  const marking = page.locator('#tfkit-marking');
  await expect(marking.locator('.tfkit-Group math').first()).toBeVisible();
  // what is so of the tests' folder alone, with its path
  const failed = marking.getByText('has no nbgrader_config.py');
  const away = node => [node.previousElementSibling, node].forEach(one => one.remove());
  await failed.evaluate(away);
  await marking.screenshot(to('marking'));
  await marking.getByRole('button', { name: 'Regrade requests' }).click();
  await expect(marking.locator('.tfkit-Request')).toHaveCount(2);
  if (await failed.count()) {
    await failed.evaluate(away);
  }
  await marking.screenshot(to('marking-requests'));
});

test('the class page in French', async ({ page }) => {
  await page.setViewportSize({ width: 1360, height: 900 });
  await lab(page);
  await language(page, 'fr_FR');
  try {
    await lab(page);
    await command(page, 'application:toggle-left-area');
    await command(page, 'tfkit:class-page');
    const panel = page.locator('#tfkit-class');
    await expect(panel.locator('.tfkit-Live tbody tr').first()).toBeVisible();
    await expect(panel.locator('.tfkit-Predictions')).toContainText('How many parameters');
    await panel.screenshot(to('class-live-fr'));
  } finally {
    await language(page, 'en');
  }
});
