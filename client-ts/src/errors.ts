/**
 * The errors of the client. What the service refused keeps the service's words.
 *
 * EngramlogError
 * |- InputError           a value is not allowed (HTTP 4xx): `field`, `got`, `allowed`; nothing was done
 * |  |- TokenRefused      no token, or one that is not valid (401)
 * |  |- AccessDenied      the key may not do this (403)
 * |  |- OwnerMissing      no owner was named; nothing was sent
 * |  `- NotFound          no such owner, memory or route (404)
 * |- Conflict             the position does not exist, or another write came first (409)
 * |  `- OwnerQuarantined  an event of the owner cannot be folded; later ones wait for it
 * |- OwnerTooLarge        the owner has more memories than the service loads (507)
 * |- NotYetFolded         the event is written, but was not folded in time (504)
 * |- DeadlineExceeded     the request takes longer than the service allows (504)
 * |- Unavailable          try again later, with the same `key` if you write (429, 503, 507)
 * |  |- StoreFull         the store is near its memory limit (507)
 * |  |- UnderReplicated   it is written, but fewer replicas have it than required (503)
 * |  `- Unreachable       no answer arrived
 * `- UnexpectedAnswer     an answer that does not come from Engramlog (500, or no JSON)
 */
export class EngramlogError extends Error {
  /** HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** The other fields of the answer: owner, position, problems and so on. */
  readonly context: Readonly<Record<string, unknown>>;

  constructor(message: string, context: Readonly<Record<string, unknown>> = {}, status?: number) {
    super(message);
    this.name = new.target.name;
    this.context = context;
    this.status = status;
  }

  /** The refused field; the first one if there are several (`context.problems`). */
  get field(): string | undefined {
    return this.#text("field");
  }

  /** The refused value. */
  get got(): string | undefined {
    return this.#text("got");
  }

  /** What is allowed instead. */
  get allowed(): string | undefined {
    return this.#text("allowed");
  }

  #text(name: string): string | undefined {
    const problems = this.context["problems"];
    const first = Array.isArray(problems) ? (problems[0] as Record<string, unknown> | undefined) : undefined;
    const value = this.context[name] ?? first?.[name];
    return value === undefined || value === null ? undefined : String(value);
  }
}

export class InputError extends EngramlogError {}
export class TokenRefused extends InputError {}
export class AccessDenied extends InputError {}
export class OwnerMissing extends InputError {}
export class NotFound extends InputError {}
export class Conflict extends EngramlogError {}
export class OwnerQuarantined extends Conflict {}
export class OwnerTooLarge extends EngramlogError {}
export class NotYetFolded extends EngramlogError {}
export class DeadlineExceeded extends EngramlogError {}
export class Unavailable extends EngramlogError {
  /** Seconds to wait, if the service named them. */
  get retryAfter(): number | undefined {
    const value = this.context["retry_after"];
    return value === undefined ? undefined : Number(value);
  }
}
export class StoreFull extends Unavailable {}
export class UnderReplicated extends Unavailable {}
export class Unreachable extends Unavailable {}
export class UnexpectedAnswer extends EngramlogError {}

type Kind = new (message: string, context: Readonly<Record<string, unknown>>, status?: number) => EngramlogError;

const BY_NAME: Readonly<Record<string, Kind>> = {
  AccessDenied,
  DeadlineExceeded,
  KeyTaken: InputError,
  OutputCut: Unavailable,
  OwnerQuarantined,
  OwnerTooLarge,
  UnderReplicated,
};
const BY_STATUS: Readonly<Record<number, Kind>> = {
  401: TokenRefused,
  404: NotFound,
  409: Conflict,
  429: Unavailable,
  503: Unavailable,
  504: NotYetFolded,
  507: StoreFull,
};

/** The error of a problem document (RFC 9457), or of an answer that is none. */
export function errorOf(where: string, status: number, body: string): EngramlogError {
  let problem: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === "object" && parsed !== null) problem = parsed as Record<string, unknown>;
  } catch {
    // the message below shows what came instead
  }
  const { type, title, status: _status, detail, error, ...context } = problem;
  const usual = status >= 400 && status < 500 ? InputError : UnexpectedAnswer;
  const kind = BY_NAME[String(error)] ?? BY_STATUS[status] ?? usual;
  const words = typeof detail === "string" ? detail : `${where}: HTTP ${status} without JSON: ${body.slice(0, 120)}`;
  return new kind(words, context, status);
}

/** An error before anything is sent, in the service's form. */
export function refused(field: string, got: unknown, allowed: string): InputError {
  const text = got === undefined ? "nothing" : String(got).slice(0, 80);
  return new InputError(`${field}: got ${text}; allowed: ${allowed}`, { field, got: text, allowed });
}
