/** The style of the page to play with, on the tokens of autograder/feedback/tokens.css. */
import { FRAME, SCALES } from '../generated/tokens';
import { colourRules } from '../widgets/scales';

export const PLAY_CSS = `
${FRAME}${SCALES}${colourRules().replace(/\.tfk /g, '.play ')}
.play{--hot:var(--tfk-accent);--line:var(--tfk-line-strong);color:var(--tfk-ink);background:var(--tfk-card);font:15px/1.45 var(--tfk-font-ui);
border:1px solid var(--tfk-line);border-radius:var(--tfk-r3);padding:20px;container-type:inline-size;
:focus-visible{outline:2px solid var(--hot);outline-offset:2px}
button{font:inherit;color:inherit;background:var(--tfk-sunk);border:1px solid var(--line);border-radius:999px;padding:4px 14px;min-height:32px;cursor:pointer}
button:hover{border-color:var(--hot)}
h3{font-size:18px;margin:0;padding:0}
.play-lead,.play-note{color:var(--tfk-ink-soft);font-size:14px;margin:2px 0 10px}
.play-ask{display:flex;gap:12px;align-items:end;flex-wrap:wrap}
.play-label{flex:1 1 320px;span{display:block;font-weight:640;margin-bottom:4px}}
.play-text{box-sizing:border-box;width:100%;font:500 20px/1.4 var(--tfk-font-ui);color:inherit;background:var(--tfk-card);border:2px solid var(--hot);border-radius:10px;padding:9px 14px}
.play-write{background:var(--hot);color:var(--tfk-on-accent);border-color:var(--hot);font-weight:640;min-height:48px;min-width:8.5em;border-radius:10px}
.play-examples{display:flex;gap:8px;list-style:none;margin:12px 0 0;padding:0 0 6px;flex-wrap:wrap;button{font-size:13.5px;padding:3px 12px;text-align:left}}
.play-parts{display:grid;gap:24px 32px;margin-top:20px;grid-template-columns:minmax(0,1fr)}
.play-two{display:grid;gap:16px 28px;grid-template-columns:minmax(0,1fr)}
.play-sentence{position:relative;padding-top:40px;min-height:76px}
.play-lines{position:absolute;inset:0;width:100%;height:100%;overflow:visible;pointer-events:none;path{fill:none;stroke:var(--tfk-c1)}}
.play-tokens{display:flex;flex-wrap:wrap;gap:34px 4px;list-style:none;margin:0 0 8px;padding:0;
button{font:500 15px/1.4 var(--tfk-font-code);border-radius:7px;padding:3px 7px;min-width:26px;border-color:transparent;
background:color-mix(in oklab,var(--tfk-c1) calc(var(--weight)*.45),var(--tfk-sunk))}
button[aria-pressed=true]{outline:2px solid var(--tfk-ink);outline-offset:1px;border-color:var(--tfk-ink)}}
.play-later button{border-style:dashed;border-color:var(--tfk-line);background:none;color:var(--tfk-ink-soft)}
.play-heads{display:grid;grid-template-columns:auto repeat(4,minmax(24px,auto));gap:6px;align-items:center;justify-content:start;align-self:start;
span{font-size:12px;color:var(--tfk-ink-soft);padding-right:4px}
button{padding:3px;border-radius:6px;line-height:0;min-height:0;background:var(--tfk-card)}
button[aria-pressed=true]{outline:2px solid var(--tfk-ink);outline-offset:1px}
canvas{width:100%;max-width:44px;aspect-ratio:1;image-rendering:pixelated;color:var(--tfk-c1);background:var(--tfk-sunk)}}
.play-bars{list-style:none;margin:0;padding:0;
button{display:grid;grid-template-columns:minmax(5.5em,8em) 1fr 4.4em;gap:10px;align-items:center;width:100%;border:1px solid transparent;background:none;border-radius:7px;padding:2px 6px;min-height:30px;text-align:left}
button:hover{background:var(--tfk-sunk)}
b{font:600 15px/1.3 var(--tfk-font-code);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
span{font-variant-numeric:tabular-nums;text-align:right}
.play-track{height:12px;background:var(--tfk-track);border-radius:6px;overflow:hidden;text-align:left}
i{display:block;height:100%;background:var(--tfk-c2);border-radius:6px}
.play-out{color:var(--tfk-ink-soft);b{text-decoration:line-through}}}
.play-sliders{display:grid;gap:2px;margin-top:10px;
label{display:grid;grid-template-columns:6.6em 1fr 2.8em;gap:10px;align-items:center;font-size:14px}
input{width:100%;min-width:0;accent-color:var(--hot);height:28px;margin:0}output{font-variant-numeric:tabular-nums;text-align:right}}
.play-lens{min-width:0}${[1, 2, 3, 4].map(ink => `.tfk-on-${ink}{color:var(--tfk-on-${ink})}`).join('')}
.play-scroll{overflow:auto;position:relative;border-radius:8px}
table{border-collapse:separate;border-spacing:2px;margin:0;font-size:13px;width:max-content;min-width:min(100%,640px)}
td,th{border:0;padding:4px 6px;text-align:center;border-radius:4px;white-space:nowrap;font-weight:500;font-family:var(--tfk-font-code)}
tr>:first-child{box-shadow:0 0 0 2px var(--tfk-card)}
thead td{position:sticky;left:0;background:var(--tfk-card);z-index:1}
tbody th{position:sticky;left:0;background:var(--tfk-card);font:13px var(--tfk-font-ui);color:var(--tfk-ink-soft);text-align:left;z-index:1}
.play-scroll+.play-note{margin-top:8px}
td.play-here{box-shadow:inset 0 0 0 2px var(--tfk-ink)}
.tfk-sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);margin:0}
[hidden]{display:none}
button[aria-pressed=true]:focus-visible{outline:3px solid var(--hot);outline-offset:3px}
@container(min-width:560px){.play-two{grid-template-columns:minmax(0,1fr) auto}}
@container(min-width:900px){.play-parts{grid-template-columns:minmax(0,1fr) 350px;grid-template-rows:auto 1fr}.play-next{grid-area:1/2/3}}
@container(max-width:560px){.play-write{width:100%}.play-examples{flex-wrap:nowrap;overflow-x:auto;margin-inline:-20px;padding-inline:20px;button{white-space:nowrap}}}
@media(prefers-reduced-motion:no-preference){.play-bars i{transition:width 180ms ease-out}.play-tokens button{transition:background-color 160ms}
.play-lines path{animation:play-in 180ms ease-out}}
@media(forced-colors:active){.play-write,.play-tokens button,.play-bars i,canvas,tbody td{forced-color-adjust:none}.play-bars i{background:Highlight}}
}
@keyframes play-in{from{opacity:0}}
`;
