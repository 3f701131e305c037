/**
 * One style sheet for lab, exported page and static host, on the tokens of autograder/feedback/tokens.css, which are included.
 * In a low window, as one is at a zoom of 200 %, a box that scrolls sideways does not scroll down too: the page does.
 */
import { FRAME, SCALES } from '../generated/tokens';

export const CSS = `
${FRAME}
.tfk{--ink:var(--tfk-ink);--soft:var(--tfk-ink-soft);--paper:var(--tfk-card);
--box:var(--tfk-sunk);--line:var(--tfk-line-strong);--hot:var(--tfk-accent);--mono:var(--jp-code-font-family,monospace);container-type:inline-size;
color:var(--ink);background:var(--paper);font:var(--tfk-t2)/1.45 var(--tfk-font-ui);padding:var(--tfk-s3) var(--tfk-s4);max-width:1200px;
box-sizing:border-box;border:1px solid var(--tfk-line);border-radius:var(--tfk-r2);position:relative;forced-color-adjust:none;
h3{font-size:var(--tfk-t4);line-height:1.3;font-weight:640;margin:0 0 var(--tfk-s2);overflow-wrap:anywhere}
h4{font-size:var(--tfk-t2);font-weight:640;margin:0 0 var(--tfk-s1)}
button,select{color:inherit;background:var(--box);border:1px solid var(--line);border-radius:6px;padding:3px 8px;
min-height:28px;font:inherit;cursor:pointer;transition:border-color var(--tfk-quick),background-color var(--tfk-quick)}
button:hover:not([aria-disabled=true]),select:hover{border-color:var(--hot)}
button:disabled,button[aria-disabled=true]{opacity:.45;cursor:default}
:focus-visible,&:focus-visible{outline:2px solid var(--hot);outline-offset:1px}
:is(button,summary,[tabindex]){scroll-margin-top:7em}
.tfk-bar{display:flex;gap:6px;align-items:center;flex-wrap:wrap;margin-bottom:var(--tfk-s2)}.tfk-bar:empty{display:none}
.tfk-bar svg{vertical-align:-2px}
label{display:inline-flex;gap:4px;align-items:center}
[role=toolbar]{position:sticky;top:0;z-index:1;background:var(--paper);padding:2px 0}
.tfk-toks{font-family:var(--mono);line-height:1.9;max-height:7.6em;overflow:auto;margin:0 0 8px;padding:0;list-style:none;
li{display:inline-block;padding:0 6px;border-radius:5px;background:var(--box);margin-right:4px;line-height:1.6;border:1px solid transparent}
.tfk-source{background:none;border-color:var(--line)}
.tfk-now{background:var(--hot);color:var(--tfk-on-accent);border-color:var(--hot);font-weight:700}
.tfk-forced{background:none;border:1px dashed var(--ink)}.tfk-parting{outline:3px double var(--ink);outline-offset:1px}}
.tfk-row{display:flex;gap:20px;flex-wrap:wrap;align-items:flex-start}
canvas{image-rendering:pixelated;display:block;outline:1px solid var(--tfk-line);border-radius:2px}
canvas.tfk-ahead{background:repeating-linear-gradient(135deg,var(--tfk-void) 0 4px,var(--tfk-hatch) 4px 5px)}
table{border-collapse:collapse;color:inherit;font-size:12px;border:0;margin:0}
td,th{padding:1px 8px 1px 0;text-align:left;font-variant-numeric:tabular-nums;font-weight:400;border:0;background:none}
thead th,caption{color:var(--soft);text-align:left}
th[scope=row]{font-family:var(--mono)}
tr.tfk-chosen th[scope=row]{font-weight:700}
.tfk-p{display:inline-block;height:.8em;background:var(--tfk-c1);min-width:1px;border-radius:2px;vertical-align:-.05em}
tr.tfk-chosen .tfk-p{background:var(--tfk-c2)}
@container(max-width:360px){.tfk-next :is(td,th):nth-child(3){display:none}.tfk-next :is(td,th){padding-right:5px}}
.tfk-note{color:var(--soft);font-size:var(--tfk-t1);margin:4px 0 0}
.tfk-row>*{min-width:0;max-width:100%}.tfk-row .tfk-note{max-width:250px}.tfk-row>:empty{display:none}
.tfk-tree{overflow:auto;max-height:min(70vh,480px);max-width:100%;border:1px solid var(--tfk-line);border-radius:6px;padding:4px;box-sizing:border-box}
@media(max-height:500px){.tfk-tree{max-height:none}}
.tfk-tree{>svg{display:block;max-width:none}
text{fill:var(--ink);font:11px var(--mono)}text.tfk-lit{fill:var(--ink);text-decoration:underline;outline:2px solid var(--hot)}
circle{fill:var(--hot);stroke:var(--hot)}path{fill:none;stroke:var(--line)}
.tfk-dropped{circle{fill:none;stroke:var(--line);stroke-dasharray:2 2}text{fill:var(--soft)}}
.tfk-finished circle{stroke:var(--ink);stroke-width:3}
.tfk-best text{font-weight:700}path.tfk-best{stroke:var(--hot);stroke-width:2.5}}
input{color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:3px;font:inherit;padding:3px 6px}
input,select{forced-color-adjust:auto}input[type=number]{width:4em}input[type=range]{padding:0}[aria-pressed=true]{outline:2px solid var(--hot)}
[aria-pressed=true]:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
form{display:inline-flex;gap:6px;align-items:center}form input{min-width:16em}
td button{min-height:0;padding:0 6px;font-size:11px}
.tfk-cut,.tfk-cut th{color:var(--soft);text-decoration:line-through}
.tfk-panes{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:20px}
.tfk-pane>*,.tfk-pane section{min-width:0;max-width:100%}section{margin-bottom:var(--tfk-s3)}
.tfk-which{margin:4px 0}.tfk-scroll{overflow:auto;max-width:100%;margin-bottom:4px}
.tfk-strip{display:block;cursor:pointer;overflow:visible;rect{fill:var(--tfk-bar);transition:fill var(--tfk-quick)}.tfk-current{fill:var(--hot)}
text{fill:var(--soft);font-size:10px;text-anchor:middle}.tfk-mark{fill:var(--ink);font-size:11px}line{stroke:var(--tfk-line)}}
.tfk-labelled{display:flex;gap:8px;margin-bottom:var(--tfk-s1)}.tfk-labelled .tfk-note{flex:0 0 9em;margin:0;line-height:1.25;align-self:center}
.tfk-ends{display:grid;align-content:space-between;text-align:right;font-size:10px;line-height:1;color:var(--soft);min-width:2.2em;height:44px;margin-top:7px}.tfk-labelled .tfk-scroll{min-width:0}
.tfk-two .tfk-row .tfk-note{max-width:none}.tfk-two .tfk-map>.tfk-note{width:0;min-width:100%}.tfk-two .tfk-labelled{display:grid;grid-template:auto/auto 1fr;width:100%}.tfk-two .tfk-labelled .tfk-note{grid-column:1/-1}
@container(max-width:480px){.tfk-labelled{display:grid;grid-template:auto/auto 1fr;width:100%}.tfk-labelled .tfk-note{grid-column:1/-1}}
.tfk-panes>*{container-type:inline-size}
@container(min-width:820px){.tfk-pane{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 20px;align-items:start}.tfk-pane>*{grid-column:1/-1}
.tfk-pane>section:not([hidden]){grid-column:2}.tfk-row:has(+section:not([hidden])){grid-column:1}}
.tfk-zoom{position:sticky;left:0;top:0;display:inline-flex;gap:4px}
.tfk-cache text{fill:var(--ink);font:10px var(--mono)}
.tfk-cache rect{fill:var(--box);stroke:var(--line)}.tfk-cache .tfk-moved{fill:var(--tfk-bar);stroke:var(--ink)}
.tfk-cache .tfk-new{fill:var(--hot);stroke:var(--hot)}[hidden]{display:none}
.tfk-lit{background:var(--tfk-lit)!important;color:var(--tfk-on-lit)!important;outline:2px solid var(--tfk-on-lit);outline-offset:-1px}
.tfk-lit:focus-visible{outline:3px solid var(--hot);outline-offset:2px}
.tfk-framed{display:flex;align-items:flex-end}.tfk-map .tfk-framed{overflow:auto}
.tfk-axis{display:flex;font:10px/1 var(--mono);color:var(--soft)}
.tfk-axis span{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.tfk-axis-rows{flex:none;flex-direction:column;padding:1px 4px 0 0;max-width:12ch;overflow:hidden;text-align:right;position:sticky;left:0;background:var(--paper)}
.tfk-axis-cols{padding:0 0 3px 1px;align-items:flex-end}
.tfk-axis-cols span{writing-mode:vertical-rl;transform:rotate(180deg);max-height:12ch}.tfk-axis-cols .tfk-upright{transform:none}
.tfk-share{display:inline-flex;gap:4px;float:right;margin:-2px 0 0 8px}
.tfk-share button{background:none;border-color:transparent;color:var(--soft);padding:2px 6px;min-height:24px;font-size:12px}
.tfk-share button:hover,.tfk-share button:focus-visible{border-color:var(--line);color:var(--ink)}
details{margin-top:4px}summary{padding:3px 0;min-height:24px;box-sizing:border-box}.tfk-sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
&[aria-busy=true]{overflow:clip}&[aria-busy=true] .tfk-panes{opacity:.45}
&[aria-busy=true]::after{content:"";position:absolute;left:0;top:0;height:3px;width:100%;background:linear-gradient(90deg,transparent,var(--hot),transparent)}
.tfk-panes{transition:opacity var(--tfk-quick)}
@media(prefers-reduced-motion:no-preference){&[aria-busy=true]::after{animation:tfk-wait 1.2s linear infinite}
.tfk-pane .tfk-p{animation:tfk-grow 240ms ease-out}.tfk-toks .tfk-now{animation:tfk-pop 240ms ease-out}
.tfk-tree .tfk-arrived{animation:tfk-show 320ms ease-out}}
@media(prefers-reduced-motion:reduce){*{transition:none!important}}
@media(pointer:coarse){button,select,td button{min-height:32px;min-width:32px}}
}
@keyframes tfk-wait{from{transform:translateX(-100%)}to{transform:translateX(100%)}}@keyframes tfk-grow{from{width:var(--tfk-from,0)}}@keyframes tfk-pop{from{transform:translateY(-4px);opacity:.2}}@keyframes tfk-show{from{opacity:0}}
.tfk-error{border-left:3px solid var(--jp-error-color1,#b71c1c);padding:4px 8px}
`;

/** For the views other than the stepper: maps with a cursor, many heads, curves, lists and outlines. */
export const PICTURE_CSS = `
${SCALES}
.tfk .tfk-axis-flat span{writing-mode:horizontal-tb;transform:none;overflow:visible}
.tfk .tfk-grid{display:inline-block;max-width:100%;overflow:auto}.tfk .tfk-heads{display:flex;gap:4px;align-items:center;margin-bottom:4px}
.tfk .tfk-overview{max-height:min(60vh,420px);scrollbar-gutter:stable}
@media(max-height:500px){.tfk .tfk-overview{max-height:none}}
.tfk .tfk-heads span{flex:0 0 7em;font-size:11px;overflow-wrap:anywhere}
.tfk .tfk-all{position:relative;display:flex;gap:2px}.tfk .tfk-all canvas{position:absolute;left:3px;top:3px;outline:0}
.tfk .tfk-all button{position:relative;flex:none;box-sizing:border-box;min-height:0;padding:0;background:none}
.tfk .tfk-lines{margin-top:var(--tfk-s4)}.tfk .tfk-lines svg{display:block}.tfk .tfk-lines path{fill:none;stroke:var(--hot);opacity:.16}.tfk .tfk-lines path.tfk-own{opacity:1}
.tfk .tfk-lines text{fill:var(--soft);font:11px var(--mono);cursor:default}.tfk .tfk-lines text[data-side=row]{cursor:pointer}.tfk .tfk-lines text:is(.tfk-own,.tfk-lit){fill:var(--ink);font-weight:700;outline:0}
.tfk .tfk-swatch{display:inline-block;width:.85em;height:.85em;margin-right:5px;border-radius:2px;box-shadow:inset 0 0 0 1px var(--tfk-line);vertical-align:-.1em}
.tfk .tfk-legend{display:flex;flex-wrap:wrap;gap:2px 12px;align-items:center}.tfk .tfk-legend .tfk-swatch[class*=ramp]{margin-right:0}
.tfk .tfk-legend span .tfk-swatch{margin-right:5px!important}.tfk .tfk-ramp-yes{background:var(--tfk-seq-hi)}.tfk .tfk-ramp-no{background:var(--tfk-seq-lo)}
.tfk .tfk-ramp{width:7em;background:linear-gradient(90deg in oklab,var(--tfk-seq-lo),var(--tfk-seq-mid),var(--tfk-seq-hi))}
.tfk .tfk-ramp-signed{width:7em;background:linear-gradient(90deg in oklab,var(--tfk-neg),var(--tfk-zero),var(--tfk-pos))}
.tfk .tfk-curve path{fill:none;stroke:var(--hot);stroke-width:1.3}.tfk .tfk-curve .tfk-here{stroke:var(--ink);stroke-dasharray:3 2}.tfk .tfk-curve .tfk-level{stroke:var(--tfk-line)}
.tfk .tfk-curve circle{fill:var(--hot);stroke:var(--paper)}
.tfk .tfk-curve text{fill:var(--soft);font-size:11px}.tfk .tfk-hot{font-weight:700;text-decoration:underline}
.tfk .tfk-list{display:flex;flex-wrap:wrap;gap:4px;list-style:none;margin:6px 0;padding:0}
.tfk .tfk-anatomy details,.tfk .tfk-part{margin:1px 0 1px 18px}.tfk .tfk-part{padding-left:14px}.tfk .tfk-anatomy summary{cursor:pointer}
.tfk .tfk-size{font-variant-numeric:tabular-nums;margin-left:10px}.tfk .tfk-gone strong{text-decoration:line-through}
.tfk .tfk-new-part strong{text-decoration:underline}
`;
