--- Describes the commands and their options as data, from which the man page and the completion in
-- shells are made. described() gives an array in the order of `ladies help`, of
--   name, summary    as `ladies help` has them
--   manual           what `ladies help NAME` says below its first line
--   usage, about     of `ladies NAME --help`; nil for a command without options
--   words            what its first word may be, where that is known: names of data sets
--   options          in order, of {name, value = what stands for it or nil for a flag, words =
--                    those that it may be, where they are known, help, place = "folder" or nil}

local cli = require "ladies.command.cli"
local commands = require "ladies.command.commands"
local errors = require "ladies.base.errors"
local home = require "ladies.base.home"
local host = require "ladies_host"
local registry = require "ladies.data.store.registry"
local tables = require "ladies.base.tables"

-- Returns the names of the data sets that can be used without a file: the one that comes with the
-- program, and those that can be downloaded.
local function data_sets() return tables.append({"wordnet"}, registry.names()) end

-- Returns the words that a type such as "wor|wr|poisson" or "boolean" allows; nil for other types.
local function words_of(type_text)
  if type_text == "boolean" then return {"true", "false"} end
  if not type_text or not type_text:find "^[%w_.-]+|[%w_.|-]+$" then return nil end
  local words = {}
  for word in type_text:gmatch "[^|]+" do words[#words + 1] = word end
  return words
end

-- Replaces the folder where the program is installed by share/ladies in a text, so that the text is
-- the same everywhere.
local function anywhere(text)
  local from, to = text:find(home(), 1, true)
  return from and text:sub(1, from - 1) .. "share/ladies" .. text:sub(to + 1) or text
end

local function describe_option(option)
  local name, value, type_text = table.unpack(option, 1, 3)
  return {
    name = name, value = value, help = anywhere(cli.option_help(option)),
    words = value and (name == "dataset" and data_sets() or words_of(type_text)) or nil,
    place = value and value:find "^%[?DIR%]?$" and "folder" or nil,
  }
end

local function describe(name)
  local first, rest = commands.manual(name):match "^([^\n]*)\n*(.*)$"
  local one = {name = name, summary = first:match "^ladies [%w_-]+: (.+)" or "", manual = rest}
  -- A command of the experiments has no options where these are not installed.
  local is_there, spec = errors.try(cli.spec_of, host.script(name))
  if not is_there or not spec then return one end
  one.usage, one.about = spec.usage or spec.name .. " [options]", spec.about
  local first_word = spec.words and spec.words[1]
  one.words = first_word == "dataset" and data_sets() or nil
  one.options = {}
  for i, option in ipairs(cli.options(spec)) do one.options[i] = describe_option(option) end
  return one
end

return function()
  return tables.map(commands.names(), describe)
end
