const { join } = require('node:path');
const tests = require('../playwright.config');

// started by `python docs/pictures.py`, which says where the pictures go
module.exports = {
  ...tests,
  testDir: '.',
  timeout: 600000,
  webServer: { ...tests.webServer, cwd: join(__dirname, '..') }
};
