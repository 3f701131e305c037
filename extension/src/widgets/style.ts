/** One style sheet for lab, exported page and static host, on the tokens of autograder/report/tokens.css, which come along. */
import { FRAME, SCALES } from '../generated/tokens';

export const CSS = `
${FRAME}
.tfk{--ink:var(--tfk-ink);--soft:var(--tfk-ink-soft);--paper:var(--tfk-card);
--box:var(--tfk-sunk);--line:var(--tfk-line-strong);--hot:var(--tfk-accent);container-type:inline-size;
color:var(--ink);background:var(--paper);font:13px/1.4 var(--jp-ui-font-family,system-ui,sans-serif);padding:8px;max-width:1200px}
.tfk h3{font-size:14px;margin:0 0 6px}.tfk h4{font-size:13px;margin:0 0 4px}
.tfk button,.tfk select{color:inherit;background:var(--box);border:1px solid var(--line);border-radius:3px;padding:3px 8px;
min-height:26px;font:inherit}
.tfk button:disabled,.tfk button[aria-disabled=true]{opacity:.45;cursor:default}
.tfk :focus-visible,.tfk:focus-visible{outline:2px solid var(--hot);outline-offset:1px}
.tfk .tfk-bar{display:flex;gap:6px;align-items:center;flex-wrap:wrap;margin-bottom:6px}
.tfk .tfk-bar svg{vertical-align:-2px}
.tfk label{display:inline-flex;gap:4px;align-items:center}
.tfk [role=toolbar]{position:sticky;top:0;z-index:1;background:var(--paper);padding:2px 0}
.tfk .tfk-tree text.tfk-lit{fill:var(--ink);text-decoration:underline;outline:2px solid var(--hot)}
.tfk .tfk-toks{font-family:var(--jp-code-font-family,monospace);line-height:1.9;max-height:7.6em;overflow:auto;margin:0 0 8px;
padding:0;list-style:none}
.tfk .tfk-toks li{display:inline-block;padding:0 4px;border-radius:2px;background:var(--box);margin-right:3px;line-height:1.5}
.tfk .tfk-toks .tfk-source{background:none;border:1px solid var(--line)}
.tfk .tfk-toks .tfk-now{background:none;border:2px solid var(--hot);font-weight:700}
.tfk .tfk-row{display:flex;gap:20px;flex-wrap:wrap;align-items:flex-start}
.tfk canvas{background:#fff;image-rendering:pixelated;border:1px solid var(--line);display:block}
[data-jp-theme-light=false] .tfk canvas,[data-jp-theme-light=false] .tfk .tfk-swatch{filter:invert(1) hue-rotate(180deg)}
.tfk table{border-collapse:collapse;color:inherit;font-size:12px;border:0;margin:0}
.tfk td,.tfk th{padding:1px 8px 1px 0;text-align:left;font-variant-numeric:tabular-nums;font-weight:400;border:0;background:none}
.tfk thead th,.tfk caption{color:var(--soft);text-align:left}
.tfk th[scope=row]{font-family:var(--jp-code-font-family,monospace)}
.tfk tr.tfk-chosen th[scope=row]{font-weight:700}
.tfk .tfk-p{display:inline-block;height:.8em;background:var(--hot);min-width:1px}
.tfk .tfk-note{color:var(--soft);font-size:12px;margin:4px 0 0}
.tfk .tfk-row>*{min-width:0;max-width:100%}.tfk .tfk-row .tfk-note{max-width:min(400px,100%)}
.tfk .tfk-tree{overflow:auto;max-height:min(70vh,480px);max-width:100%;border:1px solid var(--tfk-line);border-radius:6px;padding:4px;box-sizing:border-box}
.tfk .tfk-tree>svg{display:block;max-width:none}
.tfk .tfk-tree text{fill:var(--ink);font:11px var(--jp-code-font-family,monospace)}
.tfk .tfk-tree circle{fill:var(--hot);stroke:var(--hot)}
.tfk .tfk-tree path{fill:none;stroke:var(--line)}
.tfk .tfk-tree .tfk-dropped circle{fill:none;stroke:var(--line);stroke-dasharray:2 2}
.tfk .tfk-tree .tfk-dropped text{fill:var(--soft)}
.tfk .tfk-tree .tfk-finished circle{stroke:var(--ink);stroke-width:3}
.tfk .tfk-tree .tfk-best text{font-weight:700}.tfk .tfk-tree path.tfk-best{stroke:var(--hot);stroke-width:2.5}
.tfk input{color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:3px;font:inherit;padding:3px 6px}
.tfk input[type=number]{width:4em}.tfk input[type=range]{padding:0}.tfk [aria-pressed=true]{outline:2px solid var(--hot)}
.tfk form{display:inline-flex;gap:6px;align-items:center}.tfk form input{min-width:16em}
.tfk td button{min-height:0;padding:0 6px;font-size:11px}
.tfk .tfk-cut,.tfk .tfk-cut th{color:var(--soft);text-decoration:line-through}
.tfk .tfk-panes{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:20px}
.tfk .tfk-pane>*,.tfk .tfk-pane section{min-width:0;max-width:100%}.tfk section{margin-bottom:8px}
.tfk .tfk-which{margin:4px 0}.tfk .tfk-scroll{overflow:auto;max-width:100%;margin-bottom:4px}
.tfk .tfk-toks .tfk-forced{background:none;border:1px dashed var(--ink)}
.tfk .tfk-toks .tfk-parting{outline:3px double var(--ink);outline-offset:1px}
.tfk .tfk-strip rect{fill:var(--line)}.tfk .tfk-strip .tfk-current{fill:var(--hot)}
.tfk .tfk-strip text{fill:var(--ink);font-size:11px}.tfk .tfk-strip{cursor:pointer}
.tfk .tfk-labelled{display:flex;gap:8px;align-items:flex-start}.tfk .tfk-labelled .tfk-note{flex:0 0 7em}.tfk .tfk-labelled .tfk-scroll{min-width:0}
.tfk .tfk-zoom{position:sticky;left:0;top:0;display:inline-flex;gap:4px}
.tfk .tfk-cache text{fill:var(--ink);font:10px var(--jp-code-font-family,monospace)}
.tfk .tfk-cache rect{fill:var(--box);stroke:var(--line)}.tfk .tfk-cache .tfk-moved{fill:var(--line);stroke:var(--ink)}
.tfk .tfk-cache .tfk-new{fill:var(--hot);stroke:var(--hot)}.tfk [hidden]{display:none}
.tfk .tfk-lit{background:var(--tfk-lit)!important;color:var(--tfk-on-lit)!important;outline:2px solid var(--tfk-on-lit);outline-offset:-1px}
.tfk .tfk-framed{display:inline-grid;grid-template-columns:auto auto;justify-content:start}
.tfk .tfk-axis{display:flex;font:10px/1 var(--jp-code-font-family,monospace);color:var(--soft)}
.tfk .tfk-axis span{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.tfk .tfk-axis-rows{flex-direction:column;padding:1px 4px 0 0;max-width:12ch;overflow:hidden;text-align:right}
.tfk .tfk-axis-cols{padding:0 0 3px 1px;align-items:flex-end}
.tfk .tfk-axis-cols span{writing-mode:vertical-rl;transform:rotate(180deg);max-height:12ch}
.tfk .tfk-share{display:inline-flex;gap:4px;float:right;margin:-2px 0 0 8px}
.tfk .tfk-share button{background:none;border-color:transparent;color:var(--soft);padding:2px 6px;min-height:24px;font-size:12px}
.tfk .tfk-share button:hover,.tfk .tfk-share button:focus-visible{border-color:var(--line);color:var(--ink)}
.tfk details{margin-top:4px}.tfk .tfk-sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
@media(pointer:coarse){.tfk button,.tfk select,.tfk td button{min-height:32px;min-width:32px}}
.tfk-error{border-left:3px solid var(--jp-error-color1,#b71c1c);padding:4px 8px}
`;

/** Of pictures beside the stepper: maps with a cursor, many heads, curves, lists and outlines. */
export const PICTURE_CSS = `
${SCALES}
.tfk .tfk-grid{display:inline-block;max-width:100%;overflow:auto}.tfk .tfk-heads{display:flex;gap:4px;align-items:center;margin-bottom:4px}
.tfk .tfk-overview{max-height:min(60vh,420px)}
.tfk .tfk-heads span{flex:0 0 9em;font-size:11px;overflow-wrap:anywhere}
.tfk .tfk-all{position:relative;display:flex;gap:2px}.tfk .tfk-all canvas{position:absolute;left:3px;top:3px;border:0;background:none}
.tfk .tfk-all button{position:relative;flex:none;box-sizing:border-box;min-height:0;padding:0;background:none}
.tfk .tfk-swatch{display:inline-block;width:.8em;height:.8em;margin:0 4px 0 12px;border:1px solid var(--line)}
.tfk .tfk-curve path{fill:none;stroke:var(--hot);stroke-width:1.3}.tfk .tfk-curve line{stroke:var(--ink);stroke-dasharray:3 2}
.tfk .tfk-curve text{fill:var(--soft);font-size:11px}.tfk .tfk-hot{font-weight:700;text-decoration:underline}
.tfk .tfk-list{display:flex;flex-wrap:wrap;gap:4px;list-style:none;margin:6px 0;padding:0}
.tfk .tfk-anatomy details,.tfk .tfk-part{margin:1px 0 1px 18px}.tfk .tfk-part{padding-left:14px}.tfk .tfk-anatomy summary{cursor:pointer}
.tfk .tfk-size{font-variant-numeric:tabular-nums;margin-left:10px}.tfk .tfk-gone strong{text-decoration:line-through}
.tfk .tfk-new-part strong{text-decoration:underline}
`;
