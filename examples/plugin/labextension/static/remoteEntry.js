/**
 * A JupyterLab plugin without a bundler: the container that module federation asks for, written by hand. It takes the
 * token of the view registry from what @tfkit/lab shares, and adds the view that lies beside this file.
 */
(() => {
  const here = document.currentScript.src;
  let shared;
  const use = async name => {
    const versions = Object.values(shared[name]);
    return (await versions[versions.length - 1].get())();
  };
  const get = async () => {
    const [{ ITraceViews }, { mount }] = await Promise.all([use('@tfkit/lab'), import(new URL('bag.js', here).href)]);
    const plugin = {
      id: 'tfkit-example:views',
      description: 'Adds the view of bags of words.',
      autoStart: true,
      requires: [ITraceViews],
      activate: (_app, views) => views.add({ name: 'bag of words', accepts: kind => kind === 'bag', mount })
    };
    return () => ({ __esModule: true, default: plugin });
  };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB['tfkit-example'] = { init: scope => (shared = scope), get };
})();
