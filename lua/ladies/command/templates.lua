--- Copies templates for `ladies new`: samplers, models and the like that work as they are, which
-- the user then changes. They are in the program's own tree, scripts/templates: KIND.lua, or
-- KIND/LIKE.lua where there are several to choose from. The word NAME in a template becomes the
-- name of the copy.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local home = require "ladies.base.home"
local kinds = require "ladies.experiment.kinds"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local templates = {}

-- The kinds (ladies.experiment.kinds) by the names that templates have for them, such as sampler.
local KINDS = {}
for _, kind in ipairs(kinds) do KINDS[kind.place] = kind end

local function folder() return home() .. "/scripts/templates/" end

--- Returns the kinds of templates, as a type of ladies.options.
function templates.kinds() return table.concat(tables.sorted_keys(KINDS), "|") end

--- Returns the names of the templates of a kind, sorted; an empty list where there is only one
-- file.
function templates.choices(kind)
  return tables.map(core.files(folder() .. kind), function(file)
    return file:match "^(.*)%.lua$"
  end)
end

--- Returns the text of a new file called `name`. like: one of templates.choices(kind), nil where
-- there is only one.
function templates.text(kind, like, name)
  local text = core.file.read(folder() .. kind .. (like and "/" .. like or "") .. ".lua")
  return (text:gsub("%f[%w_]NAME%f[^%w_]", name))
end

--- Writes the file NAME.lua into the current folder, which must not have one; returns its path. An
-- error for a name that such a part cannot have, or that one of the program's has.
function templates.write(kind, like, name)
  local where = "ladies new"
  options.value(where, "what to make", kind, templates.kinds())
  if #templates.choices(kind) > 0 then
    options.value(where, "--like", like, table.concat(templates.choices(kind), "|"))
  elseif like then
    errors.fail(("%s: %s is not like another; --like is of samplers"):format(where,
      options.with_article(kind)))
  end
  if not name:find "^[%a_][%w_]*$" then
    errors.fail(("%s: a name has letters, digits and _, no digit first, got %q"):format(where,
      name))
  elseif KINDS[kind].entries[name] then
    errors.fail(("%s: the program has %s %s already; choose another name"):format(where,
      options.with_article(KINDS[kind].name), name))
  end
  local path = name .. ".lua"
  for _, there in ipairs(core.files ".") do
    if there == path then errors.fail(("%s: %s is there already"):format(where, path)) end
  end
  core.file.write(path, templates.text(kind, like, name))
  return path
end

return templates
