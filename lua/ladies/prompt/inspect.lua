--- What is known of the thing under the cursor, as a notebook shows it on Shift-Tab. Runs none of
-- the user's code.

local format = require "ladies.prompt.format"
local help = require "ladies.prompt.help"
local known = require "ladies.prompt.known"
local lexer = require "ladies.prompt.lexer"
local members = require "ladies.prompt.members"
local options = require "ladies.base.options"

local LONGEST = 200   -- columns of a value that has no documentation

-- The documentation of a function, a module or a class; of an object itself and its class.
local function text_of(what)
  if what.class then return help.text(what.class) end
  local value = what.value
  local has_help = type(value) == "function" or members.is_module(value)
    or options.class_of(value) ~= nil
  return has_help and help.text(value) or format.line(value, LONGEST)
end

--- inspect(text, at, env) -> text or nil: what is known of the name in which the byte `at` is, or
-- which ends before it; else of the function between whose brackets that is. Names are those of the
-- table `env`.
return function(text, at, env)
  local tokens = lexer.tokens(text:sub(1, text:match("^[%w_]*()", at) - 1))
  local last = tokens[#tokens]
  if last and last.kind == "open" then table.remove(tokens) end
  local what = last and last.kind == "name" and known.of(tokens, #tokens, env)
  if what and (what.class or what.value ~= nil) then return text_of(what) end
  local bracket = known.open_bracket(tokens, #tokens)
  while bracket do
    local f = known.function_before(tokens, bracket, env)
    if f then return text_of{value = f} end
    bracket = known.open_bracket(tokens, bracket - 1)
  end
end
