// An editor is a text area with numbers of lines, marks at lines with problems, and buttons that open and save a file. Tab leaves it, as it
// leaves every field; Enter keeps the indentation.
import { el } from './dom.js';

export class Editor {
  constructor(root, changed) {
    const { name, file, title, hint } = root.dataset;
    this.file = file;
    this.area = el('textarea', { id: name, spellcheck: false, wrap: 'off', autocomplete: 'off', autocapitalize: 'off', 'aria-describedby': `${name}-hint` });
    this.gutter = el('div', { class: 'gutter', 'aria-hidden': 'true' });
    const open = el('input', { type: 'file', class: 'hidden', tabindex: -1, 'aria-hidden': 'true', accept: '.yaml,.yml,.json,.txtar,.txt' });
    root.append(
      el('div', { class: 'bar' },
        el('label', { for: name }, title), el('span', { class: 'hint', id: `${name}-hint` }, hint),
        el('button', { type: 'button', 'aria-label': `Open a file as ${title}`, onclick: () => open.click() }, 'Open'),
        el('button', { type: 'button', 'aria-label': `Save ${title} as ${file}`, onclick: () => this.save() }, 'Save'), open),
      el('div', { class: 'field' }, this.gutter, this.area));
    open.onchange = async () => {
      if (open.files.length) { this.set(await open.files[0].text()); changed(); }
      open.value = '';
    };
    this.area.addEventListener('input', () => { this.number(); changed(); });
    this.area.addEventListener('scroll', () => { this.gutter.scrollTop = this.area.scrollTop; });
    this.area.addEventListener('keydown', (event) => this.indent(event));
    this.area.addEventListener('drop', async (event) => {
      const [dropped] = event.dataTransfer.files;
      if (!dropped) return;
      event.preventDefault();
      this.set(await dropped.text());
      changed();
    });
    this.marks = new Map();
    this.number();
  }

  get text() { return this.area.value; }

  set(text) { this.area.value = text; this.marks = new Map(); this.number(); this.area.scrollTop = 0; }

  // number writes the numbers of lines, and sizes the field.
  number() {
    const lines = this.area.value.split('\n').length;
    this.area.rows = Math.min(Math.max(lines, 5), matchMedia('(max-width: 60rem)').matches ? 12 : 22);
    this.gutter.replaceChildren(...Array.from({ length: lines }, (_, i) => el('span', { class: this.marks.get(i + 1) || '' }, String(i + 1))));
    this.gutter.scrollTop = this.area.scrollTop;
  }

  // mark shows problems and the like: a map from lines to a word for each.
  mark(marks) { this.marks = marks; this.number(); }

  // show selects a line.
  show(line) {
    const lines = this.area.value.split('\n');
    const from = lines.slice(0, line - 1).reduce((n, text) => n + text.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(from, from + (lines[line - 1] || '').length);
    const height = this.area.scrollHeight / lines.length;
    this.area.scrollTop = Math.max(0, (line - 4) * height);
  }

  indent(event) {
    if (event.key !== 'Enter' || event.isComposing || event.ctrlKey || event.metaKey) return;
    const at = this.area.selectionStart;
    const line = this.area.value.slice(this.area.value.lastIndexOf('\n', at - 1) + 1, at);
    const spaces = /^ */.exec(line)[0];
    if (!spaces) return;
    event.preventDefault();
    this.area.setRangeText(`\n${spaces}`, at, this.area.selectionEnd, 'end');
    this.area.dispatchEvent(new Event('input'));
  }

  save() {
    const url = URL.createObjectURL(new Blob([this.area.value], { type: 'text/yaml' }));
    el('a', { href: url, download: this.file }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}
