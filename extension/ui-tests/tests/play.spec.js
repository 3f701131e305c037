/** The page to play with, which is the first of the course in a tab: from disk, with nothing from elsewhere. */
const { expect, test } = require('@playwright/test');
const { accessible, excessWidth, openPage, plated } = require('../helpers');

for (const colorScheme of ['light', 'dark']) {
  test(`a sentence is read while it is typed, by keyboard, from disk (${colorScheme})`, async ({ page }) => {
    const asked = [];
    page.on('request', request => asked.push(request.url()));
    page.on('pageerror', error => asked.push(String(error)));
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await openPage(page, 'play/index.html');
    await expect(page.getByRole('link', { name: 'Start the course in this tab' })).toHaveAttribute(
      'href',
      'lab/index.html'
    );
    const text = page.getByRole('textbox', { name: 'Type a sentence' });
    const first = page.locator('.play-bars button').first();
    await expect(first).toContainText('Rome');
    await text.fill('');
    await text.pressSequentially('The opposite of hot is');
    await expect(first).toContainText('cold');
    await expect(page.locator('[role=status]')).toHaveText(/^Next: cold \d+ %/);
    await expect(page.locator('.play-tokens li')).toHaveCount(6);
    await page.locator('.site-play').screenshot({ path: `screenshots/play-${colorScheme}.png` });
    const share = async () => parseFloat((await first.locator('span').last().textContent()) || '');
    const before = await share();
    const temperature = page.getByRole('slider', { name: 'Temperature' });
    await temperature.press('End');
    expect(await share()).toBeLessThan(before);
    await temperature.press('Home');
    expect(await share()).toBe(100);
    await page.locator('.play-tokens [aria-pressed=true]').press('ArrowLeft');
    await expect(page.locator('.play-tokens [aria-pressed=true]')).toBeFocused();
    await expect(page.locator('.play-tokens [aria-pressed=true]')).toHaveText('hot');
    await page.getByRole('button', { name: 'layer 3, head 2' }).press('Enter');
    await expect(page.locator('.play-attention .play-note')).toHaveText(/^Layer 3, head 2: “hot” looks at /);
    await first.press('Enter');
    await expect(text).toHaveValue('The opposite of hot is cold');
    await accessible(page);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await excessWidth(page)).toBe(0);
    await page.screenshot({ path: `screenshots/play-narrow-${colorScheme}.png`, fullPage: true });
    await page.emulateMedia({ forcedColors: 'active', colorScheme });
    await accessible(page);
    expect(await plated(page)).toEqual([]);
    await page.screenshot({ path: `screenshots/play-forced-colours-${colorScheme}.png`, fullPage: true });
    expect(asked.filter(url => !url.startsWith('file:') && !url.startsWith('data:'))).toEqual([]);
  });
}
