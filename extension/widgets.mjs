/** Bundles each view, each other widget and what pages load when it is asked for, as modules of their own: tfkit_lab/static/<name>.js. */
import { build } from 'esbuild';
import { kinds } from './schemas.mjs';

await build({
  entryPoints: Object.fromEntries(
    ['model', 'prediction', 'sharing', ...kinds].map(name => [name, `src/widgets/${name}.ts`])
  ),
  bundle: true,
  minify: true,
  mangleProps: /^_[a-z]/, // of our own: what is private begins so
  legalComments: 'none',
  charset: 'utf8', // without it each sign beyond ASCII takes six bytes
  format: 'esm',
  target: 'es2020',
  outdir: 'tfkit_lab/static'
});
