// What an answer of deed looks like. All words about objects are deed's own; see the package playground for the shape of an answer.
import { el, colored } from './dom.js';

// blameView is an object with the owners of each line, in the style of deed blame -o html.
export function blameView(blame, changed = []) {
  if (!blame) return null;
  const fresh = new Set(changed);
  const lines = el('div', { class: 'lines', role: 'table', tabindex: 0, 'aria-label': `${blame.name} with the owners of each line` });
  blame.lines.forEach((line, i) => {
    const owners = line.owners || [];
    const names = owners.length ? owners.map((o) => o.long).join(' and ') : line.nobodys ? 'nobody owns it' : '';
    const row = el('div', { role: 'row', class: fresh.has(i) ? 'fresh' : '' },
      el('span', { class: 'who', role: 'cell' },
        el('span', { 'aria-hidden': 'true' }, owners.length ? owners[0].name : line.nobodys ? '(nobody)' : ''),
        owners.length > 1 && el('span', { class: 'more', 'aria-hidden': 'true' }, ` +${owners.length - 1}`),
        el('span', { class: 'hidden' }, names)),
      el('span', { class: 'bars', 'aria-hidden': 'true' }, owners.map((o) => colored(el('i'), o.hue))),
      el('span', { class: 'at', 'aria-hidden': 'true' }, String(line.at)),
      el('span', { class: 'text', role: 'cell' }, line.text, fresh.has(i) && el('span', { class: 'hidden' }, ' (changed)')),
      names && el('span', { class: 'tip', 'aria-hidden': 'true' }, el('span', { class: 'path' }, line.path),
        owners.length ? owners.map((o) => el('span', { class: 'owner' }, colored(el('span'), o.hue).appendChild(el('span', { class: 'chip' })).parentNode, o.long)) : 'nobody owns it'));
    if (owners.length) colored(row, owners[0].hue);
    lines.append(row);
  });
  return [legend(blame), lines];
}

function legend(blame) {
  return el('ul', { class: 'legend', 'aria-label': 'Managers' },
    (blame.managers || []).map((m) => colored(el('li', {}, el('span', { class: 'chip' }), el('b', {}, m.name), ` ${m.operation}`,
      el('span', { class: 'faint' }, ` ${m.lines} ${m.lines === 1 ? 'line' : 'lines'}`)), m.hue)));
}

const results = {
  stored: ['good', 'Stored'], conflict: ['bad', 'Conflict'], refused: ['bad', 'Refused'], live: ['calm', 'Live object'],
};

// summary is the answer about all objects in a sentence.
export function summaryView(answer) {
  const objects = answer.objects || [];
  if (!objects.length) return [el('span', { class: 'badge calm' }, 'Nothing'), el('span', {}, 'Write a configuration, or choose an example.')];
  return objects.flatMap((o) => {
    const [tone, word] = results[o.result];
    let text = o.name;
    if (o.result === 'conflict') text = `${o.name}: ${o.conflicts.length} ${o.conflicts.length === 1 ? 'field belongs' : 'fields belong'} to others, and nothing is stored.`;
    else if (o.result === 'refused') text = `${o.name} is refused, and nothing is stored.`;
    else if (o.result === 'live') text = `${o.name}: its owners. Nothing is applied.`;
    else if (o.creates) text = `${o.name} is created.`;
    else if (o.noOp) text = `${o.name} does not change, and neither do its owners.`;
    else text = `${o.name} changes.`;
    return el('div', {}, el('span', { class: `badge ${tone}` }, word), el('span', {}, text));
  });
}

// conflictsView explains each field in conflict, with what to do about it.
export function conflictsView(answer, page) {
  const out = [];
  for (const o of answer.objects || []) {
    if (o.conflicts?.length) out.push(el('p', { class: 'reason' }, o.reason));
    for (const c of o.conflicts || []) {
      out.push(el('article', { class: 'card bad' },
        el('h2', {}, el('code', {}, c.path)),
        el('dl', {},
          c.owners.map((owner) => [el('dt', {}, 'owner'), el('dd', {}, owner)]),
          el('dt', {}, 'live'), el('dd', {}, el('code', { class: 'was' }, c.live)),
          el('dt', {}, 'wanted'), el('dd', {}, el('code', { class: 'becomes' }, c.wanted)),
          (c.notes || []).map((note) => el('dd', { class: 'wide' }, el('code', {}, note)))),
        el('div', { class: 'remedies', role: 'group', 'aria-label': `What to do about ${c.path}` },
          el('button', { type: 'button', onclick: () => page.take(c.path) }, 'Take it'),
          el('button', { type: 'button', onclick: () => page.edit(o.name, c.path, true) }, 'Share it'),
          el('button', { type: 'button', onclick: () => page.edit(o.name, c.path, false) }, 'Give it up'),
          el('button', { type: 'button', class: 'quiet', onclick: () => page.show('config', c.line) }, `line ${c.line}`))));
    }
    if (o.conflicts?.length) {
      out.push(el('dl', { class: 'advice' },
        el('dt', {}, 'Take it'), el('dd', {}, `The field gets the wanted value, and its owners lose it to “${page.manager}”: --force-field.`),
        el('dt', {}, 'Share it'), el('dd', {}, `The configuration gets the live value: “${page.manager}” then owns it too.`),
        el('dt', {}, 'Give it up'), el('dd', {}, 'The configuration loses the field: it stays as it is.')));
    }
    for (const c of o.taken || []) {
      const one = page.fields.includes(c.path);
      out.push(el('article', { class: 'card taken' },
        el('h2', {}, el('code', {}, c.path)),
        el('p', {}, 'taken from ', c.owners.join(' and '), ': ', el('code', { class: 'was' }, c.live), ' becomes ', el('code', { class: 'becomes' }, c.wanted)),
        one && el('div', { class: 'remedies' }, el('button', { type: 'button', onclick: () => page.giveBack(c.path) }, 'Undo'))));
    }
  }
  return out.length ? out : el('p', { class: 'empty' }, 'No conflicts: nobody else owns what the configuration changes.');
}

// objectView is each object as it is stored.
export function objectView(answer) {
  return (answer.objects || []).map((o) => [
    (answer.objects.length > 1 || o.result === 'conflict' || o.result === 'refused') &&
      el('p', { class: 'reason' }, answer.objects.length > 1 && el('b', {}, `${o.name} `),
        o.result === 'stored' ? '' : o.blame ? 'Nothing is stored. This is the live object, as it stays.' : 'Nothing is stored.'),
    blameView(o.blame, o.changed)]).flat(3);
}

const quietOutcomes = ['kept', 'defaulted'];
const chosen = new Map(); // by outcome: whether rows are shown; the page remembers it between answers

// planView is the plan of each object. Rules lead to their histories.
export function planView(answer, page) {
  const objects = (answer.objects || []).filter((o) => o.rows);
  if (!objects.length) return el('p', { class: 'empty' }, 'There is no plan without a configuration that can be applied.');
  return objects.flatMap((o) => {
    const rows = el('ul', { class: 'rows' });
    const shown = (outcome) => chosen.get(outcome) ?? !quietOutcomes.includes(outcome);
    const fill = () => {
      const visible = o.rows.filter((row) => shown(row.outcome));
      rows.replaceChildren(...visible.map((row) => rowView(row, page)));
      if (!visible.length) rows.append(el('li', { class: 'empty' }, 'No line of the plan has such an outcome.'));
    };
    const outcomes = [...new Set(o.rows.map((row) => row.outcome))];
    const chips = el('div', { class: 'chips', role: 'group', 'aria-label': 'Outcomes to show' }, outcomes.map((outcome) => {
      const count = o.rows.filter((row) => row.outcome === outcome).length;
      const chip = el('button', { type: 'button', class: `outcome ${outcome}`, 'aria-pressed': String(shown(outcome)) }, `${count} ${outcome}`);
      chip.onclick = () => { chosen.set(outcome, !shown(outcome)); chip.setAttribute('aria-pressed', String(shown(outcome))); fill(); };
      return chip;
    }));
    fill();
    return [objects.length > 1 && el('h2', {}, o.name), chips, rows].filter(Boolean);
  });
}

function rowView(row, page) {
  const rule = row.rule && page.rules.get(row.rule);
  return el('li', {},
    el('span', { class: `outcome ${row.outcome}` }, row.outcome),
    el('div', {},
      row.path && el('code', { class: 'where' }, row.path), ' ',
      el('span', {}, row.text),
      row.owners && el('span', { class: 'faint line' }, row.owners),
      (row.notes || []).map((note) => el('span', { class: 'faint line' }, note))),
    el('span', { class: 'links' },
      row.line && el('button', { type: 'button', class: 'quiet', onclick: () => page.show('config', row.line) }, `line ${row.line}`),
      row.rule && (rule ? el('a', { href: `#example=${rule.id}`, title: rule.note, 'aria-label': `Rule ${row.rule}: ${rule.note}` }, row.rule) : el('span', {}, row.rule))));
}

const block = (command, text) => [el('p', { class: 'command' }, el('code', {}, `$ ${command}`)), el('pre', { tabindex: 0, 'aria-label': command }, text || '(nothing)')];

// replayView is what deed replay prints.
export function replayView(answer) {
  return block('deed replay -f history.txtar', answer.messages + (answer.steps || []).map((step) => step.text).join(''));
}

// textView is what the commands print.
export function textView(answer, page) {
  const force = page.force ? ' --force-conflicts' : page.fields.map((path) => ` --force-field '${path}'`).join('');
  const yaml = (answer.objects || []).map((o) => o.yaml).filter(Boolean).join('---\n');
  if (!answer.plan) return block('deed blame -f live.yaml', answer.messages);
  const flags = `-f config.yaml --live live.yaml --field-manager ${page.manager}${force}`;
  return [...block(`deed apply ${flags}`, answer.messages + yaml), ...block(`deed plan ${flags}`, answer.plan)];
}

// stepView is a step of a history: what deed replay says, and the object after it.
export function stepView(step, page) {
  const note = (step.note || '').trim();
  const [first, ...rest] = step.text.split('\n');
  const end = rest.findIndex((line) => /^ {3}(object|configuration|owners):$/.test(line));
  const lines = rest.slice(0, end < 0 ? rest.length : end).map((line) => line.trim()).filter((line) => line && line !== note);
  const sentence = first.replace(/^\d+\. \S+: /, '').replace(/: \w+$/, '');
  const tone = { conflict: 'bad', refused: 'bad', unchanged: 'calm', nothing: 'calm', extracted: 'calm' }[step.result] || 'good';
  return [
    el('div', { class: `card step ${tone === 'bad' ? 'bad' : ''}` },
      el('h2', {}, el('span', { class: `badge ${tone}` }, step.result), el('span', {}, sentence)),
      lines.map((line) => el('p', {}, line)),
      el('div', { class: 'remedies' }, el('button', { type: 'button', class: 'quiet', onclick: () => page.show('history', step.line) }, `line ${step.line} of the history`))),
    blameView(step.blame, step.changed) || el('p', { class: 'empty' }, 'There is no object after this step.'),
  ].flat();
}
