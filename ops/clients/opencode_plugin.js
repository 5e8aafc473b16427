// Written by `engramlog install opencode`; `engramlog uninstall opencode` removes it.
import { spawn } from "node:child_process"

const COMMAND = [] // program and arguments
const MILLISECONDS = 1500

// What `engramlog hook` answers; {} if it fails or takes too long, so that a prompt is never held up.
const hook = (event, payload) =>
  new Promise((resolve) => {
    let out = ""
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(out))
      } catch {
        resolve({})
      }
    }
    const timer = setTimeout(() => {
      child.kill()
      resolve({})
    }, MILLISECONDS)
    const child = spawn(COMMAND[0], ["hook", event, ...COMMAND.slice(1)], { stdio: ["pipe", "pipe", "ignore"] })
    child.on("error", done)
    child.on("close", done)
    child.stdin.on("error", () => {})
    child.stdout.on("data", (piece) => (out += piece))
    child.stdin.end(JSON.stringify(payload))
  })

const said = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text)
    .join("\n")

export const Engramlog = async ({ client, directory }) => {
  const stable = new Map()
  const related = new Map()
  const record = async (sessionID, event) => {
    const found = await client.session.messages({ path: { id: sessionID } })
    const messages = (found.data ?? []).slice(-40).map(({ info, parts }) => ({
      id: info.id,
      role: info.role,
      text: said(parts),
      time: info.time.created / 1000,
    }))
    await hook(event, { session_id: sessionID, cwd: directory, messages: messages.filter((one) => one.text) })
  }
  return {
    "chat.message": async (input, output) => {
      const payload = { session_id: input.sessionID, cwd: directory, prompt: said(output.parts) }
      related.set(input.sessionID, (await hook("prompt", payload)).context)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input.sessionID
      if (!id) return
      if (!stable.has(id)) stable.set(id, (await hook("session-start", { session_id: id, cwd: directory })).context)
      for (const text of [stable.get(id), related.get(id)]) if (text) output.system.push(text)
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await record(event.properties.sessionID, "stop")
    },
    "experimental.session.compacting": async (input) => record(input.sessionID, "compact"),
  }
}
