/** Server-sent events (HTML standard, 9.2.6), as far as a feed uses them. */
import { UnexpectedAnswer } from "./errors.js";

/** Most characters of one message. */
const LONGEST = 1024 * 1024;

export interface Message {
  event: string;
  data: string;
}

/** The messages of a stream, each as soon as it is complete. */
export async function* messages(stream: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let rest = "";
  let event = "message";
  let data: string[] = [];
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      rest += decoder.decode(piece.value, { stream: true });
      const lines = rest.split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
        if (name === "event") event = value;
        else if (name === "data") data.push(value);
        else if (line === "") {
          if (data.length > 0) yield { event, data: data.join("\n") };
          event = "message";
          data = [];
        }
      }
      const held = data.reduce((sum, one) => sum + one.length, rest.length);
      if (held > LONGEST) throw new UnexpectedAnswer(`a feed sent a message of more than ${LONGEST} characters`);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
