const { join } = require('node:path');
const tests = require('../playwright.config');

// started by `python docs/pictures.py`, which says where the pictures go
module.exports = {
  ...tests,
  testDir: '.',
  testMatch: 'pictures.spec.js',
  outputDir: '../.tmp/pictures',
  timeout: 240000,
  retries: 0,
  use: { ...tests.use, actionTimeout: 60000 },
  webServer: { ...tests.webServer, cwd: join(__dirname, '..') }
};
