/** One style sheet for lab, exported page and static host; colours follow the lab's theme where there is one. */
export const CSS = `
.tfk{--ink:var(--jp-ui-font-color1,#1b1b1b);--soft:var(--jp-ui-font-color2,#565656);--paper:var(--jp-layout-color0,#fff);
--box:var(--jp-layout-color2,#eee);--line:var(--jp-border-color1,#999);--hot:var(--jp-brand-color1,#1565c0);
color:var(--ink);background:var(--paper);font:13px/1.4 var(--jp-ui-font-family,system-ui,sans-serif);padding:8px;max-width:960px}
.tfk h3{font-size:14px;margin:0 0 6px}.tfk h4{font-size:13px;margin:0 0 4px}
.tfk button,.tfk select{color:inherit;background:var(--box);border:1px solid var(--line);border-radius:3px;padding:3px 8px;
min-height:26px;font:inherit}
.tfk button:disabled{opacity:.45}
.tfk :focus-visible,.tfk:focus-visible{outline:2px solid var(--hot);outline-offset:1px}
.tfk .tfk-bar{display:flex;gap:6px;align-items:center;flex-wrap:wrap;margin-bottom:6px}
.tfk .tfk-bar svg{vertical-align:-2px}
.tfk label{display:inline-flex;gap:4px;align-items:center}
.tfk .tfk-toks{font-family:var(--jp-code-font-family,monospace);line-height:1.9;max-height:7.6em;overflow:auto;margin:0 0 8px;
padding:0;list-style:none}
.tfk .tfk-toks li{display:inline-block;padding:0 4px;border-radius:2px;background:var(--box);margin-right:3px;line-height:1.5}
.tfk .tfk-toks .tfk-source{background:none;border:1px solid var(--line)}
.tfk .tfk-toks .tfk-now{background:none;border:2px solid var(--hot);font-weight:700}
.tfk .tfk-row{display:flex;gap:20px;flex-wrap:wrap;align-items:flex-start}
.tfk canvas{background:#fff;image-rendering:pixelated;border:1px solid var(--line);display:block}
.tfk table{border-collapse:collapse;color:inherit;font-size:12px;border:0;margin:0}
.tfk td,.tfk th{padding:1px 8px 1px 0;text-align:left;font-variant-numeric:tabular-nums;font-weight:400;border:0;background:none}
.tfk thead th,.tfk caption{color:var(--soft);text-align:left}
.tfk th[scope=row]{font-family:var(--jp-code-font-family,monospace)}
.tfk tr.tfk-chosen th[scope=row]{font-weight:700}
.tfk .tfk-p{display:inline-block;height:.8em;background:var(--hot);min-width:1px}
.tfk .tfk-note{color:var(--soft);font-size:12px;margin:4px 0 0}
.tfk .tfk-tree{overflow:auto;max-height:360px;max-width:100%}
.tfk .tfk-tree text{fill:var(--ink);font:11px var(--jp-code-font-family,monospace)}
.tfk .tfk-tree circle{fill:var(--hot);stroke:var(--hot)}
.tfk .tfk-tree line{stroke:var(--line)}
.tfk .tfk-tree .tfk-dropped circle{fill:none;stroke:var(--line);stroke-dasharray:2 2}
.tfk .tfk-tree .tfk-dropped text{fill:var(--soft)}
.tfk .tfk-tree .tfk-finished circle{stroke:var(--ink);stroke-width:3}
.tfk .tfk-tree .tfk-best text{font-weight:700}.tfk .tfk-tree line.tfk-best{stroke:var(--hot);stroke-width:2.5}
.tfk details{margin-top:4px}.tfk .tfk-sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.tfk-error{border-left:3px solid var(--jp-error-color1,#b71c1c);padding:4px 8px}
`;
