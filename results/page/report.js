// The views of the report and their assembly. tools.js comes before it in the page.

// One state; every view is a function of it.
const state = {scenario: data.scenarios[0], corner: 0, logX: false, logY: true, base: 0, chart: null};

// ---- the operating point: each series' best point with at least the chosen interactivity

function operatingPoints() {
  const {series, corners} = state.scenario;
  if (corners.length) return corners[state.corner].best.map((i, s) => ({label: series[s].label, row: i === null ? null : data.rows[i]}));
  return series.map(s => ({label: s.label, row: okRows(s)[0] ?? null}));
}

/// The middle of the corners that every series with a front still reaches.
function middleCorner(scenario) {
  const has = scenario.series.map(s => s.front.length > 0);
  const shared = scenario.corners.filter(c => c.best.every((b, s) => b !== null || !has[s])).length;
  return Math.max(0, Math.floor((shared - 1) / 2));
}

// ---- Pareto fronts

const fronts = make('div', {class: 'chart', style: {height: 'clamp(20rem, 48vw, 31rem)'}});

const crosshair = {
  id: 'crosshair',
  beforeDatasetsDraw(chart) {
    const corner = state.scenario.corners[state.corner];
    if (!corner) return;
    const {ctx, chartArea, scales} = chart;
    const x = scales.x.getPixelForValue(corner.x);
    if (x < chartArea.left || x > chartArea.right) return;
    ctx.save();
    ctx.strokeStyle = cssColor('--soft');
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(x, chartArea.top);
    ctx.lineTo(x, chartArea.bottom);
    ctx.stroke();
    ctx.restore();
  },
};

const place = i => ({x: value(data.rows[i], 'tokens_per_s_per_user'), y: value(data.rows[i], 'tokens_per_s_per_mw'), row: i});

function frontDatasets() {
  const lines = [], clouds = [];
  for (const series of state.scenario.series) {
    const color = cssColor(seriesVariable(series.label));
    const common = {label: series.label, borderColor: color, pointStyle: seriesShape(series.label), backgroundColor: color};
    const corners = series.front.map(place);
    // The front holds its first value all the way to the left edge of the chart.
    const lead = corners.length ? [{x: state.logX ? corners[0].x / 1000 : 0, y: corners[0].y, row: null}] : [];
    lines.push({...common, data: [...lead, ...corners], stepped: 'after', borderWidth: 2, showLine: true,
                pointRadius: c => c.raw && c.raw.row === null ? 0 : 4.5, pointHoverRadius: c => c.raw && c.raw.row === null ? 0 : 7, pointHitRadius: 8});
    const others = series.rows.filter(i => data.rows[i].status === 'ok' && !series.front.includes(i)).map(place).filter(p => isNumber(p.x) && isNumber(p.y));
    clouds.push({...common, data: others, showLine: false, pointRadius: 2.5, pointHoverRadius: 5, backgroundColor: color + '59', borderColor: color + '59'});
  }
  return [...lines, ...clouds];
}

function frontScale(name, log) {
  const points = state.scenario.series.flatMap(s => s.rows).map(place).map(p => name === 'x' ? p.x : p.y).filter(v => isNumber(v) && v > 0);
  const title = name === 'x' ? 'interactivity, tokens/s per user' : 'tokens/s per MW (IT)';
  return {
    type: log ? 'logarithmic' : 'linear', min: log ? Math.min(...points) * .8 : 0,
    ...(log ? {max: Math.max(...points) * 1.25} : {}),
    title: {display: true, text: title, color: cssColor('--soft'), font: {size: 13}},
    grid: {color: cssColor('--line'), borderColor: cssColor('--line')},
    ticks: {color: cssColor('--soft'), maxTicksLimit: 10, maxRotation: 0, callback: v => log && !/^[125]e/.test(v.toExponential()) ? null : short(v)},
  };
}

function tooltipLines(item) {
  const row = data.rows[item.raw.row], lines = settings(row);
  for (const name of ['tokens_per_s_per_mw', 'tokens_per_s_per_user', 'tokens_per_s', 'tpot_us', 'batch', 'sustained_over_peak', 'it_power_kw', 'bottleneck']) {
    if (value(row, name) !== undefined && !(name in row.swept)) lines.push(`${name} ${show(value(row, name))}`);
  }
  return lines;
}

function tooltipStyle() {
  return {backgroundColor: cssColor('--card'), titleColor: cssColor('--ink'), bodyColor: cssColor('--soft'), borderColor: cssColor('--line'),
          borderWidth: 1, padding: 11, cornerRadius: 8, displayColors: false, titleFont: {size: 13}, bodyFont: {size: 12}, caretSize: 0, caretPadding: 10};
}

function drawFronts() {
  state.chart?.destroy();
  const canvas = make('canvas', {role: 'img', 'aria-label': 'Pareto fronts of tokens per second per megawatt against interactivity; the table below holds the same numbers'});
  fronts.replaceChildren(canvas);
  Chart.defaults.font.family = getComputedStyle(document.documentElement).fontFamily;
  state.chart = new Chart(canvas, {
    type: 'scatter', data: {datasets: frontDatasets()}, plugins: [crosshair],
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, interaction: {mode: 'nearest', intersect: true},
      scales: {x: frontScale('x', state.logX), y: frontScale('y', state.logY)},
      onClick: (event, hits) => { const hit = hits.find(h => h.element.$context.raw.row !== null); if (hit) choose(hit.element.$context.raw.x); },
      plugins: {legend: {display: false}, tooltip: {...tooltipStyle(), filter: item => item.raw.row !== null,
        callbacks: {title: items => items.length ? items[0].dataset.label : '', label: tooltipLines}}},
    },
  });
}

function choose(x) {
  const at = state.scenario.corners.findIndex(c => c.x >= x);
  if (at >= 0) { state.corner = at; update(); }
}

// ---- tables of the fronts

function headline() {
  const at = (row, text) => make('span', {}, text, row ? pointName(row) : null);
  const rows = state.scenario.series.map(series => {
    const corners = series.front.map(i => data.rows[i]);
    const best = corners[0], fastest = corners[corners.length - 1];
    const [first] = okRows(series);
    return [make('th', {scope: 'row'}, dot(series.label), ' ', series.label),
      {number: at(best, short(best && value(best, 'tokens_per_s_per_mw')))}, {number: show(best && value(best, 'tokens_per_s_per_user'), 3)},
      {number: at(fastest, show(fastest && value(fastest, 'tokens_per_s_per_user'), 3))}, {number: short(fastest && value(fastest, 'tokens_per_s_per_mw'))},
      {number: show(first && value(first, 'peak_pflops_per_mw'), 3)}, {number: show(best && value(best, 'sustained_pflops_per_mw'), 3)},
      {number: percent(best && value(best, 'sustained_over_peak'))}, {number: show(best && value(best, 'usd_per_million_tokens'), 3)}];
  });
  const unit = (name, sub) => ({number: make('span', {}, name, make('span', {class: 'unit'}, sub))});
  return table(['', unit('most tokens/s per MW', 'at the top of the front'), unit('at', 'tokens/s per user'), unit('most interactive', 'tokens/s per user'),
    unit('at', 'tokens/s per MW'), unit('peak', 'PFLOP/s per provisioned MW'), unit('sustained', 'PFLOP/s per MW, at the top'),
    unit('sustained / peak', 'at the top'), unit('price', 'USD per 10⁶ tokens')], rows, 'Headline numbers');
}

function ratioTable() {
  const {series, corners} = state.scenario;
  const rows = corners.map((corner, c) => {
    const base = corner.best[state.base], baseValue = base === null ? null : value(data.rows[base], 'tokens_per_s_per_mw');
    const cells = corner.best.map((i, s) => {
      if (i === null) return {number: make('span', {class: 'none'}, '')};
      const y = value(data.rows[i], 'tokens_per_s_per_mw');
      const ratio = baseValue && s !== state.base ? y / baseValue : null;
      const text = make('span', {}, short(y));
      if (ratio !== null) text.append(' ', make('span', {class: 'ratio ' + (ratio >= 1 ? 'better' : 'worse')}, ratioText(ratio)));
      text.append(pointName(data.rows[i]));
      return {number: text};
    });
    const row = make('tr', c === state.corner ? {class: 'current'} : {}, make('th', {scope: 'row', class: 'number'}, show(corner.x)),
      ...cells.map(cell => make('td', {class: 'number'}, cell.number)));
    return row;
  });
  return table([{number: make('span', {}, 'interactivity', make('span', {class: 'unit'}, 'at least, tokens/s per user'))},
    ...series.map(s => ({number: make('span', {}, dot(s.label), ' ', s.label)}))], rows, 'Value of each front at every corner');
}

// ---- what the operating point looks like inside

const partNames = [['tensor engine', 'energy_tensor_j'], ['vector engines', 'energy_vector_j'], ['SBUF', 'energy_sbuf_j'], ['PSUM', 'energy_psum_j'],
  ['HBM', 'energy_hbm_j'], ['links', 'energy_link_j'], ['chip static', 'energy_static_j'], ['hosts, network, losses', null], ['cooling and facility', null]];

/// Average kW by part; the last two are what is left up to the IT and the utility boundary.
function powerParts(row) {
  const seconds = value(row, 'latency_us') / 1e6, it = value(row, 'it_power_kw'), utility = value(row, 'utility_power_kw');
  const parts = partNames.map(([, name]) => name && isNumber(value(row, name)) && seconds > 0 ? value(row, name) / seconds / 1000 : 0);
  const chips = parts.reduce((a, b) => a + b, 0);
  if (isNumber(it)) parts[7] = Math.max(0, it - chips);
  if (isNumber(it) && isNumber(utility)) parts[8] = Math.max(0, utility - it);
  return parts;
}

function named(label, note) {
  return make('div', {class: 'name'}, make('span', {}, dot(label), ' ', label), make('small', {}, note));
}

const absent = label => make('div', {}, named(label, 'no point at this interactivity'), make('div', {class: 'track'}));

function peakBars(points) {
  const top = Math.max(...points.map(p => p.row ? value(p.row, 'peak_pflops') ?? 0 : 0));
  return make('div', {class: 'bars'}, ...points.map(({label, row}) => {
    const peak = row && value(row, 'peak_pflops'), sustained = row && value(row, 'sustained_pflops');
    if (!isNumber(peak) || !isNumber(sustained)) return absent(label);
    const note = `${show(sustained, 3)} of ${show(peak, 4)} PFLOP/s ${value(row, 'peak_dtype') ?? ''} · ${percent(sustained / peak)}`;
    const width = x => (top > 0 ? 100 * x / top : 0) + '%';
    return make('div', {title: settings(row).join('\n')}, named(label, note),
      make('div', {class: 'track', style: {background: 'transparent'}},
        make('div', {style: {width: width(peak), height: '100%', background: 'var(--track)', borderRadius: '4px'}},
          make('div', {class: 'fill', 'data-mark': '', style: {width: percentWidth(sustained / peak), background: `var(${seriesVariable(label)})`}}))));
  }));
}

const percentWidth = x => Math.min(100, Math.max(0, 100 * x)) + '%';

function powerBars(points) {
  const all = points.map(p => p.row ? powerParts(p.row) : null);
  const sum = list => list.reduce((a, b) => a + b, 0);
  const top = Math.max(...all.map(parts => parts ? sum(parts) : 0));
  const bars = points.map(({label, row}, p) => {
    if (!row || top <= 0) return absent(label);
    const note = `chip ${show(value(row, 'chip_power_w'), 3)} W · IT ${show(value(row, 'it_power_kw'), 3)} kW · utility ${show(value(row, 'utility_power_kw'), 3)} kW`;
    const pieces = all[p].map((kw, i) => kw > 0 ? make('div', {'data-mark': '', title: `${partNames[i][0]}: ${show(kw, 3)} kW (${percent(kw / sum(all[p]))})`,
      style: {width: 100 * kw / top + '%', background: `var(--p${i})`, height: '100%', flex: 'none'}}) : null);
    return make('div', {}, named(label, note), make('div', {class: 'track', style: {display: 'flex', height: '1.25rem', background: 'none'}}, ...pieces));
  });
  const key = partNames.map(([name], i) => make('li', {}, make('span', {class: 'dot', style: {background: `var(--p${i})`}}), name));
  return make('div', {}, make('div', {class: 'bars'}, ...bars), make('ul', {class: 'key'}, ...key));
}

function utilization(points) {
  const engines = ['tensor', 'vector', 'scalar', 'gpsimd', 'dma', 'hbm', 'link'];
  const rows = points.map(({label, row}) => [make('th', {scope: 'row'}, dot(label), ' ', label), ...engines.map(engine => {
    const use = row && value(row, engine + '_utilization');
    if (!isNumber(use)) return make('td', {}, '–');
    return make('td', {}, make('div', {class: 'cell'}, make('span', {class: 'number'}, percent(use)),
      make('div', {class: 'track'}, make('div', {class: 'fill', 'data-mark': '', style: {width: percentWidth(use), background: `var(${seriesVariable(label)})`}}))));
  }), row ? value(row, 'bottleneck') ?? '–' : '–']);
  return table(['', ...engines.map(e => ({hbm: 'HBM', dma: 'DMA', gpsimd: 'GpSimd'})[e] ?? e), 'bottleneck'], rows, 'Utilization by engine');
}

function chosenPoints(points) {
  const names = ['tokens_per_s_per_mw', 'tokens_per_s_per_user', 'tokens_per_s', 'batch', 'exposed_communication_us', 'latency_us', 'roofline_us'].filter(n => units.has(n));
  return table(['', ...names.map(heading), 'point'], points.filter(p => p.row).map(({label, row}) =>
    [make('th', {scope: 'row'}, dot(label), ' ', label), ...names.map(n => ({number: show(value(row, n))})), make('td', {}, pointName(row))]), 'The chosen points');
}

const heading = name => ({number: make('span', {title: units.get(name)?.formula ?? ''}, name, make('span', {class: 'unit'}, units.get(name)?.unit ?? ''))});

const metricColumn = m => ({name: m.name, unit: m.unit, hint: m.formula, number: data.rows.every(r => typeof r.metrics[m.name] !== 'string'), get: row => row.metrics[m.name]});

function pointsTable() {
  const swept = [...new Set(data.rows.flatMap(row => Object.keys(row.swept)))];
  const main = new Set(['tokens_per_s_per_mw', 'tokens_per_s_per_user', 'tpot_us', 'latency_us', 'sustained_over_peak', 'it_power_kw', 'bottleneck', 'batch', 'roofline_us']);
  const card = make('div', {class: 'card'});
  let all = false;
  function fill() {
    const shown = data.metrics.filter(m => (all || main.has(m.name)) && !swept.includes(m.name));
    const sweptColumns = swept.map(name => ({name, get: row => row.swept[name], number: data.rows.every(row => !row.swept[name] || Number.isFinite(Number(row.swept[name])))}));
    for (const column of sweptColumns) if (column.number) column.node = row => row.swept[column.name] ?? '';
    const view = browser(data.rows, [{name: 'id', get: row => row.id}, ...sweptColumns, {name: 'status', get: row => row.status}, ...shown.map(metricColumn), {name: 'fold', get: row => row.fold}], 'points');
    const more = make('button', {class: 'tool', type: 'button', 'aria-pressed': String(all), on: {click: () => { all = !all; fill(); }}}, 'every metric');
    card.replaceChildren(make('div', {class: 'tools'}, ...view.tools, more), view.table);
  }
  fill();
  return card;
}

/// Long text (who waits for whom in a deadlock) opens on demand.
function folded(text, most = 220) {
  if (text.length <= most) return text;
  return make('details', {}, make('summary', {}, text.slice(0, most - 40) + ' …'), text);
}

function failures() {
  const failed = data.rows.filter(row => row.status !== 'ok');
  if (!failed.length) return null;
  const view = browser(failed, [{name: 'id', get: row => row.id}, {name: 'point', wide: true, get: row => settings(row).join(', ')}, {name: 'status', get: row => row.status}, {name: 'reason', wide: true, get: row => row.error, node: row => folded(row.error)}], 'points without a result');
  return section('Points without a result', 'A mapping that does not fit is an answer: the reason names the limit.', make('div', {class: 'card'}, make('div', {class: 'tools'}, ...view.tools), view.table));
}

function parameters() {
  if (!data.parameters.length) return null;
  const range = p => p.low || p.high ? `${p.low} – ${p.high}` : '';
  const columns = [{name: 'parameter', get: p => p.parameter, node: p => make('code', {}, p.parameter)},
    {name: 'value', get: p => p.value}, {name: 'unit', get: p => p.unit}, {name: 'low – high', get: range},
    {name: 'confidence', get: p => p.confidence, node: p => p.confidence ? make('span', {class: 'badge ' + p.confidence.replace(/[^a-z-]/g, '')}, p.confidence) : ''},
    {name: 'used by', wide: true, get: p => p.where}, {name: 'source', wide: true, get: p => p.source}, {name: 'origin', get: p => p.origin}];
  const view = browser(data.parameters, columns, 'parameters');
  return section('Parameters', 'Every value behind the numbers above, with how far it can be trusted and where it comes from.', make('div', {class: 'card'}, make('div', {class: 'tools'}, ...view.tools), view.table));
}

function metricTable() {
  const rows = data.metrics.map(m => [make('th', {scope: 'row'}, make('code', {}, m.name)), m.unit, m.boundary, make('td', {class: 'wrap'}, m.formula)]);
  return make('section', {}, make('h2', {}, 'Metrics'), make('details', {class: 'card'}, make('summary', {}, 'Unit, boundary and formula of each'), make('div', {class: 'scroll', tabindex: '0'}, table(['metric', 'unit', 'boundary', 'formula'], rows, 'Metrics'))));
}

// ---- assembly

const views = {headline: make('div', {class: 'card scroll', tabindex: '0'}), ratios: make('div', {class: 'scroll', tabindex: '0'}), chosen: make('div', {class: 'card scroll', tabindex: '0'}),
  peak: make('div', {class: 'card'}), power: make('div', {class: 'card'}), use: make('div', {class: 'card scroll', tabindex: '0'}), key: make('ul', {class: 'key'})};
const slider = make('input', {type: 'range', min: 0, step: 1, 'aria-label': 'interactivity, tokens per second per user', on: {input: () => { state.corner = Number(slider.value); update(); }}});
const shownX = make('output');
const sliderRow = make('label', {class: 'slider'}, 'interactivity', slider, shownX);
const baseChoice = make('select', {'aria-label': 'base of the ratios', on: {change: () => { state.base = Number(baseChoice.value); update(); }}});
const scenarioButtons = data.scenarios.map(s => make('button', {type: 'button', on: {click: () => chooseScenario(s)}}, s.label || 'all points'));

function toggle(text, key) {
  const button = make('button', {class: 'tool', type: 'button', 'aria-pressed': String(state[key]), on: {click: () => {
    state[key] = !state[key];
    button.setAttribute('aria-pressed', String(state[key]));
    drawFronts();
  }}}, text);
  return button;
}

/// What the test of this page counts: points on the chart and pieces of bars, as drawn.
function countMarks() {
  const points = state.chart ? state.chart.data.datasets.flatMap(d => d.data).filter(p => p.row !== null).length : 0;
  Object.assign(document.documentElement.dataset, {marks: points + page.querySelectorAll('[data-mark]').length, points});
}

/// Everything that depends on the chosen interactivity.
function update() {
  const {corners} = state.scenario, points = operatingPoints();
  if (corners.length) {
    slider.value = state.corner;
    shownX.textContent = `≥ ${show(corners[state.corner].x)} tokens/s per user`;
    views.ratios.replaceChildren(ratioTable());
    state.chart?.draw();
  }
  views.chosen.replaceChildren(chosenPoints(points));
  views.peak.replaceChildren(peakBars(points));
  views.power.replaceChildren(powerBars(points));
  views.use.replaceChildren(utilization(points));
  countMarks();
}

function chooseScenario(scenario) {
  state.scenario = scenario;
  state.corner = middleCorner(scenario);
  state.base = Math.max(0, scenario.series.findIndex(s => s.front.length));
  scenarioButtons.forEach((button, i) => button.setAttribute('aria-pressed', String(data.scenarios[i] === scenario)));
  const hasFront = scenario.corners.length > 0;
  for (const element of [sliderRow, frontSection]) element.hidden = !hasFront;
  slider.max = Math.max(0, scenario.corners.length - 1);
  baseChoice.replaceChildren(...scenario.series.map((s, i) => make('option', {value: i, selected: i === state.base}, s.label)));
  views.key.replaceChildren(...scenario.series.map(s => make('li', {}, dot(s.label), `${s.label} (${okRows(s).length} of ${s.rows.length} points)`)));
  if (hasFront) { views.headline.replaceChildren(headline()); drawFronts(); } else { state.chart?.destroy(); state.chart = null; }
  update();
}

const frontSection = make('div', {},
  section('Tokens per second per megawatt', 'Each line is a Pareto front: at an interactivity its value is the best among the points that are at least that interactive, a step and never interpolated. '
    + 'Megawatts are the modelled average IT power of the whole platform, idle chips and hosts counted. Faint marks are points behind their front.',
    make('div', {class: 'card'}, make('div', {class: 'tools'}, toggle('log interactivity', 'logX'), toggle('log tokens/s per MW', 'logY')), fronts, views.key)),
  section('Headline', null, views.headline),
  section('Front against front', 'Tokens/s per MW of each front at every corner of any of them, and the ratio to the base. Empty where a front has no point that interactive.',
    make('div', {class: 'card'}, make('div', {class: 'tools'}, make('label', {}, 'base', baseChoice)), views.ratios)));

function assemble() {
  const counts = {};
  for (const row of data.rows) counts[row.status] = (counts[row.status] ?? 0) + 1;
  const facts = make('ul', {class: 'facts'}, make('li', {}, make('b', {}, String(data.rows.length)), ' points'),
    ...Object.entries(counts).map(([status, n]) => make('li', {}, make('b', {}, String(n)), ' ' + status)), data.version ? make('li', {}, 'trnsim ', make('b', {}, data.version)) : null);
  const sheet = make('div', {class: 'sheet'}, make('div', {class: 'choices', role: 'group', 'aria-label': 'scenario'}, ...scenarioButtons), sliderRow);
  page.append(facts);
  if (data.scenarios.length) {
    page.append(sheet, frontSection,
      section('At this interactivity', 'Each machine at its best point that is at least as interactive as chosen above.', views.chosen),
      make('div', {class: 'pair'}, section('Peak against sustained', 'The workload’s own FLOPs per second against the array peak at the fastest dtype it uses.', views.peak),
        section('Power by part', 'Average power of the run, from counted activity; the last two parts reach the IT and the utility boundary.', views.power)),
      section('Utilization by engine', 'Busy time over elapsed time, mean over every unit of the machine, idle ones too.', views.use));
    chooseScenario(data.scenarios[0]);
  }
  page.append(...[section('Points', 'Every point of the sweep; click a heading to sort.', pointsTable()), failures(), parameters(), metricTable()].filter(Boolean));
  countMarks();
  media.addEventListener('change', () => { if (state.chart) drawFronts(); });
}

assemble();
