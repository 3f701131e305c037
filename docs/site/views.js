// Mounts the views of a page, and gives them the page's theme. Loaded once for each view, it runs once.
(() => {
  if (globalThis.siteViewsMounted) {
    return;
  }
  globalThis.siteViewsMounted = true;
  const load = kind => import('data:text/javascript;base64,' + globalThis.siteViews[kind]);
  const system = matchMedia('(prefers-color-scheme: dark)');
  const contrast = matchMedia('(prefers-contrast: more)');
  const theme = () => {
    const chosen = document.body.dataset.theme || 'auto';
    const dark = chosen === 'dark' || (chosen === 'auto' && system.matches);
    document.body.setAttribute('data-jp-theme-light', String(!dark));
    document.body.setAttribute('data-jp-theme-name', contrast.matches ? 'High Contrast' : '');
  };
  theme();
  [system, contrast].forEach(asked => asked.addEventListener('change', theme));
  new MutationObserver(theme).observe(document.body, { attributeFilter: ['data-theme'] });

  const mount = async () => {
    const { RecordedModel, shownPlace, linkTo } = await load('model');
    globalThis[Symbol.for('@tfkit/lab:share')] = { link: linkTo };
    const words = globalThis.siteWords ?? {};
    globalThis[Symbol.for('@tfkit/lab:translate')] = (english, ...values) =>
      (words[english] ?? english).replace(/%(\d)/g, (_, place) => values[place - 1]);
    for (const el of document.querySelectorAll('.site-view')) {
      const state = JSON.parse(el.querySelector('script').textContent);
      const { default: view } = await load(el.dataset.kind);
      const model = new RecordedModel({ ...state, ...shownPlace(el.id) });
      el.replaceChildren();
      view.render({ model, el });
      el.dispatchEvent(new CustomEvent('site:view', { bubbles: true, detail: model }));
    }
    if (globalThis.siteViews.points) {
      (await load('points')).start(document.querySelector('article') ?? document.body);
    }
  };
  document.addEventListener('DOMContentLoaded', mount);
})();
