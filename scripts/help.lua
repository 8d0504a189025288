-- ladies help: lists the commands, or shows the manual of one, or what the library says of words
--
--   ladies help [NAME]
--   ladies help nn.gcn
--   ladies help choose neighbours
--
-- A word that is no command is looked up as `?` does at the prompt: a name of the library, or words
-- that its documentation is searched for.

local commands = require "ladies.command.commands"
local errors = require "ladies.base.errors"
local host = require "ladies_host"
local ladies = require "ladies"
local wrap_paragraphs = require "ladies.base.wrap_paragraphs"

local words = {...}
local function show(text) print(wrap_paragraphs(text, host.width())) end

if not words[1] then
  show "usage: ladies NAME [args]; ladies help NAME says more; ladies --help has the options\n"
  show(commands.summary())
  return
end
local name = table.concat(words, " ")
local manual = commands.manual(name)
if manual then
  show(manual)
  return
end
local is_mistyped = #words == 1 and commands.nearest(name)
local ok, text = errors.try(ladies.help_text, name)
if is_mistyped or not ok then
  local reason = #words > 1 and errors.message(text) or commands.unknown(name)
  io.stderr:write("ladies: ", reason, "\n")
  os.exit(1, true)
end
show(text)
