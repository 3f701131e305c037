import { defineConfig } from 'vitest/config';

// the time ends a test that hangs; on a busy machine one that computes for a second may take many
const testTimeout = 60_000;

export default defineConfig({
  test: { include: ['src/**/*.spec.ts'], environment: 'happy-dom', testTimeout, hookTimeout: testTimeout }
});
