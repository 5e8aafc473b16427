/** Where a memory comes from, as a tree: memories, turns, and the events that made them. */

import { html } from "../core/dom.js";
import { useAsk } from "../core/http.js";
import { To } from "../core/location.js";
import { Asked, Chip } from "../core/parts.js";
import { EventName } from "../core/reason.js";
import { may } from "../core/rights.js";
import { Id, plain, Said, When } from "../core/said.js";
import { number, t } from "../core/words.js";

export function Origins({ owner, address, moment }) {
  const asked = useAsk(`${address}/provenance`, moment.query);
  return html`<${Asked} of=${asked}>${(told) => {
    const { nodes, nodes_left_out: left } = told.provenance;
    return html`<ul class="tree"><${Branch} owner=${owner} node=${nodes.find((one) => one.parent === null) ?? nodes[0]} nodes=${nodes} path=${[]} /></ul>
      ${left > 0 && html`<p class="muted">${t("memory.provenance.left", { count: number(left) })}</p>`}`;
  }}<//>`;
}

/** What leads to the log, for whoever may read it. */
const InLog = ({ owner, params, text }) => (may("audit", owner) ? html`<${To} parts=${["owners", owner, "log"]} params=${params}><${Id} text=${text} /><//>` : html`<${Id} text=${text} />`);

function Branch({ owner, node, nodes, path: above }) {
  if (!node) return null;
  const within = above.includes(node.id) ? [] : nodes.filter((one) => one.parent === node.id && one.depth === node.depth + 1);
  return html`<li>
    ${node.relation !== "root" && html`<span class="muted">${t(`relation.${node.relation}`)} </span>`}
    ${node.relation === "root" ? html`<strong>${t("memory.provenance.root")}</strong>` : html`<${To} title=${plain(node.id)} parts=${["owners", owner, "memory", node.id]}>${node.memory ? html`<${Said} text=${node.memory} />` : html`<${Id} text=${node.id} />`}<//>`}
    ${node.unknown && html` <${Chip} tone="warn">${t("memory.provenance.unknown")}<//>`}${node.set_aside && html` <${Chip} tone="warn">${t("reason.set_aside")}<//>`}
    ${node.source_erased && html` <${Chip} tone="warn">${t("memory.provenance.erased")}<//>`}
    ${node.created_at && html` <${When} at=${node.created_at} />`}
    <ul>
      ${(node.source_turns ?? []).slice(0, 12).map((turn) => html`<li key=${turn}><span class="muted">${t("memory.turns")} </span><${InLog} owner=${owner} params=${{ turn }} text=${turn} /></li>`)}
      ${(node.events ?? []).slice(0, 8).map((one) => html`<li key=${one.position + one.event}><${EventName} type=${one.event} /> <${InLog} owner=${owner} params=${{ at: one.position }} text=${one.position} /></li>`)}
      ${within.map((one) => html`<${Branch} key=${one.id} owner=${owner} node=${one} nodes=${nodes} path=${[...above, node.id]} />`)}
    </ul></li>`;
}
