--- Copies templates for `ladies new`: samplers and models that work as they are, which the user
-- then changes. They are in the program's own tree, scripts/templates: KIND.lua, or KIND/LIKE.lua
-- where there are several to choose from. The word NAME in a template becomes the name of the copy.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local home = require "ladies.base.home"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"
local tasks = require "ladies.experiment.tasks"

local templates = {}

-- For each kind of file, the table whose keys are names that cannot be given, since the library has
-- them.
local TAKEN = {sampler = methods.by_name, model = models.by_name, task = tasks.by_name}

local function folder() return home() .. "/scripts/templates/" end

--- Returns the kinds of templates, as a type of ladies.options.
function templates.kinds() return table.concat(tables.sorted_keys(TAKEN), "|") end

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
-- error for a name that a method or model cannot have, or that one of the program's has.
function templates.write(kind, like, name)
  local where = "ladies new"
  options.value(where, "what to make", kind, templates.kinds())
  if #templates.choices(kind) > 0 then
    options.value(where, "--like", like, table.concat(templates.choices(kind), "|"))
  elseif like then
    errors.fail(("%s: a %s is not like another; --like is of samplers"):format(where, kind))
  end
  if not name:find "^[%a_][%w_]*$" then
    errors.fail(("%s: a name has letters, digits and _, no digit first, got %q"):format(where,
      name))
  elseif TAKEN[kind][name] then
    errors.fail(("%s: the program has a %s %s already; choose another name"):format(where,
      kind == "sampler" and "method" or kind, name))
  end
  local path = name .. ".lua"
  for _, there in ipairs(core.files ".") do
    if there == path then errors.fail(("%s: %s is there already"):format(where, path)) end
  end
  core.file.write(path, templates.text(kind, like, name))
  return path
end

return templates
