/** The style of a walk; colours and sizes are tokens. */
import { colourRules } from './scales';

export const WALK_CSS = `${colourRules()}
.tfk .tfk-walk-row{display:flex;list-style:none;margin:0 0 12px;padding:4px 2px 6px;overflow-x:auto;position:relative;
border-bottom:1px solid var(--line)}
.tfk .tfk-walk-row li{position:relative;flex:1 0 84px;display:flex}
.tfk .tfk-walk-row li+li::before{content:"";position:absolute;left:calc(-50% + 36px);top:33px;width:calc(100% - 72px);border-top:6px solid var(--tfk-track)}
.tfk .tfk-walk-row li.tfk-past+li::before{border-color:color-mix(in oklab,var(--hot) 45%,var(--paper))}
.tfk .tfk-walk-row .tfk-sr{width:1px}
.tfk .tfk-walk-row button{flex:1;min-width:0;background:none;border:0;border-radius:8px;padding:4px 6px;display:flex;flex-direction:column;
align-items:center;gap:5px;font-size:12px;cursor:pointer}
.tfk .tfk-walk-row button>:first-child{width:64px;height:64px;box-sizing:border-box;border:1px solid var(--tfk-line-strong);border-radius:6px;
background:var(--paper);padding:2px;display:grid;place-items:center;position:relative;overflow:hidden}
.tfk .tfk-walk-row svg{width:64px;height:64px}.tfk .tfk-walk-row svg.tfk-narrow{padding:2px 22px}
.tfk .tfk-walk-row [aria-current]{font-weight:700;color:var(--hot)}
.tfk .tfk-walk-row [aria-current]>:first-child{border:2px solid var(--hot);padding:1px}
.tfk .tfk-walk-word{font:600 13px var(--jp-code-font-family,monospace);overflow-wrap:anywhere;text-align:center;color:var(--ink)}
.tfk .tfk-walk-heads{display:inline-flex;gap:3px;align-items:center;flex-wrap:wrap;margin-left:8px}
.tfk .tfk-walk-heads button{min-width:28px;padding:3px 6px}
.tfk .tfk-walk-heads [aria-pressed=true]{background:var(--hot);color:var(--tfk-on-accent);border-color:var(--hot)}
.tfk .tfk-walk-heads [aria-pressed=true]:not(:focus-visible){outline:0}
.tfk .tfk-walk-open{display:grid;grid-template-columns:minmax(190px,280px) minmax(0,1fr);gap:24px;align-items:start}
@container (max-width:640px){.tfk .tfk-walk-open{grid-template-columns:minmax(0,1fr);gap:12px}}
.tfk .tfk-walk-words h4{font-size:20px;line-height:1.2;margin:2px 0 8px}.tfk .tfk-walk-words p{margin:0 0 8px}
.tfk .tfk-walk-words pre{background:var(--tfk-sunk);border:1px solid var(--tfk-line);border-radius:4px;padding:8px;margin:0 0 4px;
white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.45 var(--jp-code-font-family,monospace);color:inherit}
.tfk .tfk-walk-said{min-height:4.2em;font-size:12px;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.tfk .tfk-walk-matrices{display:flex;flex-wrap:wrap;gap:20px;align-items:flex-start;min-width:0}
.tfk .tfk-walk-matrix{min-width:0;max-width:100%}
.tfk .tfk-walk-scroll{overflow:auto;max-width:100%;padding:2px}
.tfk .tfk-walk-scroll table{border-collapse:separate;border-spacing:1px;font-size:11px}
.tfk .tfk-walk-scroll td,.tfk .tfk-walk-scroll th{padding:0 4px;height:25px;min-width:30px;text-align:center;color:var(--ink);
transition:background-color var(--tfk-quick)}
.tfk .tfk-walk-scroll th span{display:block;max-width:9ch;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;
font-family:var(--jp-code-font-family,monospace)}
.tfk .tfk-walk-scroll tbody th{text-align:right;position:sticky;left:0;background:var(--paper);min-width:0}
.tfk .tfk-walk-scroll tbody th span{text-align:right}
.tfk .tfk-walk-scroll td[data-row]{border-radius:3px;box-shadow:0 0 0 1px var(--tfk-grid);cursor:pointer}
.tfk .tfk-walk-scroll .tfk-on-1{color:var(--tfk-on-1)}.tfk .tfk-walk-scroll .tfk-on-2{color:var(--tfk-on-2)}
.tfk .tfk-walk-scroll .tfk-on-3{color:var(--tfk-on-3)}.tfk .tfk-walk-scroll .tfk-on-4{color:var(--tfk-on-4)}
.tfk .tfk-walk-scroll td.tfk-hidden{background:repeating-linear-gradient(135deg,var(--tfk-void) 0 3px,var(--tfk-hatch) 3px 4px);color:var(--tfk-ink-soft)}
.tfk .tfk-walk-scroll td.tfk-hidden:not(:empty){background:var(--tfk-void);outline:1px dashed var(--tfk-hatch);outline-offset:-2px}
.tfk .tfk-walk-scroll td.tfk-cursor{outline:2px solid var(--hot)!important;outline-offset:0}
.tfk .tfk-walk-scroll td.tfk-from{outline:2px solid var(--ink);outline-offset:-1px}
.tfk .tfk-walk-scroll td.tfk-over:not(.tfk-cursor){outline:2px dashed var(--hot);outline-offset:0}
.tfk .tfk-walk-scroll .tfk-walk-sum{color:var(--soft);white-space:nowrap}
.tfk .tfk-walk-link{background:none;border:0;padding:0;min-height:0;text-decoration:underline;font-weight:600;color:var(--soft);cursor:pointer}
.tfk .tfk-walk-source td[data-row]{cursor:default}
.tfk .tfk-walk-text{display:flex;flex-wrap:wrap;gap:6px;list-style:none;padding:0;margin:0}
.tfk .tfk-walk-text li{font:14px var(--jp-code-font-family,monospace);border:1px solid var(--tfk-line-strong);border-radius:6px;padding:4px 8px}
.tfk .tfk-walk-candidates td,.tfk .tfk-walk-candidates th{padding:3px 14px 3px 0}
.tfk .tfk-walk-bar{display:block;height:12px;min-width:1px;border-radius:2px;background:var(--tfk-c1)}
.tfk .tfk-walk-drawn th{font-weight:700}.tfk .tfk-walk-drawn .tfk-walk-bar{background:var(--tfk-c2)}
@media (prefers-reduced-motion:no-preference){.tfk .tfk-walk-matrices{animation:tfk-in 220ms ease-out}}
@media (prefers-reduced-motion:reduce){.tfk .tfk-walk-scroll td{transition:none}}
@keyframes tfk-in{from{opacity:.25;transform:translateX(6px)}}
`;
