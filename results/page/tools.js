// The page's data and the tools that its views share. Text from the data enters the document as text nodes only.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const page = document.getElementById('page');
const units = new Map(data.metrics.map(m => [m.name, m]));
const media = matchMedia('(prefers-color-scheme: dark)');
const labels = [...new Set(data.scenarios.flatMap(s => s.series.map(t => t.label)))];
const shapes = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot', 'cross', 'dash'];

// ---- small helpers

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (name === 'style') Object.assign(element.style, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const cssColor = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const seriesVariable = label => `--c${labels.indexOf(label) % 8}`;
const seriesShape = label => shapes[labels.indexOf(label) % shapes.length];
const value = (row, name) => row.metrics[name];
const isNumber = x => typeof x === 'number' && Number.isFinite(x);

function show(x, digits = 4) {
  if (x === undefined || x === null || x === '') return '–';
  if (!isNumber(x)) return String(x);
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e15)) return x.toExponential(digits - 1);
  const places = size >= 10 ** (digits - 1) || size === 0 ? 0 : digits - 1 - Math.floor(Math.log10(size));
  return x.toLocaleString('en-US', {maximumFractionDigits: Math.min(places, 6)});
}

function short(x) {
  if (!isNumber(x)) return show(x);
  for (const [scale, letter] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (Math.abs(x) >= scale) return show(x / scale, 3) + ' ' + letter;
  }
  return show(x, 3);
}

const percent = x => isNumber(x) ? show(100 * x, 3) + ' %' : '–';
const ratioText = x => isNumber(x) ? show(x, 3) + '×' : '';
const settings = row => Object.entries(row.swept).filter(([, v]) => v !== '').map(([k, v]) => `${k} ${v}`);
const choices = row => Object.entries(row.swept).filter(([k, v]) => v !== '' && !['platform', 'workload', 'precision'].includes(k)).map(([k, v]) => `${k} ${v}`);
/// Which point a number belongs to: its id and what was chosen for it.
const pointName = row => make('span', {class: 'unit point', title: settings(row).join('\n')}, [row.id, choices(row).join(', ')].filter(Boolean).join(' · '));
const dot = label => make('span', {class: 'dot', style: {background: `var(${seriesVariable(label)})`}, 'aria-hidden': 'true'});
const section = (title, text, ...content) => make('section', {}, make('h2', {}, title), text ? make('p', {}, text) : null, ...content);
const okRows = series => series.rows.map(i => data.rows[i]).filter(row => row.status === 'ok');

function table(head, rows, caption) {
  const cell = (tag, c) => {
    if (c instanceof HTMLTableCellElement) return c;
    return make(tag, c && c.number ? {class: 'number'} : {}, c && c.number !== undefined ? c.number : c ?? '');
  };
  return make('table', {'aria-label': caption},
    make('thead', {}, make('tr', {}, ...head.map(h => cell('th', h)))),
    make('tbody', {}, ...rows.map(r => r instanceof HTMLElement ? r : make('tr', {}, ...r.map((c, i) => cell(i ? 'td' : 'th', c))))));
}

// ---- sortable, searchable tables

function compare(a, b) {
  const empty = x => x === undefined || x === null || x === '';
  if (empty(a) || empty(b)) return empty(a) - empty(b);
  const [x, y] = [Number(a), Number(b)];
  if (Number.isFinite(x) && Number.isFinite(y)) return x - y;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/// columns: {name, unit, hint, number, get(item), node(item)}
function browser(items, columns, caption) {
  let sorted = null, falling = false, words = '';
  const body = make('tbody'), count = make('span', {'aria-live': 'polite'});
  const heads = columns.map((column, c) => make('th', {scope: 'col', class: column.number ? 'number' : null},
    make('button', {type: 'button', title: column.hint ?? null, on: {click: () => { falling = sorted === c ? !falling : Boolean(column.number); sorted = c; fill(); }}}, column.name),
    column.unit ? make('span', {class: 'unit'}, column.unit) : null));
  const texts = items.map(item => columns.map(column => column.get(item) ?? '').join(' ').toLowerCase());
  function fill() {
    let shown = items.map((item, i) => i).filter(i => words.split(/\s+/).every(word => texts[i].includes(word)));
    if (sorted !== null) {
      const get = columns[sorted].get, filled = i => ![undefined, null, ''].includes(get(items[i]));
      shown.sort((a, b) => filled(a) && filled(b) && falling ? compare(get(items[b]), get(items[a])) : compare(get(items[a]), get(items[b])));
    }
    heads.forEach((head, c) => head.setAttribute('aria-sort', sorted !== c ? 'none' : falling ? 'descending' : 'ascending'));
    count.textContent = `${shown.length} of ${items.length}`;
    body.replaceChildren(...shown.map(i => make('tr', {}, ...columns.map(column => {
      const content = column.node ? column.node(items[i]) : column.number ? show(column.get(items[i])) : column.get(items[i]) ?? '';
      return make('td', {class: column.number ? 'number' : column.wide ? 'wrap' : null}, content);
    }))));
  }
  const search = make('input', {type: 'search', placeholder: 'filter', 'aria-label': 'filter ' + caption, on: {input: event => { words = event.target.value.trim().toLowerCase(); fill(); }}});
  fill();
  return {tools: [make('label', {}, search), count], table: make('div', {class: 'scroll', tabindex: '0'}, make('table', {'aria-label': caption}, make('thead', {}, make('tr', {}, ...heads)), body))};
}
