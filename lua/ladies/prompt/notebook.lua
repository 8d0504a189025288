--- Carries out the requests of the Jupyter kernel (scripts/kernel/ladies_kernel.py): it is the
-- prompt without a terminal. A request is a line of JSON, and so is each message that answers it;
-- the last one has the kind "reply".
--
--   {"op": "execute", "code": text}            "error", the text, where it failed; "next", the code
--                                              of the tutorial, for the next cell
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
local json = require "ladies.base.json"
local known = require "ladies.prompt.known"
local options = require "ladies.base.options"
local progress = require "ladies.base.progress"
local repl = require "ladies.prompt.repl"
local show = require "ladies.show"
local tutorial = require "ladies.prompt.tutorial"

local notebook = {}

local find = string.find   -- as it is before a cell changes it
local requests, messages   -- the files
local n_shown = 0          -- messages that waited for their line

-- Flushes a stream, which a cell may have closed.
local function bring_out(stream)
  if io.type(stream) == "file" then stream:flush() end
end

local function send(message)
  bring_out(io.stdout)
  bring_out(io.stderr)
  messages:write(json.encode(message), "\n")
  messages:flush()
end

-- Sends a message and waits for the line that answers it. Ctrl-C may end the wait; the line is then
-- read later.
local function tell(message)
  n_shown = n_shown + 1
  message.n = n_shown
  send(message)
  local mine = tostring(message.n)
  repeat
    local line, trouble = requests:read "l"
  until line == mine or not line and not trouble
end

-- Returns the reply to a request that failed, with the error's text as at the prompt.
local function explain(e)
  host.defer_interrupt(true)
  local is_interruption = errors.is_interrupt(e)
  local text = repl.explain(errors.text(e), is_interruption)
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
  repl.begin_chunk()
  return {next = tutorial.waiting()}
end

-- Converts a number of characters to the byte position after them.
local function byte_at(text, characters)
  return utf8.offset(text, characters + 1) or #text + 1
end

function answer.complete(request)
  local text = request.code:sub(1, byte_at(request.code, request.at) - 1)
  local start, names = repl.complete(text)
  return {matches = json.list(names), from = utf8.len(text, 1, start - 1)}
end

function answer.inspect(request)
  return {text = known.inspect(request.code, byte_at(request.code, request.at), repl.names())}
end

function answer.is_complete(request)
  return {status = repl.status(request.code)}
end

-- Carries a request out and returns its reply; Ctrl-C stops the request and nothing else.
local function reply_to(request)
  local function act()
    host.defer_interrupt(false)
    local reply = answer[request.op](request)
    host.defer_interrupt(true)
    return reply
  end
  local _, reply = xpcall(act, explain)
  return type(reply) == "table" and reply or {error = tostring(reply)}   -- not even explained
end

-- Returns the next line of requests, or nil at the end of them. A Ctrl-C that came too late for the
-- request before is forgotten; one that comes while this waits is for the next one. A line that
-- answers a message is passed over where Ctrl-C kept the program from waiting for it.
local function next_line()
  local line, trouble
  host.interrupted()
  repeat
    host.defer_interrupt(true)
    line, trouble = requests:read "L"
  until line and not find(line, "^%d+\n?$") or not line and not trouble
  return line
end

-- Returns the reply to a line, which may not be a valid request.
local function answer_line(line)
  local ok, request = errors.try(json.decode, line, "a request")
  if not ok then return {error = errors.message(request)} end
  if type(request) ~= "table" or not answer[request.op] then
    return {error = "a request must be an object whose op is execute, complete, inspect or "
      .. "is_complete"}
  end
  return reply_to(request)
end

-- The reply that is sent when user code has broken the functions that make replies, since the
-- kernel waits for one all the same.
local NO_REPLY = [[{"error":"no reply can be made; standard error has the reason","kind":"reply"}]]

-- Answers a line with exactly one reply, whatever goes wrong.
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

-- Sends the text of a progress bar to the notebook, which draws it; lines above the bar are
-- printed.
local function draw(text)
  local bar = text:match "^\r\27%[K([^\n]*)$"
  if bar then tell{kind = "bar", text = bar} else io.stdout:write(text) end
end

--- notebook.serve(requests, messages): reads requests from one file and writes the messages that
-- answer them to another, until the requests end.
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
