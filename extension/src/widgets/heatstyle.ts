/** The style of tables of coloured cells, whose names of rows and columns stay in sight, and of bars above and below zero. */
import { colourRules } from './scales';

export const HEAT_CSS = `${colourRules()}
.tfk .tfk-heat-view{display:grid;grid-template-columns:minmax(0,auto) minmax(230px,320px);gap:20px;align-items:start;justify-content:start}
@container (max-width:720px){.tfk .tfk-heat-view{grid-template-columns:minmax(0,1fr);gap:12px}}
.tfk .tfk-heat{overflow:auto;max-width:100%;max-height:min(85vh,800px);padding:0 3px 3px 0;position:relative}
@media(max-height:500px){.tfk .tfk-heat{max-height:60vh}}
.tfk .tfk-heat table{border-collapse:separate;border-spacing:2px}
.tfk .tfk-heat td,.tfk .tfk-heat th{padding:3px 6px;text-align:center;white-space:nowrap;font-size:12px;line-height:1.25}
.tfk .tfk-heat tbody td{border-radius:3px;box-shadow:0 0 0 1px var(--tfk-grid);cursor:pointer;min-width:2.2em;height:1.5em;font-family:var(--jp-code-font-family,monospace);font-size:11px}
.tfk .tfk-heat thead th span,.tfk .tfk-heat tfoot td span{display:inline-block;max-width:7.5em;overflow:hidden;text-overflow:ellipsis;
font-family:var(--jp-code-font-family,monospace);font-size:11px;color:var(--ink);vertical-align:bottom}
.tfk .tfk-heat tbody th,.tfk .tfk-heat tfoot th,.tfk .tfk-heat .tfk-heat-corner{position:sticky;left:0;z-index:1;background:var(--paper);text-align:right;color:var(--soft)}
.tfk .tfk-heat thead td,.tfk .tfk-heat thead th{position:sticky;top:0;background:var(--paper)}.tfk .tfk-heat thead .tfk-heat-corner{z-index:2}
.tfk .tfk-heat-corner span{display:block;font-size:11px}
.tfk .tfk-heat tbody th span{display:inline-block;max-width:9.5em;overflow:hidden;text-overflow:ellipsis;vertical-align:bottom}
.tfk .tfk-heat tfoot td,.tfk .tfk-heat tfoot th{border-top:2px solid var(--line);position:sticky;bottom:0;background:var(--paper)}
.tfk .tfk-heat :is(thead td,thead th,tbody th,tfoot td,tfoot th){box-shadow:0 0 0 3px var(--paper)}.tfk .tfk-heat tfoot th{z-index:2}
.tfk .tfk-heat .tfk-on-1{color:var(--tfk-on-1)}.tfk .tfk-heat .tfk-on-2{color:var(--tfk-on-2)}
.tfk .tfk-heat .tfk-on-3{color:var(--tfk-on-3)}.tfk .tfk-heat .tfk-on-4{color:var(--tfk-on-4)}
.tfk .tfk-heat .tfk-true{box-shadow:inset 0 0 0 2px var(--ink);font-weight:700}
.tfk .tfk-heat .tfk-none{background:repeating-linear-gradient(135deg,var(--tfk-void) 0 3px,var(--tfk-hatch) 3px 4px)}
.tfk .tfk-heat td.tfk-cursor{outline:2px solid var(--hot);outline-offset:1px}
.tfk .tfk-heat-about h4{margin-bottom:6px;overflow-wrap:anywhere}.tfk .tfk-heat-about table{width:100%}
.tfk .tfk-heat-about th[scope=row][title]{max-width:11em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.tfk .tfk-heat-about td:last-child{width:42%}
.tfk .tfk-heat-bar{display:block;height:10px;min-width:1px;border-radius:2px;background:var(--tfk-c1)}
.tfk .tfk-heat-pos{background:var(--tfk-pos)}.tfk .tfk-heat-neg{background:var(--tfk-neg)}
.tfk .tfk-heat-goal th,.tfk .tfk-heat-goal td{font-weight:700}.tfk .tfk-heat-goal .tfk-heat-bar{background:var(--tfk-c2)}
.tfk .tfk-heat-key{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:center;margin:8px 0 0;font-size:12px;color:var(--soft)}
.tfk .tfk-heat-key i{display:inline-block;width:14px;height:14px;border-radius:3px;margin-right:5px;vertical-align:-2px}
.tfk .tfk-heat-ramp{display:inline-flex;border:1px solid var(--line)}.tfk .tfk-heat-ramp i{margin:0;border-radius:0;width:10px}
.tfk .tfk-rise{display:flex;align-items:flex-end;gap:2px;height:56px;margin:4px 0 2px;border-bottom:1px solid var(--line)}
.tfk .tfk-rise i{flex:1 1 0;min-width:2px;max-width:22px;min-height:1px;background:var(--tfk-c2);border-radius:2px 2px 0 0;opacity:.6}
.tfk .tfk-rise i.tfk-current{opacity:1;outline:2px solid var(--hot);outline-offset:-1px}
.tfk .tfk-bars{overflow-x:auto;max-width:100%}.tfk .tfk-bars svg{display:block;cursor:pointer}
.tfk .tfk-bars text{fill:var(--soft);font-size:11px}.tfk .tfk-bars .tfk-zero{stroke:var(--line)}
.tfk .tfk-bars .tfk-band{fill:var(--tfk-sunk)}.tfk .tfk-bars .tfk-cursor{fill:none;stroke:var(--hot);stroke-width:2}
.tfk .tfk-t-attention{fill:var(--tfk-c1);background:var(--tfk-c1)}.tfk .tfk-t-feed-forward{fill:var(--tfk-c2);background:var(--tfk-c2)}
.tfk .tfk-t-input{fill:var(--tfk-c8);background:var(--tfk-c8)}.tfk .tfk-t-rest{fill:var(--tfk-c8);background:var(--tfk-c8);opacity:.6}
.tfk .tfk-t-block{fill:var(--tfk-c3);background:var(--tfk-c3)}
`;
