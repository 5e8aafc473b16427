/** Requests over fetch: the address and token, time limits, and when a request is sent again. */
import { DeadlineExceeded, EngramlogError, errorOf, refused, UnexpectedAnswer, Unreachable } from "./errors.js";

/** The address of `engramlog up` on this machine. */
export const URL_OF_THIS_MACHINE = "http://127.0.0.1:8733";
const RETRIED = new Set([429, 503, 504]);

export interface Options {
  /** Default: ENGRAMLOG_URL, or the port of `engramlog up` on this machine. */
  url?: string;
  /** What `engramlog token` prints, or a key. Default: ENGRAMLOG_TOKEN. */
  token?: string;
  /** The owner of all calls. Without one, each call names its own. */
  owner?: string;
  /** Milliseconds for one request. Default: 30,000. */
  timeout?: number;
  /** How often a request is sent at most. Default: 4. */
  tries?: number;
  /** The function that sends requests. Default: the global fetch. */
  fetch?: typeof fetch;
}

export interface Sent {
  method: "GET" | "POST";
  path: string;
  body?: string;
  mediaType?: string;
  /** Never sent again: a second try would have another effect. */
  once?: boolean;
}

/** Sends requests to one service. It follows no redirect, so the token reaches no other address. */
export class Wire {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #timeout: number;
  readonly #tries: number;
  readonly #fetch: typeof fetch;

  constructor(options: Options) {
    const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
    this.#url = (options.url ?? environment["ENGRAMLOG_URL"] ?? URL_OF_THIS_MACHINE).replace(/\/+$/, "");
    this.#token = options.token ?? environment["ENGRAMLOG_TOKEN"];
    this.#timeout = options.timeout ?? 30_000;
    this.#tries = options.tries ?? 4;
    this.#fetch = options.fetch ?? globalThis.fetch;
    checkAddress(this.#url, this.#token);
    if (!(this.#timeout > 0)) throw refused("timeout", this.#timeout, "milliseconds above 0");
    if (!Number.isInteger(this.#tries) || this.#tries < 1) throw refused("tries", this.#tries, "1 or more");
  }

  /** The JSON of an answer. */
  async json(sent: Sent): Promise<unknown> {
    const { response, text } = await this.text(sent);
    try {
      return JSON.parse(text);
    } catch {
      throw new UnexpectedAnswer(`${where(sent)}: HTTP ${response.status} without JSON: ${text.slice(0, 120)}`);
    }
  }

  /** The text of an answer, with its headers. */
  async text(sent: Sent): Promise<{ response: Response; text: string }> {
    for (let tried = 1; ; tried += 1) {
      const outcome = await this.#once(sent);
      if ("text" in outcome && outcome.response.ok) return outcome;
      const seconds = sent.once === true || tried >= this.#tries ? undefined : wait(tried, outcome);
      if (seconds === undefined) throw failure(sent, outcome, tried);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }

  /** A stream of bytes that lasts until either side ends it. */
  async stream(path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const sent: Sent = { method: "GET", path };
    let response: Response;
    try {
      response = await this.#fetch(this.#url + path, { headers: this.#headers(sent), redirect: "error", ...(signal && { signal }) });
    } catch (error) {
      throw failure(sent, { lost: String(error) }, 1);
    }
    if (!response.ok || response.body === null) throw errorOf(where(sent), response.status, await response.text());
    return response.body;
  }

  #headers(sent: Sent): Record<string, string> {
    return {
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...(sent.body !== undefined && { "content-type": sent.mediaType ?? "application/json" }),
    };
  }

  async #once(sent: Sent): Promise<Outcome> {
    try {
      const response = await this.#fetch(this.#url + sent.path, {
        method: sent.method,
        headers: this.#headers(sent),
        redirect: "error",
        signal: AbortSignal.timeout(this.#timeout),
        ...(sent.body !== undefined && { body: sent.body }),
      });
      return { response, text: await response.text() };
    } catch (error) {
      const cause = (error as { cause?: unknown }).cause;
      return { lost: cause === undefined ? String(error) : `${String(error)}: ${String(cause)}` };
    }
  }
}

type Outcome = { response: Response; text: string } | { lost: string };

/** Seconds before the next try; undefined if the outcome is final. */
function wait(tried: number, outcome: Outcome): number | undefined {
  const backoff = Math.min(0.1 * 2 ** (tried - 1), 5) * (1 - Math.random() / 2);
  if ("lost" in outcome) return backoff;
  if (!RETRIED.has(outcome.response.status) || failureOf(outcome) instanceof DeadlineExceeded) return undefined;
  const asked = Number(outcome.response.headers.get("retry-after") ?? 0);
  return asked <= 20 ? Math.max(asked || 0, backoff) : undefined;
}

function failure(sent: Sent, outcome: Outcome, tried: number): EngramlogError {
  if ("text" in outcome) return errorOf(where(sent), outcome.response.status, outcome.text);
  const advice = "is `engramlog up` running? A read can be repeated; a write with the same `key` is done once";
  return new Unreachable(`${where(sent)}: no answer in ${tried} tries (${outcome.lost}); ${advice}`, { tries: tried });
}

function failureOf(outcome: { response: Response; text: string }): EngramlogError {
  return errorOf("", outcome.response.status, outcome.text);
}

function where(sent: Sent): string {
  return `${sent.method} ${sent.path.split("?")[0]}`;
}

/** A token must not cross a network in the clear. */
function checkAddress(url: string, token: string | undefined): void {
  let address: URL;
  try {
    address = new URL(url);
  } catch {
    throw refused("url", url, `the address of the service, such as ${URL_OF_THIS_MACHINE}`);
  }
  if (address.protocol !== "http:" && address.protocol !== "https:")
    throw refused("url", url, `the address of the service, such as ${URL_OF_THIS_MACHINE}`);
  if (address.username !== "" || address.password !== "")
    throw refused("url", "an address with a user in it", "the address alone; `token` is an option of its own");
  const here = address.hostname === "localhost" || address.hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(address.hostname);
  if (token !== undefined && address.protocol === "http:" && !here)
    throw refused("url", url, "https: over http, others on the network could read the token");
  if (token !== undefined && !/^[\x21-\x7e]{1,8192}$/.test(token))
    throw refused("token", "a value that is not shown", "what `engramlog token` prints, or a key");
}
