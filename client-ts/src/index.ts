/** The memories of an Engramlog service: `new Memory({ owner: "alice" })`. */
import { OwnerMissing, refused, UnexpectedAnswer } from "./errors.js";
import { messages } from "./feed.js";
import type { components, paths } from "./generated/openapi.js";
import { verbs } from "./generated/verbs.js";
import { type Options, type Sent, Wire } from "./wire.js";

export * from "./errors.js";
export { type Options, URL_OF_THIS_MACHINE } from "./wire.js";

/** Shapes of the service by name, such as `Shapes["Found"]`. */
export type Shapes = components["schemas"];

type Table = typeof verbs;
type Operation<Entry> = Entry extends { method: infer Method; path: infer Path }
  ? Path extends keyof paths
    ? Method extends keyof paths[Path]
      ? paths[Path][Method]
      : never
    : never
  : never;
type OfPath<Op> = Op extends { parameters: { path: infer Found } } ? Omit<NonNullable<Found>, "owner"> : unknown;
type OfQuery<Op> = Op extends { parameters: { query?: infer Found } } ? Known<Found> : unknown;
type OfBody<Op> = Op extends { requestBody?: { content: { "application/json": infer Json } } } ? Known<Json> : unknown;
/** Without undefined and null; `never` says that there is nothing. */
type Known<Found> = [NonNullable<Found>] extends [never] ? unknown : NonNullable<Found>;
/** A Date where the service takes an instant. */
type Timed<Asked> = {
  [Name in keyof Asked]: Name extends "at" | "as_of" | "known" | "occurred_at" | "since" | "until" ? Asked[Name] | Date : Asked[Name];
};
type Input<Op> = Timed<OfPath<Op> & OfQuery<Op> & OfBody<Op>> & { owner?: string };
type Output<Op> = Op extends { responses: infer All }
  ? All[keyof All & (200 | 201)] extends { content: { "application/json": infer Json } }
    ? Json
    : never
  : never;
type Needed<Asked> = { [Name in keyof Asked]-?: object extends Pick<Asked, Name> ? never : Name }[keyof Asked];
type Verb<Op, First> = First extends keyof Input<Op>
  ? [Needed<Omit<Input<Op>, First>>] extends [never]
    ? (first: NonNullable<Input<Op>[First]>, options?: Omit<Input<Op>, First>) => Promise<Output<Op>>
    : (first: NonNullable<Input<Op>[First]>, options: Omit<Input<Op>, First>) => Promise<Output<Op>>
  : (options?: Input<Op>) => Promise<Output<Op>>;
/** One method for each operation: the first argument is what the operation is about, the second has the other fields. */
export type Verbs = {
  [Name in keyof Table]: Table[Name] extends { first: infer First } ? Verb<Operation<Table[Name]>, First> : never;
};
/** What one memory was added as. Effects of other writes may have no id. */
export type Added = Output<Operation<Table["add"]>> & { id: string };
type Adding = Omit<Input<Operation<Table["add"]>>, "content">;

/** An event as `POST /v1/events` takes it; without an id it gets a new one. */
export interface Event {
  type: string;
  occurred_at: string;
  data: Record<string, unknown>;
  event_id?: string;
  owner?: string;
  actor?: string;
  session_id?: string;
  [field: string]: unknown;
}
export type Appended = Output<paths["/v1/events"]["post"]>;
export type ChatsImported = Output<paths["/v1/owners/{owner}/chats"]["post"]>;
export type History = Output<paths["/v1/owners/{owner}/history"]["get"]>;
/** A change in an owner's memories. Texts are not in it: read the memory. */
export interface Changed {
  owner: string;
  /** Pass it as `since` to continue after this change. */
  position: string;
  changes: Shapes["Change"][];
}
export interface Exported {
  text: string;
  position: string;
  /** How many memories the export leaves out, by reason. */
  left_out: Record<string, number>;
}
type Given = Record<string, unknown>;

export interface Memory extends Omit<Verbs, "add"> {
  /** Add one memory. It can be found when this returns. A repetition with the same `key` adds nothing. */
  add(content: string, options?: Adding): Promise<Added>;
}

export class Memory {
  readonly #wire: Wire;
  readonly #owner: string | undefined;

  constructor(options: Options = {}, wire: Wire = new Wire(options)) {
    this.#wire = wire;
    this.#owner = options.owner === undefined ? undefined : checked("owner", options.owner);
  }

  /** The same service for one owner. A client of one owner reaches no other. */
  of(owner: string): Memory {
    return new Memory({ owner: this.#whose(owner) }, this.#wire);
  }

  /** Append up to 1,000 events as they are. Answers with one receipt per event; does not wait for the fold. */
  async append(events: readonly Event[], options: { expected_heads?: Record<string, number>; owner?: string } = {}): Promise<Appended> {
    const { owner, expected_heads } = options;
    const sent = events.map((event) => ({ event_id: newId(), ...event, owner: this.#whose(event.owner ?? owner) }));
    const body = expected_heads === undefined ? sent : { events: sent, expected_heads };
    return (await this.#wire.json(posted("/v1/events", body))) as Appended;
  }

  /** Import conversations: the text of an export, or messages. An import that is repeated adds nothing. */
  async importChats(
    chats: string | object,
    options: { owner?: string; shape?: string; since?: string | Date; turns_only?: boolean } = {},
  ): Promise<ChatsImported> {
    const { owner, ...asked } = options;
    const path = queried(`${this.#home(owner)}/chats`, asked);
    const sent = typeof chats === "string" ? { ...posted(path, {}), body: chats, mediaType: "application/x-ndjson" } : posted(path, chats);
    return (await this.#wire.json(sent)) as ChatsImported;
  }

  /** One page of the change log of a memory, or of the owner: `next` is the cursor of the page after it. */
  async history(memoryId?: string, options: { owner?: string; [field: string]: unknown } = {}): Promise<History> {
    const { owner, ...asked } = options;
    const about = memoryId === undefined ? "" : `/memories/${segment("memory_id", memoryId)}`;
    return (await this.#wire.json({ method: "GET", path: queried(`${this.#home(owner)}${about}/history`, asked) })) as History;
  }

  /** All memories of the owner as `jsonl`, which an import reads again, or as `text`. */
  async export(options: { owner?: string; format?: "jsonl" | "text"; everything?: boolean; include?: string[] } = {}): Promise<Exported> {
    const { owner, ...asked } = options;
    const { response, text } = await this.#wire.text({ method: "GET", path: queried(`${this.#home(owner)}/export`, asked) });
    const counts = (response.headers.get("engramlog-left-out") ?? "").split(", ").filter((one) => one !== "");
    const left_out = Object.fromEntries(counts.map((one) => [one.split("=")[0] ?? "", Number(one.split("=")[1])]));
    return { text, position: response.headers.get("engramlog-position") ?? "", left_out };
  }

  /** Changes of the owner as they happen, from now on or after `since`, until the service or `signal` ends it. */
  async *feed(options: { owner?: string; since?: string; signal?: AbortSignal } = {}): AsyncGenerator<Changed> {
    const { owner, signal, ...asked } = options;
    for await (const message of messages(await this.#wire.stream(queried(`${this.#home(owner)}/feed`, asked), signal))) {
      if (message.event === "end") return;
      if (message.event === "change") yield changed(message.data);
    }
  }

  /** @internal */
  async call(name: keyof Table, given: Given): Promise<unknown> {
    const { method, path, id, once } = verbs[name];
    const left = { ...given };
    const filled = path.replace(/\{(\w+)\}/g, (_all, field: string) => {
      const value = field === "owner" ? this.#whose(left[field]) : left[field];
      delete left[field];
      return segment(field, value);
    });
    if (!path.includes("{owner}") && this.#owner !== undefined && !FREE.has(path))
      throw refused("owner", this.#owner, "a client without an owner: this is about the whole store");
    if (method === "get") return this.#wire.json({ method: "GET", path: queried(filled, left) });
    if (id !== "" && left[id] === undefined && left["dry_run"] !== true) left[id] = newId();
    return this.#wire.json({ ...posted(filled, left), once });
  }

  #home(owner?: string): string {
    return `/v1/owners/${segment("owner", this.#whose(owner))}`;
  }

  #whose(owner: unknown): string {
    const meant = owner ?? this.#owner;
    if (meant === undefined) throw new OwnerMissing("owner: got nothing; allowed: the owner of the memories", { field: "owner" });
    if (this.#owner !== undefined && meant !== this.#owner) throw refused("owner", meant, `${this.#owner}: this client is for one owner`);
    return checked("owner", meant);
  }
}

/** What a client of one owner may ask all the same: it says nothing about other owners. */
const FREE = new Set(["/v1/laws", "/v1/parameters", "/v1/me"]);

for (const name of Object.keys(verbs) as (keyof Table)[]) {
  const { first } = verbs[name];
  Object.defineProperty(Memory.prototype, name, {
    writable: true,
    configurable: true,
    value(this: Memory, ...given: unknown[]): Promise<unknown> {
      const options = (first === "" ? given[0] : given[1]) ?? {};
      return this.call(name, first === "" ? (options as Given) : { ...(options as Given), [first]: given[0] });
    },
  });
}

function newId(): string {
  return crypto.randomUUID();
}

function changed(data: string): Changed {
  try {
    return JSON.parse(data) as Changed;
  } catch {
    throw new UnexpectedAnswer(`the feed sent a change that is not JSON: ${data.slice(0, 120)}`);
  }
}

function checked(field: string, value: unknown): string {
  if (typeof value !== "string" || value === "" || value === "." || value === "..")
    throw refused(field, value, "an id: letters, digits and - _ . : @ / +");
  return value;
}

function segment(field: string, value: unknown): string {
  return encodeURIComponent(typeof value === "number" ? String(value) : checked(field, value));
}

/** A path with a query. Fields without a value are left out; lists are repeated; metadata is `name=value`. */
function queried(path: string, asked: Given): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    const values = Array.isArray(value) ? value : isRecord(value) ? Object.entries(value).map(([key, one]) => `${key}=${String(one)}`) : [value];
    for (const one of values) if (one !== undefined && one !== null) query.append(name, one instanceof Date ? one.toISOString() : String(one));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function posted(path: string, body: unknown): Sent {
  return { method: "POST", path, body: JSON.stringify(body) };
}
