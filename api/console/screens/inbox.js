/** What waits for a person, answered where it stands. */

import { html, useEffect, useState } from "../core/dom.js";
import { path, tell, useAsk } from "../core/http.js";
import { setParams, To } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Asked, Button, Chip, Confirm, Empty, Field, note, Pager, Panel, Problem } from "../core/parts.js";
import { Reason, who } from "../core/reason.js";
import { useWhyNot } from "../core/rights.js";
import { plain, Said, When } from "../core/said.js";
import { number, t } from "../core/words.js";

const PAGE = 50;

export function Inbox({ owner, refreshed, onDone }) {
  const [from, setFrom] = useState(0);
  const asked = useAsk(path("owners", owner, "inbox"), { ...useMoment().query, limit: PAGE, offset: from });
  useEffect(() => {
    if (refreshed) asked.reload();
  }, [refreshed]);
  const { total = 0, items = [] } = asked.data ?? {};
  useEffect(() => {
    if (total && !items.length && !asked.loading) setFrom(Math.max(0, from - PAGE)); // the last of this page was answered
  }, [asked.data]);
  return html`<p class="lead">${t("inbox.lead")}</p>
    <${Asked} of=${asked}>${(told) => told.total
      ? html`${told.taken > told.most / 2 && html`<p class="muted">${t("inbox.taken", { taken: number(told.taken), most: number(told.most) })}</p>`}
        ${told.items.map((one) => html`<${Item} key=${one.item} owner=${owner} item=${one} onDone=${onDone} />`)}
        <${Pager} offset=${told.offset} shown=${told.items.length} total=${told.total} page=${PAGE} onMove=${setFrom} />`
      : html`<${Empty} title=${t("inbox.empty")} examples=${[[t("memories.view.all"), () => setParams({ view: null })]]}><p>${t("inbox.empty.what")}</p><//>`}<//>`;
}

function Item({ owner, item, onDone }) {
  const why = useWhyNot("review", owner);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [words, setWords] = useState(null);
  const answer = async (verb, body = {}) => {
    setBusy(true);
    setError(null);
    try {
      const told = await tell(path("owners", owner, "inbox", verb), { item: item.item, ...body });
      note(t(`inbox.done.${told.done_code}`));
      onDone();
    } catch (refused) {
      setError(refused);
      setBusy(false);
      if (verb === "edit") throw refused;
    }
  };
  return html`<${Panel} class="inbox-item">
    <p class="inbox-head"><${Chip} tone="warn">${t(`inbox.kind.${item.kind}`)}<//> <span class="muted">${t("inbox.by", { actor: who(item) })} · <${When} at=${item.at} /></span></p>
    <dl class="says">
      ${item.memory !== null && html`<dt>${t(item.kind === "proposal" ? "inbox.would" : "inbox.says")}</dt><dd><${To} class="row-link" title=${plain(item.memory_id)} parts=${["owners", owner, "memory", item.memory_id]}><${Said} text=${item.memory} /><//></dd>`}
      ${item.would_say !== null && html`<dt>${t("inbox.would")}</dt><dd><strong><${Said} text=${item.would_say} /></strong></dd>`}
    </dl>
    ${item.reason && html`<p class="muted"><${Reason} text=${item.reason} code=${item.reason_code} values=${item.reason_values} ours=${!["user", "assistant"].includes(item.actor)} /></p>`}
    <${Problem} error=${error} />
    <div class="actions">
      <${Button} kind="main" why=${why} disabled=${busy} onClick=${() => answer("accept")}>${t("inbox.accept")}<//>
      ${item.kind !== "suggested_link" && html`<${Button} why=${why} disabled=${busy} onClick=${() => setWords(item.would_say ?? item.memory ?? "")}>${t("inbox.amend")}<//>`}
      <${Button} kind="danger" why=${why} disabled=${busy} onClick=${() => answer("reject")}>${t("inbox.reject")}<//>
    </div>
    ${words !== null && html`<${Confirm} title=${t("inbox.amend")} verb=${t("edit.go")} ready=${words.trim()} onClose=${() => setWords(null)} act=${() => answer("edit", { content: words })}>
      <${Field} label=${t("add.content")} kind="textarea" value=${words} onChange=${setWords} /><//>`}
  <//>`;
}
