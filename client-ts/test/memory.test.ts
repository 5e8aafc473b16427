/** Against a running service: ENGRAMLOG_URL and ENGRAMLOG_TOKEN say which. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AccessDenied, DeadlineExceeded, InputError, Memory, NotFound, OwnerMissing, TokenRefused, UnexpectedAnswer, Unreachable } from "../src/index.js";
import { messages } from "../src/feed.js";
import { verbs } from "../src/generated/verbs.js";

const service = new Memory();
let made = 0;
/** A client of an owner that no other test uses. */
const fresh = (): Memory => service.of(`ts-${process.pid}-${(made += 1)}`);

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test("what is added is found, explained and put into a prompt", async () => {
  const memory = fresh();
  const coffee = await memory.add("I drink coffee every morning", { tags: ["drinks"], occurred_at: new Date("2026-01-02T08:00:00Z") });
  await memory.add("I switched to tea");
  const found = await memory.search("What do I drink?", { limit: 3, tags: ["drinks"], mode: "review" });
  assert.equal(found.results[0]?.id, coffee.id);
  const block = await memory.context("What do I drink in the morning?");
  assert.match(block.block, /tea/);
  const why = await memory.why(coffee.id, { law: "weighted" });
  assert.equal(why.id, coffee.id);
  assert.equal((await memory.history(coffee.id)).changes[0]?.time, "2026-01-02T08:00:00Z");
});

test("a memory is edited, deleted and restored", async () => {
  const memory = fresh();
  const { id } = await memory.add("Nora is seven");
  await memory.update(id, { content: "Nora is eight" });
  assert.equal((await memory.get(id)).content, "Nora is eight");
  await memory.delete(id, { reason: "wrong child" });
  assert.equal((await memory.list()).total, 0);
  await memory.restore(id);
  assert.equal((await memory.list()).total, 1);
});

test("a request whose answer was lost is sent again and written once", async () => {
  let calls = 0;
  const lossy: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    calls += 1;
    if (calls === 1) {
      await answer.arrayBuffer();
      throw new TypeError("the connection broke");
    }
    return answer;
  };
  const owner = `ts-lossy-${process.pid}`;
  const memory = new Memory({ owner, fetch: lossy });
  const added = await memory.add("My train leaves at nine");
  assert.equal(calls, 2);
  const listed = await memory.list();
  assert.deepEqual(listed.memories.map((one) => one.id), [added.id]);
  assert.equal((await memory.history()).changes.length, 1);
});

test("events have the ids of their producer, and a repetition writes nothing", async () => {
  const memory = fresh();
  const event = {
    event_id: crypto.randomUUID(),
    type: "MemoryCreated",
    occurred_at: "2026-01-02T08:00:00Z",
    actor: "user",
    data: { memory_id: "m-ts", content: "I live in Zürich", category: "fact", kind: "fact", source: "user" },
  };
  const first = await memory.append([event]);
  const again = await memory.append([event]);
  assert.equal(first.receipts[0]?.status, "appended");
  assert.equal(again.receipts[0]?.status, "already_appended");
  assert.equal(again.receipts[0]?.position, first.receipts[0]?.position);
});

test("a feed sends each change, and goes on after a position", async () => {
  const memory = fresh();
  const first = await memory.add("My sister is called Ada");
  const second = await memory.add("I play the violin");
  const stop = new AbortController();
  const seen: (string | null)[] = [];
  for await (const change of memory.feed({ since: first.position, signal: stop.signal })) {
    seen.push(...change.changes.map((one) => one.memory));
    if (seen.includes(second.id)) break;
  }
  stop.abort();
  assert.ok(!seen.includes(first.id));
});

test("conversations are imported, and the owner's memories exported", async () => {
  const memory = fresh();
  const chat = [
    { role: "user", content: "My dog is called Rex" },
    { role: "assistant", content: "Nice to meet Rex" },
  ];
  await memory.importChats(chat, { since: new Date("2026-03-01T10:00:00Z") });
  const exported = await memory.export({ format: "jsonl" });
  assert.match(exported.text, /Rex/);
  assert.match(exported.position, /^\d+:\d+$/);
});

test("errors are classes with the field, what was sent and what is allowed", async () => {
  const memory = fresh();
  await assert.rejects(memory.search("tea", { limit: 1000 }), (error: unknown) => {
    assert.ok(error instanceof InputError);
    assert.equal(error.status, 422);
    assert.equal(error.field, "limit");
    return true;
  });
  await assert.rejects(memory.get("m-none"), NotFound);
  await assert.rejects(service.search("tea"), OwnerMissing);
  await assert.rejects(memory.owners(), InputError);
  await assert.rejects(memory.search("tea", { owner: "another" }), InputError);
  await assert.rejects(new Memory({ owner: "a", token: "wrong" }).search("tea"), TokenRefused);
  await assert.rejects(new Memory({ owner: "a", url: "http://127.0.0.1:9", tries: 2 }).search("tea"), Unreachable);
});

test("a key opens what it was issued for and nothing else", async () => {
  const key = await service.makeKey(`reader-${process.pid}`);
  const reader = new Memory({ token: key.key });
  assert.equal((await reader.me()).principal, `reader-${process.pid}`);
  await assert.rejects(reader.of("somebody").search("tea"), AccessDenied);
});

test("a token is never sent in the clear or to another address", async () => {
  assert.throws(() => new Memory({ url: "http://example.org", token: "x" }), InputError);
  assert.throws(() => new Memory({ url: "http://127.0.0.1.example.org", token: "x" }), InputError);
  assert.throws(() => new Memory({ url: "https://user@example.org" }), InputError);
  assert.throws(() => new Memory({ url: "file:///etc" }), InputError);
  assert.throws(() => new Memory({ token: "two\nlines" }), InputError);
  const { createServer } = await import("node:http");
  let reached = false;
  const server = createServer((request, answer) => {
    reached ||= request.url === "/elsewhere";
    answer.writeHead(307, { location: "/elsewhere" }).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await assert.rejects(new Memory({ owner: "a", url: `http://127.0.0.1:${port}`, token: "x", tries: 1 }).search("tea"), Unreachable);
  server.close();
  assert.equal(reached, false);
});

test("what cannot be answered is not asked again", async () => {
  let calls = 0;
  const answering = (status: number, body: string) => async () => {
    calls += 1;
    return new Response(body, { status });
  };
  const stopped = new Memory({ owner: "a", fetch: answering(504, '{"error":"DeadlineExceeded","detail":"too long"}') });
  await assert.rejects(stopped.search("tea"), DeadlineExceeded);
  const broken = new Memory({ owner: "a", fetch: answering(200, "<html>") });
  await assert.rejects(broken.search("tea"), UnexpectedAnswer);
  const issuing = new Memory({ fetch: answering(503, "{}") });
  await assert.rejects(issuing.makeKey("twice"));
  assert.equal(calls, 3);
});

test("a message of a feed may come in pieces, and must end", async () => {
  const of = (...pieces: string[]) => new Blob(pieces).stream() as ReadableStream<Uint8Array>;
  const slow = new ReadableStream<Uint8Array>({
    start(to) {
      for (const byte of new TextEncoder().encode("event: change\r\ndata: {\"é\":1}\r\n\r\n")) to.enqueue(Uint8Array.of(byte));
      to.close();
    },
  });
  assert.deepEqual(await all(messages(slow)), [{ event: "change", data: '{"é":1}' }]);
  await assert.rejects(all(messages(of(`data: ${"x".repeat(2 ** 21)}`))), UnexpectedAnswer);
});

test("every verb that only reads answers", async () => {
  const memory = fresh();
  const { id } = await memory.add("I have a blue bicycle");
  const given: Record<string, unknown> = { memory_id: id, query: "bicycle", topic: "bicycle", about: "I" };
  const skipped = new Set(["answer", "partitionEvents"]);
  for (const [name, { method, path, first }] of Object.entries(verbs)) {
    if (method !== "get" || skipped.has(name)) continue;
    const client = (path.includes("{owner}") ? memory : service) as unknown as Record<string, (...asked: unknown[]) => Promise<unknown>>;
    assert.ok(await client[name]?.(...(first === "" ? [] : [given[first]])), name);
  }
});
