// Reads the page again and replaces what has changed, so that focus and scroll positions stay.
(() => {
  const EVERY_MS = 30000;
  const main = document.querySelector('main');
  const late = Object.assign(document.createElement('p'), { role: 'status' });
  let shown = main.innerHTML;
  let at = new Date();
  main.append(late);

  const name = node => node.getAttribute('aria-label');
  const boxes = () => [...main.querySelectorAll('.scroll')];

  function show(html) {
    const focused = main.contains(document.activeElement) && name(document.activeElement);
    const across = new Map(boxes().map(box => [name(box), box.scrollLeft]));
    main.innerHTML = shown = html;
    main.append(late);
    for (const box of boxes()) {
      box.scrollLeft = across.get(name(box)) ?? 0;
      if (name(box) === focused) {
        box.focus({ preventScroll: true });
      }
    }
  }

  async function read() {
    const answer = await fetch(location.href, { redirect: 'error' }); // a redirect leads to the Hub's login page
    if (!answer.ok) {
      throw new Error(answer.status);
    }
    return new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main').innerHTML;
  }

  setInterval(async () => {
    try {
      const html = await read();
      at = new Date();
      late.textContent = '';
      if (html !== shown) {
        show(html);
      }
    } catch {
      late.textContent = `The service has not answered since ${at.toLocaleTimeString()}: load the page again.`;
    }
  }, EVERY_MS);
})();
