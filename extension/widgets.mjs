/** Bundles each view, each other widget and what pages load when it is asked for, as modules of their own: tfkit_lab/static/<name>.js; and the page to play with. */
import { build } from 'esbuild';
import { kinds } from './schemas.mjs';

const options = {
  bundle: true,
  minify: true,
  mangleProps: /^_[a-z]/, // of our own: what is private begins so
  legalComments: 'none',
  charset: 'utf8', // without it each sign beyond ASCII takes six bytes
  target: 'es2020',
  outdir: 'tfkit_lab/static'
};
await build({
  ...options,
  entryPoints: Object.fromEntries(
    ['model', 'ordering', 'points', 'prediction', 'recall', 'sharing', ...kinds].map(name => [
      name,
      `src/widgets/${name}.ts`
    ])
  ),
  format: 'esm'
});
// a page on disk may import no module: this one is a plain script
await build({ ...options, entryPoints: { play: 'src/play/site.ts' }, format: 'iife' });
