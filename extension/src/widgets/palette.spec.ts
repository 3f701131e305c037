import { afterEach, describe, expect, it, vi } from 'vitest';
import { onTheme, palette } from './palette';

const light = ([r, g, b]: number[]): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** A sheet that gives the dark theme other colours. */
function dark(): void {
  const sheet = document.createElement('style');
  sheet.textContent =
    'body[data-jp-theme-light="false"]{--tfk-void:#131a21;--tfk-seq-lo:#26323d;--tfk-seq-mid:#29879d;--tfk-seq-hi:#fff0b8}';
  document.head.append(sheet);
  document.body.dataset.jpThemeLight = 'false';
}

afterEach(() => {
  document.head.replaceChildren();
  delete document.body.dataset.jpThemeLight;
});

describe('the palette', () => {
  it('goes from the first token through the second to the third', () => {
    const { sequential } = palette();
    expect(sequential[0]).toEqual([0xe3, 0xed, 0xf0]);
    expect(sequential[255]).toEqual([0x14, 0x2c, 0x63]);
    expect(sequential[127]).toEqual([0x55, 0xa9, 0xb5].map(c => expect.closeTo(c, -0.4)));
  });

  it('is that of the theme: in the dark much is light', () => {
    dark();
    const { sequential, none } = palette();
    expect(none).toEqual([0x13, 0x1a, 0x21]);
    const tones = [0, 64, 128, 192, 255].map(level => light(sequential[level]));
    expect(tones).toEqual([...tones].sort((a, b) => a - b));
  });

  it('follows the system where that forces its colours', async () => {
    const change = { handlers: [] as (() => void)[], matches: false };
    vi.resetModules();
    vi.stubGlobal('matchMedia', () => ({
      get matches() {
        return change.matches;
      },
      addEventListener: (_: string, handler: () => void) => change.handlers.push(handler),
      removeEventListener: () => change.handlers.pop()
    }));
    const fresh = await import('./palette');
    const [draw, before] = [vi.fn(), fresh.palette().name];
    const end = fresh.onTheme(draw);
    change.matches = true;
    change.handlers.forEach(handler => handler());
    expect(draw).toHaveBeenCalled();
    expect(fresh.palette().name).not.toBe(before);
    end();
    expect(change.handlers).toEqual([]);
    vi.unstubAllGlobals();
  });

  it('has views drawn anew when the theme changes, until they are gone', async () => {
    const draw = vi.fn();
    const end = onTheme(draw);
    document.body.dataset.jpThemeLight = 'true';
    await Promise.resolve();
    await new Promise(resolve => setTimeout(resolve));
    expect(draw).toHaveBeenCalledTimes(1);
    end();
    document.body.dataset.jpThemeLight = 'false';
    await new Promise(resolve => setTimeout(resolve));
    expect(draw).toHaveBeenCalledTimes(1);
  });
});
