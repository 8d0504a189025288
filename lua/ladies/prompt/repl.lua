--- Has the functions of the prompt that its program in C (src/host/repl.c) calls when it reads
-- lines, runs them and shows their results. Nothing here needs a terminal.

local core = require "ladies_core"
local chunk = require "ladies.prompt.chunk"
local complete = require "ladies.prompt.complete"
local errors = require "ladies.base.errors"
local failure = require "ladies.prompt.failure"
local format = require "ladies.prompt.format"
local help = require "ladies.prompt.help"
local history = require "ladies.prompt.history"
local members = require "ladies.prompt.members"
local show = require "ladies.show"
local style = require "ladies.prompt.style"
local tools = require "ladies.prompt.tools"
local tutorial = require "ladies.prompt.tutorial"
local wrap = require "ladies.base.wrap"

local repl = {
  explain = failure.explain, load_file = chunk.load_file, read_history = history.read,
  append_history = history.append,
}

--- Returns the variables that are visible at the prompt: its locals, and the globals that they do
-- not hide.
function repl.names()
  return setmetatable(chunk.locals(), {__index = _G})
end

--- Opens the prompt: defines its globals, unless the user already has globals of these names. The
-- library is loaded before.
function repl.open()
  local ladies = package.loaded.ladies
  local globals = {ladies = ladies, help = ladies.help, reload = tools.reload,
    where = failure.where, who = tools.who, time = tools.time, profile = tools.profile,
    source = tools.source, tutorial = tutorial.show}
  help.at_prompt(globals)
  for name, value in pairs(globals) do
    if rawget(_G, name) == nil then rawset(_G, name, value) end
  end
  tools.begin()
end

-- Mentions, after the help for a user's variable, that the library has something of the same name.
local function mention(name, value)
  local ok, other = errors.try(help.find, name)
  if ok and not rawequal(other, value) then
    name = name:gsub("^ladies%.", "")
    local text = "this is the variable %s; ?ladies.%s shows what the library calls so"
    print(text:format(name, name))
  end
end

-- Returns a function that shows the help for which a text such as `?name`, `name?` or `? some
-- words` asks; nil for other texts.
local function question(text)
  local asked = text:match "^%s*%?%s*(.-)%s*$" or text:match "^%s*([%w_.:]+)%s*%?%s*$"
  if not asked then return nil end
  return function()
    local value = asked:find "^[%w_.:]+$" and members.at(repl.names(), (asked:gsub(":", ".")))
    if asked == "" then return help.show() end
    help.show(value == nil and asked or value)
    if value ~= nil then mention(asked, value) end
  end
end

local LEAVING = {exit = true, quit = true}

-- Returns a function that ends the prompt if the text asks for that, such as `quit`, and the user
-- has no variable of that name; or nil.
local function leaving(text)
  local word = text:match "^%s*(%a+)%s*$" or text:match "^%s*(%a+)%s*%(%s*%)%s*$"
  if not LEAVING[word] or members.get(repl.names(), word) ~= nil then return nil end
  return function() os.exit(true, true) end
end

local pending = ""   -- the lines of the chunk that is being typed

--- Tells that the next line begins a chunk. The tutorial goes on now, where it is about to.
function repl.begin_chunk()
  pending = ""
  tutorial.go_on()
end

--- Compiles a typed text to a function; returns nil, the message, and whether more text is needed
-- if that fails. An empty text stands for the lines of the tutorial that wait for it.
function repl.load(text)
  pending = text .. "\n"
  local own = question(text) or leaving(text)
  if own then return own end
  if not text:find "%S" then text = tutorial.waiting() or text end
  local f, message, wants_more = chunk.load(text)
  if f then tutorial.watch(text) end
  return f, message and core.printable(message, true), wants_more
end

local MOST_LINES = 200

-- Tells whether a value is a text of some lines, such as data:describe() gives, without control
-- characters.
local function is_text(value)
  if type(value) ~= "string" or not value:find "\n[^\n]" then return false end
  return select(2, value:gsub("\n", "")) <= MOST_LINES and core.printable(value, true) == value
end

-- Returns the text that shows a single result on several lines, or nil. For a function it says how
-- it is called and what it does.
local function tall(value, width)
  if is_text(value) then return (value:gsub("\n+$", "")) end
  local shown = show.text(value, width)
  if shown then return (shown:gsub("^[^\n]*", style.head, 1)) end
  if type(value) == "function" then
    local signature = help.signature(value)
    local summary = signature and help.summary(value) or ""
    return signature and ("%s\n  %s%s"):format(tostring(value), signature,
      summary ~= "" and "\n  " .. table.concat(wrap(summary, width - 2), "\n  ") or "")
  end
  local meta = type(value) ~= "string" and debug.getmetatable(value)
  local own = meta and rawget(meta, "__tostring") and tostring(value)
  return own and own:find "\n" and own:gsub("\n+$", "") or nil
end

--- Returns the text that the prompt prints for the results of a chunk: a single result with its
-- contents, several on a line, separated by commas. The first becomes the global `_`, and the one
-- before it `__`.
function repl.results(width, ...)
  local values, first = table.pack(...), ...
  local n = values.n
  rawset(_G, "__", rawget(_G, "_"))
  rawset(_G, "_", first)
  local own = n == 1 and tall(first, width)
  if own then return own end
  local function join(share)
    local parts = {}
    for i = 1, n do parts[i] = format.line(values[i], share) end
    return table.concat(parts, ", ")
  end
  local text = join(width)
  return format.columns(text) <= width and text or join(math.max(width // n - 2, 20))
end

--- Returns what Tab does after `line`: the text to insert, and a text to show.
function repl.tab(line, width)
  local insert, shown = complete.tab(pending .. line, width, repl.names())
  return insert, shown and core.printable(shown, true)
end

--- Returns "complete" for a text that is a chunk, "incomplete" where more text could make it one,
-- and otherwise "invalid".
function repl.status(text)
  if question(text) then return "complete" end
  local is_chunk, _, wants_more = chunk.check(text)
  return is_chunk and "complete" or wants_more and "incomplete" or "invalid"
end

--- Completes the end of a text: returns the place where the word to complete begins, and the
-- candidates, sorted.
function repl.complete(text)
  return complete.at(text, repl.names())
end

return repl
