// graphile.mjs - drains graphile-worker's jobs, or adds some, and says how fast it went: one line of JSON.
//
//     node graphile.mjs install | enqueue JOBS SIZE | one JOBS CONNECTIONS CAP_SEC | local JOBS CONNECTIONS CAP_SEC
//
// "one": every job is fetched and completed by itself, CONNECTIONS at a time. "local": the local queue fetches 500 at a time and
// completions are gathered, the fastest settings that its documentation gives. Where the database is comes from PG* variables.
import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
import pg from "pg";
import { Claims, report, until } from "./measure.mjs";

const logger = new Logger(() => (level, message) => {
    if (level === "error") console.error(message);
});
const LOCAL_QUEUE = 500;

function pool(connections, claims) {
    const made = new pg.Pool({ max: connections });
    made.on("error", () => {});
    made.on("connect", (client) => client.on("error", () => {}));
    if (claims)
        made.on("connect", (client) => claims.watch(client, "skip locked"));
    return made;
}

async function drain(mode, jobs, connections, capSec) {
    const claims = new Claims(), pgPool = pool(connections + 2, claims), own = pool(1);
    let done = 0, begin = 0, over;
    const all = new Promise((resolve) => { over = resolve; });
    const noop = () => {
        begin ||= performance.now();
        if (++done === jobs) over();
    };
    const settings = { concurrentJobs: connections, maxPoolSize: connections + 2, pollInterval: 2000, preparedStatements: true };
    if (mode === "local")
        Object.assign(settings, { localQueue: { size: LOCAL_QUEUE }, completeJobBatchDelay: 0, failJobBatchDelay: 0 });
    const runner = await run({ preset: { worker: settings }, pgPool, logger, taskList: { noop }, noHandleSignals: true });
    const inTime = await Promise.race([all.then(() => true), until(capSec)]);
    if (inTime)  // the last completions are still on their way
        while ((await own.query("select exists(select from graphile_worker._private_jobs) as some")).rows[0].some);
    report(done, performance.now() - begin, claims);
    if (!inTime) process.exit(0);
    await runner.stop();
    await Promise.all([pgPool.end(), own.end()]);
}

async function enqueue(jobs, size) {
    const pgPool = pool(4), utils = await makeWorkerUtils({ pgPool, logger });
    const specs = Array.from({ length: size }, () => ({ identifier: "noop", payload: { n: 1 } }));
    const begin = performance.now();
    let left = jobs;
    await Promise.all(Array.from({ length: 4 }, async () => {
        while (left > 0) {
            left -= size;
            await utils.addJobs(specs);
        }
    }));
    report(jobs, performance.now() - begin);
    await utils.release();
    await pgPool.end();
}

const [verb, first, second, third] = process.argv.slice(2);
if (verb === "install") {
    const pgPool = pool(1);
    await runMigrations({ pgPool, logger });
    await pgPool.end();
} else if (verb === "enqueue") await enqueue(Number(first), Number(second));
else await drain(verb, Number(first), Number(second), Number(third));
