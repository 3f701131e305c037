// Plays the run of the first page, again and again, until somebody takes hold of it or asks for less motion.
(() => {
  const STEP_MS = 1400;
  const REST_MS = 3600; // on the last step, before it begins anew
  const still = matchMedia('(prefers-reduced-motion: reduce)');
  document.addEventListener('site:view', event => {
    const el = event.target;
    if (!el.closest('.land-film')) {
      return;
    }
    const button = document.querySelector('.land-pause');
    const slider = () => el.querySelector('input[type=range]');
    let timer = 0;
    const show = () => {
      button.textContent = timer ? 'Pause' : 'Play';
      button.setAttribute('aria-pressed', String(!timer));
      // what changes by itself must not be read aloud at each step
      el.querySelectorAll('[aria-live]').forEach(live => live.setAttribute('aria-live', timer ? 'off' : 'polite'));
    };
    const stop = () => {
      clearTimeout(timer);
      timer = 0;
      show();
    };
    const go = () => {
      const range = slider();
      const last = Number(range.value) >= Number(range.max);
      range.value = String(last ? 0 : Number(range.value) + 1);
      range.dispatchEvent(new Event('input'));
      timer = setTimeout(go, Number(range.value) >= Number(range.max) ? REST_MS : STEP_MS);
    };
    const play = () => {
      timer = setTimeout(go, STEP_MS);
      show();
    };
    button.hidden = false;
    button.onclick = () => (timer ? stop() : play());
    el.addEventListener('pointerdown', stop);
    el.addEventListener('keydown', stop);
    document.addEventListener('visibilitychange', () => document.hidden && stop());
    if (still.matches) {
      stop();
    } else {
      play();
    }
  });
})();
