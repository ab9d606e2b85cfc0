// pages.mjs - the status page of real runs, seen by a real browser: `node pages.mjs ENDWELL FOLDER`.
//
// FOLDER gets a picture of every state and width. Each test waits for what it is about, never for time.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [endwell, shots] = process.argv.slice(2);
const WAIT = 60000;
mkdirSync(shots, { recursive: true });

const check = (good, words) => { if (!good) throw new Error(words); };
const equal = (found, wanted, what) =>
  check(JSON.stringify(found) === JSON.stringify(wanted), `${what}: found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);

const freePort = () => new Promise(done => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

// ---- A run of endwell, in a PID namespace of its own.
class Run {
  static async start(services, phases = 'http workers db') {
    const run = new Run();
    run.folder = mkdtempSync('/dev/shm/endwell-browser-');
    run.port = await freePort();
    run.url = `http://127.0.0.1:${run.port}/`;
    const text = services(run.folder).map(([name, keys]) =>
      `[Service ${name}]\n${Object.entries(keys).map(([key, value]) => `${key}=${value}\n`).join('')}`).join('');
    writeFileSync(join(run.folder, 'endwell.ini'),
      `[Supervisor]\nRuntimeDirectory=${run.folder}/run\nPhases=${phases}\n[Gateway]\nListen=tcp://127.0.0.1:${run.port}\n${text}`);
    run.process = spawn('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', endwell, 'run', '-c', join(run.folder, 'endwell.ini')],
      { stdio: ['ignore', 'ignore', 'ignore'] });
    run.ended = new Promise(done => run.process.on('exit', code => done(code)));
    await run.until(async () => (await fetch(`${run.url}livez`)).ok && (await fetch(`${run.url}status`)).ok);
    return run;
  }
  async until(test) {
    const end = Date.now() + WAIT;
    for (;;) {
      try { if (await test()) return; } catch { /* nobody is there yet */ }
      check(Date.now() < end, `waited in vain for ${test}`);
      await new Promise(done => setTimeout(done, 50));
    }
  }
  // endwell is the child of unshare
  asks() {
    const [pid] = readFileSync(`/proc/${this.process.pid}/task/${this.process.pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(pid), 'SIGTERM');
  }
  async clean() {
    this.process.kill('SIGKILL');
    await this.ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const SLEEP = 'sleep infinity';
const four = () => [
  ['web', { ExecStart: SLEEP, Phase: 'http', Instances: 2 }], ['proxy', { ExecStart: SLEEP, Phase: 'http' }],
  ['mailer', { ExecStart: SLEEP, Phase: 'workers' }], ['database', { ExecStart: SLEEP, Phase: 'db' }],
];
const hundreds = () => Array.from({ length: 400 }, (_, i) =>
  [`service-number-${i}`, { ExecStart: SLEEP, Phase: ['http', 'workers', 'db'][i % 3] }]);

// ---- A page, and what must be true of every page.
const WIDTHS = { phone: { width: 360, height: 740 }, wide: { width: 1920, height: 1080 } };
let browser;

async function look(run, { width = 'wide', dark = false, script = true } = {}) {
  const context = await browser.newContext({ viewport: WIDTHS[width], colorScheme: dark ? 'dark' : 'light',
    javaScriptEnabled: script, deviceScaleFactor: 1 });
  const page = await context.newPage();
  page.faults = [];
  page.on('console', message => { if (['error', 'warning'].includes(message.type())) page.faults.push(message.text()); });
  page.on('pageerror', error => page.faults.push(String(error)));
  page.on('request', request => {
    if (!request.url().startsWith(run.url) && !request.url().startsWith('data:')) page.faults.push(`asked ${request.url()}`);
  });
  page.setDefaultTimeout(WAIT);
  const answer = await page.goto(run.url, { waitUntil: script ? 'domcontentloaded' : 'load' });
  equal(answer.status(), 200, 'the answer');
  const policy = answer.headers()['content-security-policy'];
  check(policy.startsWith("default-src 'none'") && !policy.includes('unsafe'), `the policy: ${policy}`);
  return page;
}

async function done(page, name) {
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: false });
  const { content, room } = await page.evaluate(() => ({ content: document.documentElement.scrollWidth, room: innerWidth }));
  check(content <= room, `${name} is ${content} px wide in a window of ${room}`);
  equal(page.faults, [], `what the browser complains of in ${name}`);
  await page.context().close();
}

// Not waitForFunction(): it evaluates text in the page, which the page's policy forbids.
async function until(page, test, argument) {
  const end = Date.now() + WAIT;
  while (!await page.evaluate(test, argument)) {
    check(Date.now() < end, `waited in vain for ${test}`);
    await new Promise(done => setTimeout(done, 50));
  }
}

const states = page => page.locator('#state').textContent();
const stateIs = (page, text) => until(page, wanted => document.getElementById('state').textContent.startsWith(wanted), text);

const TESTS = {
  async a_start_that_waits_is_seen_and_becomes_ready() {
    const run = await Run.start(folder => [...four(), ['slow', { ExecStart: SLEEP, Phase: 'http', TimeoutStartSec: 600,
      ReadinessProbe: `exec:test -e ${folder}/ready period=200ms timeout=100ms` }]]);
    try {
      const page = await look(run);
      await stateIs(page, 'Starting');
      await page.locator('.service.is-wait', { hasText: 'slow' }).waitFor();
      await page.screenshot({ path: join(shots, 'starting-wide.png') });
      const phone = await look(run, { width: 'phone' });
      await phone.locator('.service.is-wait', { hasText: 'slow' }).waitFor();
      await done(phone, 'starting-phone');
      writeFileSync(join(run.folder, 'ready'), '');
      await stateIs(page, 'Ready');
      unlinkSync(join(run.folder, 'ready'));
      await stateIs(page, 'Not ready');
      await done(page, 'not-ready-wide');
    } finally { await run.clean(); }
  },

  async phases_are_columns_in_their_order_with_their_services() {
    const run = await Run.start(four);
    try {
      for (const [width, dark] of [['wide', false], ['wide', true], ['phone', false], ['phone', true]]) {
        const page = await look(run, { width, dark });
        await stateIs(page, 'Ready');
        await page.locator('.service').nth(3).waitFor();
        equal(await page.locator('.phase h3').allTextContents(), ['http', 'workers', 'db'], 'the phases');
        equal(await page.locator('.phase').first().locator('.service b').allTextContents(), ['web', 'proxy'], 'of http');
        equal(await page.locator('#processes-ready').textContent(), '5 of 5', 'who is ready');
        const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0]);
        check(dark ? light < 60 : light > 200, `the ground of a ${dark ? 'dark' : 'light'} page: ${light}`);
        await done(page, `ready-${width}${dark ? '-dark' : ''}`);
      }
    } finally { await run.clean(); }
  },

  async a_screen_reader_and_a_keyboard_find_their_way() {
    const run = await Run.start(four);
    try {
      const page = await look(run);
      await stateIs(page, 'Ready');
      await page.locator('.service').nth(3).waitFor();
      for (const [role, name] of [['heading', 'Processes'], ['heading', 'Journal'], ['region', 'Processes'], ['region', 'http'],
        ['heading', 'workers'], ['list', 'The last events, the newest at the end'], ['main', undefined], ['banner', undefined]])
        equal(await page.getByRole(role, { name, exact: true }).count(), 1, `how many there are of ${role} ${name}`);
      equal(await page.getByRole('status').textContent(), 'Ready', 'what is announced');
      equal(await page.getByRole('region', { name: 'http', exact: true }).getByRole('listitem').count(), 2, 'items in http');
      equal(await page.locator('html').getAttribute('lang'), 'en', 'the language');
      await page.keyboard.press('Tab');
      equal(await page.evaluate(() => document.activeElement.className), 'skip', 'the first stop of Tab');
      await page.keyboard.press('Enter');
      equal(await page.evaluate(() => document.activeElement.id), 'processes', 'where it leads');
      await page.keyboard.press('Tab');
      equal(await page.evaluate(() => document.activeElement.id), 'journal', 'the next stop');
      await done(page, 'keyboard-wide');
    } finally { await run.clean(); }
  },

  async an_ending_grows_beside_its_budget_to_its_end() {
    const run = await Run.start(folder => [...four(), ['slow', { Phase: 'workers',
      ExecStart: `sh -c 'trap "while ! test -e ${folder}/go; do sleep 0.05; done; exit 0" TERM; while :; do sleep 0.05; done'` }]]);
    try {
      const page = await look(run), phone = await look(run, { width: 'phone', dark: true });
      await stateIs(page, 'Ready');
      run.asks();
      await stateIs(page, 'Ending');
      await until(page, () => [...document.querySelectorAll('#timeline li')].some(row => row.textContent.includes('waiting for slow')));
      const bar = () => page.evaluate(() => parseFloat(document.querySelectorAll('#timeline .spent')[1].style.width));
      const before = await bar();
      await until(page, least => parseFloat(document.querySelectorAll('#timeline .spent')[1].style.width) > least + 3, before);
      const budget = await page.evaluate(() => parseFloat(document.querySelectorAll('#timeline .budget')[1].style.width));
      check(budget > before && budget <= 100, `the budget of workers is ${budget} %`);
      await page.screenshot({ path: join(shots, 'ending-wide.png') });
      await until(phone, () => document.querySelector('#timeline li') !== null);
      await done(phone, 'ending-phone-dark');
      const plain = await look(run, { script: false });
      check((await plain.locator('#timeline').textContent()).includes('workers'), 'the timeline without a script');
      await done(plain, 'ending-plain');
      writeFileSync(join(run.folder, 'go'), '');
      await stateIs(page, 'Ended well');
      equal(await run.ended, 0, 'exit code');
      check((await page.locator('#timeline').textContent()).includes('gone in'), 'what the timeline says at the end');
      page.faults = page.faults.filter(fault => !fault.includes('net::ERR')); // nobody is there any more
      await done(page, 'ended-wide');
    } finally { await run.clean(); }
  },

  async who_failed_for_good_stands_out() {
    const run = await Run.start(() => [...four(), ['broken', { Phase: 'workers', ExecStart: 'sh -c "exit 3"', Essential: 'no',
      StartLimitBurst: 2, RestartSec: '10ms' }]]);
    try {
      for (const width of ['wide', 'phone']) {
        const page = await look(run, { width });
        await page.locator('.service.is-bad', { hasText: 'broken' }).filter({ hasText: 'failed' }).waitFor();
        check((await page.locator('.phase', { hasText: 'workers' }).locator('header').textContent()).includes('1 in trouble'), 'the sum');
        const [first, other] = await Promise.all(['broken', 'mailer'].map(name =>
          page.locator('.service', { hasText: name }).boundingBox()));
        check(first.y < other.y || first.x < other.x, 'trouble stands first');
        await done(page, `failed-${width}`);
      }
    } finally { await run.clean(); }
  },

  async four_hundred_services_fit() {
    const run = await Run.start(hundreds);
    try {
      await run.until(async () => (await fetch(`${run.url}readyz`)).ok);
      for (const [width, dark] of [['wide', true], ['phone', false]]) {
        const page = await look(run, { width, dark });
        await page.locator('.service').nth(399).waitFor();
        await stateIs(page, 'Ready');
        equal(await page.locator('.service.is-good').count(), 400, 'who is ready');
        await done(page, `hundreds-${width}`);
      }
    } finally { await run.clean(); }
  },

  async without_a_script_it_is_a_plain_table() {
    const run = await Run.start(four);
    try {
      await run.until(async () => (await fetch(`${run.url}readyz`)).ok);
      for (const width of ['wide', 'phone']) {
        const page = await look(run, { script: false, width });
        equal(await page.locator('tbody tr').count(), 5, 'rows');
        equal(await page.locator('tbody tr').first().locator('th').textContent(), 'web@1', 'the first one');
        check(await page.locator('table').isVisible(), 'the table is seen');
        check(!await page.locator('#board').isVisible(), 'no board');
        equal(await states(page), 'Ready', 'the state');
        await done(page, `plain-${width}`);
      }
    } finally { await run.clean(); }
  },

  async what_a_service_says_is_text() {
    const evil = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">';
    const run = await Run.start(folder => {
      writeFileSync(join(folder, 'say'), `${endwell} notify READY=1 'STATUS=${evil}'\nexec sleep infinity\n`);
      return [...four(), ['loud', { ExecStart: `sh ${folder}/say`, Type: 'notify', Phase: 'http' }]];
    });
    try {
      for (const script of [true, false]) {
        const page = await look(run, { script });
        const place = script ? page.locator('.service', { hasText: 'loud' }) : page.locator('tbody tr', { hasText: 'loud' });
        await place.filter({ hasText: evil }).waitFor();
        if (script) check((await page.locator('#journal').textContent()).includes(evil), 'the journal shows it');
        if (script) equal(await page.evaluate(() => window.hacked), undefined, 'what it did');
        equal(await page.locator('main img, main script').count(), 0, 'what became of it');
        await done(page, `text-${script ? 'script' : 'plain'}`);
      }
    } finally { await run.clean(); }
  },
};

browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
let passed = 0, failed = 0;
for (const [name, test] of Object.entries(TESTS)) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) continue;
  const begun = Date.now();
  try {
    await test();
    passed++;
    console.log(`ok   ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n     ${error.stack}`);
  }
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
