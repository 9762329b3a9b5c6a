// node-redlock and redis-semaphore as peers: node index.js KIND redis://HOST:PORT/DB, in any order; the lines as in
// ../README.md. KIND: redlock (on one server; several names at once), redis-semaphore (its Mutex),
// redis-semaphore-permits (its Semaphore, or MultiSemaphore for more than one permit). All poll, and all renew.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { setImmediate: turn, setTimeout: sleep } = require('node:timers/promises');
const { Redis } = require('ioredis');
const { default: Redlock } = require('redlock');
const { Mutex, Semaphore, MultiSemaphore } = require('redis-semaphore');

const EXPIRY_MS = 10_000;
const now = () => process.hrtime.bigint();
const unsupported = new Error('unsupported');

function permits(name) {
    const found = /^(.+):(\d+)\/(\d+)$/.exec(name);
    return found && { name: found[1], n: Number(found[2]), limit: Number(found[3]) };
}

// For each kind: the library, its default polling, and a function that waits for the locks and returns their release.
const kinds = {
    redlock: {
        library: 'redlock',
        polls: 'polls-100..300ms',
        // using() is what renews; its routine lasts until we release. No limit to the retries of acquiring alone:
        // otherwise the release of an expired lock would never give up.
        connect: (server) => {
            const redlock = new Redlock([server]);
            return (names) => {
                if (names.some(permits)) throw unsupported;
                return new Promise((acquired, failed) => {
                    const used = redlock.using(names, EXPIRY_MS, { retryCount: -1 }, () => new Promise((done) => {
                        acquired(() => {
                            done();
                            return used;
                        });
                    }));
                    used.catch(failed);
                });
            };
        },
    },
    'redis-semaphore': {
        library: 'redis-semaphore',
        polls: 'polls-10ms',
        connect: (server) => (names) => {
            if (names.length > 1 || permits(names[0])) throw unsupported;
            return wait((options) => new Mutex(server, names[0], options));
        },
    },
    'redis-semaphore-permits': {
        library: 'redis-semaphore',
        polls: 'polls-10ms',
        connect: (server) => (names) => {
            if (names.length > 1) throw unsupported;
            const { name, n, limit } = permits(names[0]) ?? { name: names[0], n: 1, limit: 1 };
            return wait((options) => n === 1 ? new Semaphore(server, name, limit, options)
                                             : new MultiSemaphore(server, name, limit, n, options));
        },
    },
};

async function wait(make) {
    const lock = make({ lockTimeout: EXPIRY_MS, acquireTimeout: Infinity });
    await lock.acquire();
    return () => lock.release();
}

// Timers have a resolution of milliseconds; the rest is iterations of the event loop, so that renewals continue.
async function hold(until) {
    const ms = Number((until - now()) / 1_000_000n) - 1;
    if (ms > 0) await sleep(ms);
    while (now() < until) await turn();
}

class Peer {
    #take; #release = null; #asked; #acquired; #holds = [];

    constructor(take) {
        this.#take = take;
    }

    async obey(command, ...words) {
        if (this.#release && (command === 'acquire' || command === 'cycle')) return 'failed already holding';
        switch (command) {
        case 'acquire':
            await this.#acquire(words);
            return `acquired ${this.#acquired}`;
        case 'release':
            return this.#release ? `released ${(await this.#let_go()).join(' ')}` : 'failed not holding';
        case 'cycle':
            return this.#cycle(words[0], Number(words[1]), BigInt(words[2]) * 1000n);
        case 'report':
            return [...this.#holds.splice(0).map((times) => times.join(' ')), 'end'].join('\n');
        default:
            return `failed unknown ${command}`;
        }
    }

    async #acquire(names) {
        this.#asked = now();
        this.#release = await this.#take(names);
        this.#acquired = now();
    }

    async #let_go() {
        const release = this.#release;
        this.#release = null;
        const releasing = now();
        await release();
        const released = now();
        this.#holds.push([this.#asked, this.#acquired, releasing, released]);
        return [releasing, released];
    }

    async #cycle(name, seconds, hold_ns) {
        const end = now() + BigInt(Math.round(seconds * 1e9));
        let n = 0;
        for (; now() < end; ++n) {
            await this.#acquire([name]);
            await hold(this.#acquired + hold_ns);
            await this.#let_go();
        }
        return `cycled ${n}`;
    }
}

async function main(words) {
    const url = words.find((word) => word.includes('://'));
    const kind = words.find((word) => word !== url);
    const { library, polls, connect } = kinds[kind] ?? {};
    if (!library) throw new Error(`unknown kind: ${kind}`);
    const server = new Redis(url);
    await server.ping();
    const peer = new Peer(connect(server));
    const manifest = fs.readFileSync(path.join(__dirname, 'node_modules', library, 'package.json'));
    const version = JSON.parse(manifest).version.replace(/^v/, '');
    console.log(`ready ${library} ${version} ${polls}`);

    let last = Promise.resolve(); // Lines may arrive faster than they are executed.
    readline.createInterface({ input: process.stdin }).on('line', (line) => {
        last = last.then(async () => {
            const words = line.trim().split(/\s+/);
            if (words[0] === 'quit') process.exit(0);
            console.log(await peer.obey(...words).catch((error) => `failed ${error.message}`.replace(/\s+/g, ' ')));
        });
    }).on('close', () => process.exit(0));
}

main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exit(1);
});
