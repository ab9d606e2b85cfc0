'use strict';
(() => {
  const main = document.getElementById('main'), run = JSON.parse(main.dataset.run);
  const $ = id => document.getElementById(id);
  const offset = performance.now() * 1000 - run.now_us; // of this clock to endwell's
  const now = () => performance.now() * 1000 - offset;
  const TAIL = 200;
  let status = null, lost = false;

  const make = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const dress = (node, name) => { if (node.className !== name) node.className = name; };
  const span = us => {
    const s = us / 1e6;
    if (s < 0.001) return '0 s';
    if (s < 1) return `${Math.round(s * 1000)} ms`;
    if (s < 120) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
    if (s < 7200) return `${Math.floor(s / 60)} min`;
    return s < 172800 ? `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min` : `${Math.floor(s / 86400)} days`;
  };
  const count = (n, one) => `${n} ${one}${n === 1 ? '' : 's'}`;

  // ---- What an instance is like: a kind for the eye, a word for everybody.
  const KINDS = { ready: 'good', failed: 'bad', killing: 'bad', left: 'bad', backoff: 'bad', done: 'rest', waiting: 'rest' };
  const ENDING = new Set(['pre-stop', 'stopping', 'clearing', 'post-stop']);
  const kindOf = one => one.not_ready ? 'wait' : KINDS[one.state] || (ENDING.has(one.state) ? 'move' : 'wait');
  const wordOf = one => one.not_ready ? 'not ready' : one.state === 'backoff' ? 'restarting' : one.state;
  const WORST = ['bad', 'wait', 'move', 'good', 'rest'];

  const describe = service => {
    const all = service.instances, kinds = all.map(kindOf);
    const kind = WORST.find(each => kinds.includes(each)) || 'rest';
    const worst = all[kinds.indexOf(kind)] || {};
    const ready = kinds.filter(each => each === 'good').length;
    const restarts = all.reduce((sum, one) => sum + (one.restarts || 0), 0);
    const more = [];
    if (all.length > 1) more.push(`${all.length} instances`);
    else if (worst.pid) more.push(`pid ${worst.pid}`);
    if (restarts) more.push(count(restarts, 'restart'));
    if (worst.active) more.push(`${worst.active} active`);
    const note = worst.not_ready || worst.status;
    if (note) more.push(note);
    if (kind !== 'good' && kind !== 'rest' && worst.since_us !== undefined) more.push(`for ${span(worst.since_us)}`);
    if (kind !== 'good' && worst.limit_us !== undefined) more.push(`at most ${span(worst.limit_us)} more`);
    const word = all.length > 1 && kind !== 'rest' ? `${wordOf(worst)} ${ready}/${all.length}` : wordOf(worst);
    return { kind, word, more: more.join(' · ') };
  };

  // ---- The board: a column a phase, a card a service; only what has changed is touched.
  const columns = new Map(), cards = new Map();
  const column = name => {
    if (columns.has(name)) return columns.get(name);
    const section = make('section', 'phase'), head = make('header'), list = make('ul', 'services'), sum = make('span');
    const title = make('h3', '', name);
    title.id = `phase-${columns.size}`;
    section.setAttribute('aria-labelledby', title.id);
    head.append(title, sum);
    section.append(head, list);
    $('board').append(section);
    const made = { section, list, sum };
    columns.set(name, made);
    return made;
  };
  const card = service => {
    if (cards.has(service.service)) return cards.get(service.service);
    const node = make('li', 'service'), top = make('div', 'top'), word = make('span', 'word'), more = make('div', 'more');
    top.append(make('b', '', service.service), word);
    node.append(top, more);
    column(service.phase).list.append(node);
    const made = { node, word, more };
    cards.set(service.service, made);
    return made;
  };
  const drawBoard = () => {
    for (const phase of run.phases) if (status.services.some(one => one.phase === phase.name)) column(phase.name);
    const sums = new Map();
    for (const service of status.services) {
      const made = card(service), seen = describe(service);
      dress(made.node, `service is-${seen.kind}`);
      put(made.word, seen.word);
      put(made.more, seen.more);
      made.more.hidden = !seen.more;
      const rank = String(WORST.indexOf(seen.kind) < 2 ? 0 : 1); // trouble first, and nothing else moves
      if (made.node.style.order !== rank) made.node.style.order = rank;
      const sum = sums.get(service.phase) || { all: 0, kinds: {} };
      sum.all++;
      sum.kinds[seen.kind] = (sum.kinds[seen.kind] || 0) + 1;
      sums.set(service.phase, sum);
    }
    for (const [name, made] of columns) {
      const { all, kinds } = sums.get(name) || { all: 0, kinds: {} };
      const parts = [count(all, 'service')];
      if (kinds.bad) parts.push(`${kinds.bad} in trouble`);
      if (kinds.wait) parts.push(`${kinds.wait} not ready`);
      if (kinds.move) parts.push(`${kinds.move} ending`);
      if (parts.length === 1) parts.push(kinds.good === all ? 'all ready' : kinds.good ? `${kinds.good} ready` : 'at rest');
      put(made.sum, parts.join(' · '));
      dress(made.section, `phase${status.phase === name ? ' now' : ''}${all > 24 ? ' many' : ''}`);
    }
  };

  // ---- The head.
  const drawHead = () => {
    let kind = 'wait', text = 'Starting';
    if (run.finished) [kind, text] = run.code ? ['bad', `Ended, exit code ${run.code}`] : ['rest', 'Ended well, exit code 0'];
    else if (lost) [kind, text] = ['bad', 'No connection'];
    else if (run.ending) [kind, text] = ['move', `Ending (${run.cause})`];
    else if (run.ready) [kind, text] = ['good', 'Ready'];
    else if (run.started) [kind, text] = ['wait', `Not ready: ${run.reason}`];
    dress($('state'), `state ${kind}`);
    put($('state'), text);
    const title = `${text} · endwell`;
    if (document.title !== title) document.title = title;
    if (!status) return;
    const all = status.services.flatMap(one => one.instances);
    put($('processes-ready'), `${all.filter(one => kindOf(one) === 'good').length} of ${all.length}`);
    put($('restarts'), String(all.reduce((sum, one) => sum + (one.restarts || 0), 0)));
    put($('uptime'), span(status.uptime_us));
  };

  // ---- The ending: each phase against what it may take, all against the deadline.
  const rows = new Map();
  const row = name => {
    if (rows.has(name)) return rows.get(name);
    const item = make('li'), track = make('div', 'track'), words = make('span', 'words');
    const budget = make('i', 'budget'), spent = make('i', 'spent'), instant = make('i', 'instant');
    track.setAttribute('aria-hidden', 'true');
    track.append(budget, spent, instant);
    item.append(make('span', 'name', name), track, words);
    $('timeline').append(item);
    const made = { budget, spent, instant, words };
    rows.set(name, made);
    return made;
  };
  const place = (node, from, length) => {
    const whole = run.deadline_us || 1, left = Math.max(0, Math.min(100, from / whole * 100));
    node.style.left = `${left}%`;
    if (length !== undefined) node.style.width = `${Math.max(0, Math.min(100 - left, length / whole * 100))}%`;
  };
  const drawEnding = () => {
    $('ending').hidden = !run.ending;
    if (!run.ending) return;
    const at = run.finished ? run.took_us : now() - run.ending_us;
    put($('ending-end'), `deadline ${span(run.deadline_us)}`);
    put($('ending-now'), run.finished ? `took ${span(at)}` : `${span(at)} so far`);
    for (const phase of run.phases) {
      const made = row(phase.name), from = phase.began ? phase.begun_us - run.ending_us : 0;
      const took = phase.finished ? phase.took_us : phase.began ? Math.max(0, at - from) : 0;
      for (const node of [made.budget, made.spent, made.instant]) node.hidden = !phase.began;
      place(made.budget, from, phase.limit_us);
      place(made.spent, from, took);
      place(made.instant, at);
      made.instant.hidden = phase.finished || !phase.began;
      dress(made.spent, `spent${phase.finished ? phase.killed || phase.left ? ' hurt' : ' done' : ''}`);
      let text = run.finished ? 'was not reached' : 'to come';
      if (phase.finished)
        text = `${phase.gone} gone in ${span(took)} of ${span(phase.limit_us)}` +
          (phase.killed ? `, ${phase.killed} killed` : '') + (phase.left ? `, ${phase.left} left` : '');
      else if (phase.began)
        text = `${span(took)} of ${span(phase.limit_us)}` + (phase.waiting ? `, waiting for ${phase.waiting}` : `, ${phase.members} to go`);
      put(made.words, text);
    }
  };

  // ---- The journal, in words.
  const many = new Set(); // services of several instances
  const who = e => {
    if (e.instance > 1) many.add(e.service);
    return e.service ? e.service + (many.has(e.service) ? `@${e.instance}` : '') : e.comm || '';
  };
  const SIGNALS = { 1: 'SIGHUP', 2: 'SIGINT', 3: 'SIGQUIT', 6: 'SIGABRT', 9: 'SIGKILL', 11: 'SIGSEGV', 15: 'SIGTERM' };
  const SAY = {
    supervisor_started: e => `endwell ${e.version} started, ${e.mode}`,
    startup_finished: e => `start-up finished in ${span(e.took_us)}`,
    startup_progress: e => `still starting: ${[].concat(e.waiting_for || []).join(' ')}`,
    service_starting: e => `${who(e)} is starting` + (e.attempt > 1 ? `, attempt ${e.attempt}` : ''),
    service_started: e => `${who(e)} started, pid ${e.pid}`,
    service_ready: e => `${who(e)} is ready after ${span(e.took_us)}`,
    service_exited: e => `${who(e)} ${e.error || (e.code === 'exited' ? `exited with ${e.status}` : `was ended by ${SIGNALS[e.status] || `signal ${e.status}`}`)}${e.asked ? ', as asked' : ''}`,
    service_gone: e => `${who(e)} is gone: ${e.cause}`,
    service_restart_scheduled: e => `${who(e)} is restarted in ${span(e.delay_us)}, after ${count(e.failures, 'failure')} in a row`,
    service_gave_up: e => `${who(e)} failed for good: ${e.reason}`,
    service_status: e => `${who(e)}: ${e.text}`,
    service_asked: e => `${who(e)} was asked to end by ${e.signal}`,
    service_killed: e => `${who(e)} was killed: ${e.reason}`,
    probe_changed: e => `${who(e)}: the ${e.probe} probe ${e.ok ? 'succeeds' : 'fails'}${e.detail ? `, ${e.detail}` : ''}`,
    readiness_changed: e => `${e.ready ? 'ready' : 'not ready'}: ${e.reason}`,
    readiness_acknowledged: e => `${e.by} knows that we are not ready, after ${span(e.took_us)}`,
    signal_received: e => `${e.signal} received from ${e.sender_comm || 'outside'}: ${e.effect.replace(/_/g, ' ')}`,
    ending_started: e => `the ending began: ${e.cause}; gone in at most ${span(e.deadline_us)}`,
    phase_started: e => `phase ${e.phase} is ending: ${e.members} to stop in at most ${span(e.limit_us)}`,
    phase_finished: e => `phase ${e.phase} ended: ${e.gone} gone, ${e.killed} killed, in ${span(e.took_us)}`,
    drain_progress: e => `phase ${e.phase} waits for ${e.left}: ${[].concat(e.waiting_for || []).join(' ')}`,
    ending_finished: e => `ended in ${span(e.took_us)}: exit ${e.code}, ${e.reason}`,
    hook_started: e => `hook ${e.hook} began`,
    hook_finished: e => `hook ${e.hook} ${e.timed_out ? 'timed out' : e.error || (e.status ? `failed with ${e.status}` : 'is done')}, after ${span(e.took_us)}`,
  };
  const COMMON = new Set(['seq', 'mono_us', 'time', 'epoch', 'event']);
  const say = e => {
    try {
      if (SAY[e.event]) return SAY[e.event](e);
    } catch (error) { /* a line of another version: its fields, then */ }
    const fields = Object.entries(e).filter(([key, value]) => !COMMON.has(key) && value !== null);
    return `${String(e.event).replace(/_/g, ' ')} ${fields.map(([key, value]) => `${key} ${value}`).join(', ')}`;
  };
  const tone = e => {
    if (['service_gave_up', 'service_killed', 'watchdog_expired'].includes(e.event)) return 'bad';
    if (e.event === 'service_gone' && !['clean', 'interrupted'].includes(e.cause)) return 'bad';
    if (e.event === 'ending_finished') return e.code ? 'bad' : 'good';
    if (e.event === 'readiness_changed') return e.ready ? 'good' : 'wait';
    return ['ending_started', 'phase_started', 'phase_finished'].includes(e.event) ? 'move' : '';
  };
  const log = e => {
    const list = $('journal'), stays = list.scrollHeight - list.scrollTop - list.clientHeight > 40;
    const item = make('li'), time = make('time', '', String(e.time).slice(11, 23));
    time.dateTime = e.time;
    item.append(time, make('span', tone(e), say(e)));
    list.append(item);
    while (list.childElementCount > TAIL) list.firstElementChild.remove();
    if (!stays) list.scrollTop = list.scrollHeight;
  };

  // ---- What happens changes the picture.
  const phaseOf = name => {
    let phase = run.phases.find(one => one.name === name);
    if (!phase) run.phases.push(phase = { name });
    return phase;
  };
  const TAKE = {
    readiness_changed: e => { run.ready = e.ready && !run.ending; run.reason = e.reason; },
    startup_finished: () => { run.started = true; },
    ending_started: e => Object.assign(run, { ending: true, ready: false, cause: e.cause, ending_us: e.mono_us, deadline_us: e.deadline_us }),
    phase_started: e => Object.assign(phaseOf(e.phase), { began: true, begun_us: e.mono_us, limit_us: e.limit_us, members: e.members }),
    phase_finished: e => Object.assign(phaseOf(e.phase), { finished: true, took_us: e.took_us, gone: e.gone, killed: e.killed, left: e.left }),
    drain_progress: e => { phaseOf(e.phase).waiting = [].concat(e.waiting_for || []).join(', '); },
    ending_finished: e => Object.assign(run, { finished: true, code: e.code, took_us: e.took_us }),
  };

  let asking = false, again = false, timer = 0;
  const refresh = async () => {
    if (run.finished) return;
    if (asking) { again = true; return; }
    asking = true;
    try {
      const answer = await fetch('/status');
      if (answer.ok) { status = await answer.json(); drawBoard(); }
    } catch (error) { /* the stream of events tells of a lost connection */ }
    asking = false;
    draw();
    if (again) { again = false; soon(); }
  };
  const soon = () => { if (!timer) timer = setTimeout(() => { timer = 0; refresh(); }, 250); };
  const draw = () => { drawHead(); drawEnding(); };

  const start = () => {
    const events = new EventSource(`/events?since=${run.seq}`);
    events.onmessage = message => {
      const e = JSON.parse(message.data);
      if (e.seq <= run.seq) return;
      run.seq = e.seq;
      if (TAKE[e.event]) TAKE[e.event](e);
      log(e);
      draw();
      if (run.finished) { events.close(); finish(); } else soon();
    };
    events.addEventListener('missed', message => {
      const { from, to } = JSON.parse(message.data);
      log({ time: new Date().toISOString(), event: 'missed', lines: `${from} to ${to}` });
    });
    events.onopen = () => { if (lost) { lost = false; refresh(); } };
    events.onerror = () => { lost = true; draw(); };
  };
  // Nobody is left to ask: what was there is gone.
  const finish = () => {
    if (status) {
      for (const service of status.services)
        for (const one of service.instances)
          if (one.state !== 'failed') Object.assign(one, { state: 'done', pid: 0, not_ready: undefined, status: undefined, limit_us: undefined });
      status.phase = null;
      drawBoard();
    }
    draw();
  };

  for (const row of document.querySelectorAll('#table tbody th')) {
    const [name, number] = row.textContent.split('@');
    if (number) many.add(name);
  }
  const first = [...document.querySelectorAll('#journal code')].map(node => node.textContent);
  $('journal').replaceChildren();
  $('timeline').replaceChildren();
  for (const line of first) {
    try { log(JSON.parse(line)); } catch (error) { /* a line that was cut */ }
  }
  $('board').hidden = false;
  $('table').hidden = true;
  draw();
  refresh();
  start();
  setInterval(() => { if (run.ending && !run.finished) drawEnding(); }, 200);
  setInterval(refresh, 5000);
})();
