// The page: its state, what changes it, and the questions to deed. Views are in views.js, and deed runs in worker.js.
import { $, el } from './dom.js';
import { Editor } from './editor.js';
import { pack, unpack } from './share.js';
import { conflictsView, objectView, planView, replayView, stepView, summaryView, textView } from './views.js';

const worker = new Worker('worker.js', { type: 'module' });
const editors = Object.fromEntries([...document.querySelectorAll('.editor')].map((root) => [root.dataset.name, new Editor(root, () => changed())]));

// page is the state besides the texts, and what views may do with it.
const page = {
  fields: [], // the paths that are taken
  rules: new Map(), // examples of rules by their number
  examples: new Map(),
  get manager() { return $('manager').value; },
  get force() { return $('force').checked; },
  get mode() { return document.querySelector('input[name=mode]:checked').value; },
  show(name, line) { editors[name].show(line); },
  take(path) { this.fields.push(path); ask(); },
  giveBack(path) { this.fields = this.fields.filter((other) => other !== path); ask(); },
  edit(object, path, share) {
    send({ edit: { config: editors.config.text, live: editors.live.text, object, path, share } }, (answer) => {
      if (answer.text) { editors.config.set(answer.text); changed(); }
      showProblems(answer);
    });
  },
};

// Questions. One is under way at a time, and only the last of those that wait is asked.
let underWay = null;
let waiting = null;
let number = 0;

function send(request, use) {
  const question = { id: ++number, use, request: { now: new Date().toISOString().replace(/\.\d+/, ''), definitions: editors.definitions.text, ...request } };
  if (underWay) waiting = question;
  else post(question);
}

function post(question) {
  underWay = question;
  worker.postMessage({ id: question.id, request: question.request });
}

worker.onmessage = ({ data }) => {
  if (data.failed) {
    $('summary').replaceChildren(el('span', { class: 'badge bad' }, 'Failed'), el('span', {}, `deed cannot be loaded: ${data.failed}`));
    return;
  }
  if (data.ready) { document.documentElement.dataset.ready = 'true'; return; }
  const { use } = underWay;
  underWay = null;
  if (waiting) { post(waiting); waiting = null; }
  use(data.answer);
  if (data.id === 1) performance.mark('first answer');
  document.documentElement.dataset.took = data.took.toFixed(1);
  document.documentElement.dataset.answered = data.id;
};

function ask() {
  if (page.mode === 'history') send({ history: { text: editors.history.text } }, showHistory);
  else send({ apply: { live: editors.live.text, config: editors.config.text, manager: page.manager, force: page.force, fields: page.fields } }, showApply);
}

// changed is called when a text changes.
function changed() {
  leaveExample();
  ask();
}

function leaveExample() {
  $('example').value = '';
  $('note').hidden = true;
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
}

// Answers.

const panels = { conflicts: conflictsView, object: (answer) => objectView(answer), plan: planView, text: textView };

function fill(id, content) { $(id).replaceChildren(...[content].flat(9).filter(Boolean)); }

function showApply(answer) {
  fill('summary', summaryView(answer));
  showProblems(answer);
  for (const [name, view] of Object.entries(panels)) fill(`panel-${name}`, view(answer, page));
  const count = (answer.objects || []).reduce((n, o) => n + (o.conflicts || []).length, 0);
  $('tab-conflicts').replaceChildren('Conflicts', count ? el('span', { class: 'count' }, String(count)) : '');
  if (choose) selectTab(choose(answer));
  choose = null;
}

// choose picks the tab for the first answer about an example.
let choose = null;

let steps = [];
let troubles = new Map(); // the lines of the history with problems

function showHistory(answer) {
  steps = answer.steps || [];
  showProblems(answer);
  $('step').max = Math.max(1, steps.length);
  $('step').value = Math.min($('step').value, steps.length);
  fill('panel-replay', replayView(answer));
  showStep();
}

function showStep() {
  const at = Number($('step').value);
  const step = steps[at - 1];
  $('position').value = step ? `Step ${at} of ${steps.length}` : '';
  $('step').setAttribute('aria-valuetext', step ? `Step ${at} of ${steps.length}: ${step.result}` : 'no steps');
  $('previous').disabled = at <= 1;
  $('next').disabled = at >= steps.length;
  if (!step) {
    fill('summary', [el('span', { class: 'badge calm' }, 'Nothing'), el('span', {}, 'Write a history, or choose an example.')]);
    fill('panel-step', null);
    return;
  }
  const tone = { conflict: 'bad', refused: 'bad', unchanged: 'calm' }[step.result] || 'good';
  fill('summary', [el('span', { class: `badge ${tone}` }, `Step ${at}`), el('span', {}, step.note || `${step.kind} ${step.name}: ${step.result}`)]);
  fill('panel-step', stepView(step, page));
  editors.history.mark(new Map([...troubles, [step.line, 'now']]));
}

function showProblems(answer) {
  const names = { 'config.yaml': 'config', 'live.yaml': 'live', 'definitions.yaml': 'definitions', 'history.txtar': 'history' };
  const marks = Object.fromEntries(Object.keys(editors).map((name) => [name, new Map()]));
  fill('problems', answer.problems.map((p) => {
    const name = names[p.file];
    if (name && p.line) marks[name].set(p.line, p.warning ? 'odd' : 'wrong');
    return el('li', { class: p.warning ? 'odd' : 'wrong' },
      name && p.line ? el('button', { type: 'button', class: 'quiet', onclick: () => page.show(name, p.line) }, `${p.file}:${p.line}`) : p.file && el('span', {}, p.file), ' ',
      p.object && `${p.object}: `, p.text);
  }));
  $('problems').hidden = !answer.problems.length;
  for (const [name, editor] of Object.entries(editors)) editor.mark(marks[name]);
  troubles = marks.history;
}

// Tabs, as the pattern for tabs has them: arrows move, Home and End go to the ends.

const tabs = [...document.querySelectorAll('[role=tab]')];

function selectTab(name, focus = false) {
  for (const tab of tabs) {
    const on = tab.id === `tab-${name}`;
    tab.setAttribute('aria-selected', String(on));
    tab.tabIndex = on ? 0 : -1;
    $(tab.getAttribute('aria-controls')).hidden = !on;
    if (on && focus) tab.focus();
  }
}

for (const [i, tab] of tabs.entries()) {
  tab.onclick = () => selectTab(tab.id.slice(4));
  tab.onkeydown = (event) => {
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    selectTab(tabs[(to + tabs.length) % tabs.length].id.slice(4), true);
  };
}

// State, examples and links.

function state() {
  const texts = Object.fromEntries(Object.entries(editors).map(([name, editor]) => [name, editor.text]));
  return { mode: page.mode, manager: page.manager, force: page.force, fields: page.fields, step: Number($('step').value), ...texts };
}

function restore(s) {
  for (const [name, editor] of Object.entries(editors)) editor.set(s[name] || '');
  $('manager').value = s.manager || 'kubectl';
  $('force').checked = Boolean(s.force);
  page.fields = s.fields || [];
  setMode(s.mode === 'history' ? 'history' : 'apply');
  $('step').max = 1000;
  $('step').value = s.step || 1;
  $('more').open = Boolean(s.definitions);
}

function setMode(mode) {
  document.querySelector(`input[name=mode][value=${mode}]`).checked = true;
  for (const name of ['apply', 'history']) for (const part of ['inputs', 'answers']) $(`${name}-${part}`).hidden = name !== mode;
}

function load(example) {
  restore(example);
  $('example').value = example.id;
  $('note').textContent = example.note;
  $('note').hidden = !example.note;
  choose = (answer) => example.tab || ((answer.objects || []).some((o) => o.conflicts?.length) ? 'conflicts' : 'object');
  ask();
}

async function follow() {
  const [, name, rest] = /^#(example|s)=(.*)$/.exec(location.hash) || [];
  if (name === 'example' && page.examples.has(decodeURIComponent(rest))) { load(page.examples.get(decodeURIComponent(rest))); return true; }
  if (name !== 's') return false;
  try {
    restore(await unpack(rest));
    ask();
    return true;
  } catch {
    showProblems({ problems: [{ text: 'The link cannot be read: it may have been cut off.' }] });
    return false;
  }
}

async function begin() {
  const groups = await (await fetch('examples.json')).json();
  for (const group of groups) {
    $('example').append(el('optgroup', { label: group.name }, group.examples.map((x) => el('option', { value: x.id }, x.title))));
    for (const x of group.examples) {
      page.examples.set(x.id, x);
      if (x.rule) page.rules.set(x.rule, x);
    }
  }
  selectTab('conflicts');
  if (!(await follow())) load(groups[0].examples[0]);
  window.onhashchange = follow;
}

$('example').onchange = () => {
  const example = page.examples.get($('example').value);
  if (example) location.hash = `example=${example.id}`;
};
for (const input of document.querySelectorAll('input[name=mode]')) input.onchange = () => { setMode(page.mode); changed(); };
$('manager').oninput = changed;
$('force').onchange = () => { page.fields = []; ask(); };
$('step').oninput = showStep;
$('previous').onclick = () => { $('step').value = Number($('step').value) - 1; showStep(); };
$('next').onclick = () => { $('step').value = Number($('step').value) + 1; showStep(); };
$('share').onclick = async () => {
  history.replaceState(null, '', `#s=${await pack(state())}`);
  try {
    await navigator.clipboard.writeText(location.href);
    $('share').textContent = 'Link copied';
  } catch {
    $('share').textContent = 'Link is in the address';
  }
  setTimeout(() => { $('share').textContent = 'Copy link'; }, 2500);
};

const themes = ['system', 'light', 'dark'];
$('theme').onclick = () => {
  const theme = themes[(themes.indexOf(document.documentElement.dataset.theme || 'system') + 1) % themes.length];
  document.documentElement.dataset.theme = theme;
  $('theme').textContent = `Theme: ${theme}`;
  $('theme').setAttribute('aria-label', `Theme: ${theme === 'system' ? 'as the system' : theme}`);
};

begin();
