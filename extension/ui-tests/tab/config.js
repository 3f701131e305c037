const { defineConfig } = require('@playwright/test');

// TFKIT_SITE: a site with unit 02 that `python -m course.build … --lite SITE --pyodide FOLDER` wrote
const site = process.env.TFKIT_SITE;

module.exports = defineConfig({
  testDir: '.',
  timeout: 900000,
  expect: { timeout: 300000 }, // Python is loaded into the page, on a busy machine too
  workers: 1,
  outputDir: '../.tmp/tab',
  reporter: 'list',
  use: {
    baseURL: 'http://127.0.0.1:8898',
    viewport: { width: 1280, height: 900 },
    launchOptions: { executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] }
  },
  webServer: site && {
    command: `python3 -m http.server 8898 --bind 127.0.0.1 --directory "${site}"`,
    url: 'http://127.0.0.1:8898/jupyter-lite.json',
    stderr: 'ignore' // a line for each request
  }
});
