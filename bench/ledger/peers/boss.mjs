// boss.mjs - drains pg-boss's jobs, or sends some, and says how fast it went: one line of JSON.
//
//     node boss.mjs install | enqueue JOBS SIZE | drain JOBS CONNECTIONS SIZE CAP_SEC
//
// CONNECTIONS loops of fetch() and complete(), SIZE jobs at a time, without the pauses of its work(). The fetched jobs are handed
// to complete() as work() hands them, so that its fence is on. Where the database is comes from PG* variables.
import { PgBoss } from "pg-boss";
import { Claims, report } from "./measure.mjs";

const QUEUE = "noop";

async function started(connections) {
    const { PGHOST: host, PGUSER: user, PGDATABASE: database, PGPORT: port } = process.env;
    const boss = new PgBoss({ host, user, database, port: Number(port), max: connections, supervise: false, schedule: false });
    boss.on("error", (error) => { throw error; });
    await boss.start();
    return boss;
}

async function drain(jobs, connections, size, capSec) {
    const boss = await started(connections), claims = new Claims();
    await boss.getQueue(QUEUE);
    let done = 0;
    const begin = performance.now();
    await Promise.all(Array.from({ length: connections }, async () => {
        while (performance.now() - begin < capSec * 1000) {
            const sent = performance.now();
            const taken = await boss.fetch(QUEUE, { batchSize: size });
            claims.add(performance.now() - sent);
            if (taken.length === 0) break;
            const answer = await boss.complete(QUEUE, taken);
            if (answer.affected !== taken.length) throw new Error(`${answer.affected} of ${taken.length} jobs were completed`);
            done += taken.length;
        }
    }));
    report(done, performance.now() - begin, claims);
    await boss.stop({ graceful: false });
}

async function enqueue(jobs, size) {
    const boss = await started(4), specs = Array.from({ length: size }, () => ({ data: { n: 1 } }));
    const begin = performance.now();
    let left = jobs;
    await Promise.all(Array.from({ length: 4 }, async () => {
        while (left > 0) {
            left -= size;
            await boss.insert(QUEUE, specs);
        }
    }));
    report(jobs, performance.now() - begin);
    await boss.stop({ graceful: false });
}

const [verb, ...numbers] = process.argv.slice(2);
if (verb === "install") {
    const boss = await started(1);
    await boss.createQueue(QUEUE);
    await boss.stop({ graceful: false });
} else await { enqueue, drain }[verb](...numbers.map(Number));
