// measure.mjs - what both peers' programs share: latencies of claims, and the line of JSON.
export class Claims {
    times = [];

    add(milliseconds) {
        this.times.push(milliseconds * 1000);
    }

    // Takes the time of this client's queries whose text has these words.
    watch(client, words) {
        const query = client.query;
        client.query = (...given) => {
            const begin = performance.now(), answer = query.apply(client, given);
            if (given[0]?.text?.includes(words))
                answer?.then?.(() => this.add(performance.now() - begin), () => {});
            return answer;
        };
    }

    percentile(share) {
        return Math.round(this.times[Math.floor(this.times.length * share)] ?? 0);
    }
}

export const until = (seconds) => new Promise((resolve) => setTimeout(() => resolve(false), seconds * 1000).unref());

export function report(jobs, milliseconds, claims = new Claims()) {
    claims.times.sort((a, b) => a - b);
    console.log(JSON.stringify({ jobs, seconds: milliseconds / 1000, claims: claims.times.length,
        p50_usec: claims.percentile(0.5), p99_usec: claims.percentile(0.99) }));
}
