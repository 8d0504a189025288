--- The prompt without a terminal: what a notebook's kernel (scripts/kernel/ladies_kernel.py) asks
-- and is told. A request is a line of JSON, and so is each message that comes of it; the last one
-- has the kind "reply".
--
--   {"op": "execute", "code": text}            "error", the text, where it failed
--   {"op": "complete", "code": text, "at": n}  "matches", and "from", where they begin
--   {"op": "inspect", "code": text, "at": n}   "text", where something is known
--   {"op": "is_complete", "code": text}        "status": "complete", "incomplete" or "invalid"
--
-- n and "from" count the characters before a place. Before its reply a cell may have shown things:
-- {"kind": "display", "data": {type: text}}, with "result": true what it returns, and
-- {"kind": "bar", "text": text}, the progress bar as it is now, "" for none. Each has a number n,
-- and the cell goes on after a line with this number. What code prints goes to standard output and
-- standard error: what it had printed is out when a message comes, and nothing comes after it until
-- the line. Every other line gets a reply, also one that is no request, and whatever a cell has
-- done to the streams and to Lua's libraries.

local errors = require "ladies.base.errors"
local host = require "ladies_host"
local inspect = require "ladies.prompt.inspect"
local json = require "ladies.base.json"
local options = require "ladies.base.options"
local progress = require "ladies.base.progress"
local repl = require "ladies.prompt.repl"
local show = require "ladies.show"

local notebook = {}

local find = string.find   -- as it is before a cell changes it
local requests, messages   -- the files
local n_shown = 0          -- messages that waited for their line

-- Brings out what was printed on a stream, which a cell may have closed.
local function bring_out(stream)
  if io.type(stream) == "file" then stream:flush() end
end

local function send(message)
  bring_out(io.stdout)
  bring_out(io.stderr)
  messages:write(json.encode(message), "\n")
  messages:flush()
end

-- Sends a message and waits for its line. Ctrl-C may keep us from that: it is then read later.
local function tell(message)
  n_shown = n_shown + 1
  message.n = n_shown
  send(message)
  local mine = tostring(message.n)
  repeat
    local line, trouble = requests:read "l"
  until line == mine or not line and not trouble
end

-- The reply of a request that failed, with the error's text as the prompt tells it.
local function explain(e)
  host.defer_interrupt(true)
  local is_interruption, meta = errors.is_interrupt(e), debug.getmetatable(e)
  local speaks = type(e) == "string" or type(e) == "number" or meta and meta.__tostring
  local text = speaks and tostring(e) or ("(error object is a %s value)"):format(type(e))
  text = repl.explain(text, is_interruption)
  return {error = is_interruption and "interrupted" or text}
end

--- display(x, ...): shows values in a notebook as a cell shows its last one, in the middle of the
-- cell: tables as HTML, figures as pictures.
function notebook.display(...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    local data = show.rich(value)
    data["text/plain"] = show.text(value) or tostring(value)
    tell{kind = "display", data = data}
  end
end

local function show_results(...)
  if select("#", ...) == 0 then return end
  local data = select("#", ...) == 1 and show.rich((...)) or {}
  data["text/plain"] = repl.results(show.width(), ...)
  tell{kind = "display", data = data, result = true}
end

local answer = {}

function answer.execute(request)
  local f, message = repl.load(request.code)
  if not f then return {error = message} end
  show_results(f())
  return {}
end

-- The place in bytes behind so many characters.
local function byte_at(text, characters)
  return utf8.offset(text, characters + 1) or #text + 1
end

function answer.complete(request)
  local text = request.code:sub(1, byte_at(request.code, request.at) - 1)
  local start, names = repl.complete(text)
  return {matches = json.list(names), from = utf8.len(text, 1, start - 1)}
end

function answer.inspect(request)
  return {text = inspect(request.code, byte_at(request.code, request.at), repl.names())}
end

function answer.is_complete(request)
  return {status = repl.status(request.code)}
end

-- What comes of a request; Ctrl-C stops it and nothing else.
local function reply_to(request)
  local function act()
    host.defer_interrupt(false)
    local reply = answer[request.op](request)
    host.defer_interrupt(true)
    return reply
  end
  repl.begin_chunk()
  local _, reply = xpcall(act, explain)
  return type(reply) == "table" and reply or {error = tostring(reply)}   -- not even explained
end

-- The next line, or nil at the end of all. Ctrl-C that came too late for the request before is
-- forgotten; one that comes while this waits is for the next one. The line for a message that
-- Ctrl-C kept from being waited for is passed over.
local function next_line()
  local line, trouble
  host.interrupted()
  repeat
    host.defer_interrupt(true)
    line, trouble = requests:read "L"
  until line and not find(line, "^%d+\n?$") or not line and not trouble
  return line
end

-- The reply to a line, which may be no request.
local function answer_line(line)
  local ok, request = errors.try(json.decode, line, "a request")
  if not ok then return {error = errors.message(request)} end
  if type(request) ~= "table" or not answer[request.op] then
    return {error = "a request must be an object whose op is execute, complete, inspect or "
      .. "is_complete"}
  end
  return reply_to(request)
end

-- Whoever asked waits for a reply, also where a session has broken what makes one.
local NO_REPLY = [[{"error":"no reply can be made; standard error has the reason","kind":"reply"}]]

-- Answers a line with one reply, whatever comes of it.
local function serve_line(line)
  local ok, e = pcall(function()
    local reply = answer_line(line)
    reply.kind = "reply"
    send(reply)
  end)
  if ok then return end
  host.defer_interrupt(true)
  pcall(host.complain, e)
  messages:write(NO_REPLY, "\n")
  messages:flush()
end

-- Bars are drawn in the notebook. What stands above them is printed.
local function draw(text)
  local bar = text:match "^\r\27%[K([^\n]*)$"
  if bar then tell{kind = "bar", text = bar} else io.stdout:write(text) end
end

--- notebook.serve(requests, messages): answers the requests from the file of one path, with
-- messages to that of another, until these end.
function notebook.serve(requests_path, messages_path)
  options.value("notebook.serve", "the path of requests", requests_path, "string")
  requests = assert(io.open(requests_path, "r"))
  messages = assert(io.open(messages_path, "w"))
  io.stdout:setvbuf "line"
  progress.draw_with(draw)
  repl.open()
  if rawget(_G, "display") == nil then rawset(_G, "display", notebook.display) end
  for line in next_line do serve_line(line) end
end

return notebook
